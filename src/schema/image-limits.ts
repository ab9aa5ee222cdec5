/** Limits of images, of their bytes as they are in a file (08 §10). */
export const imageLimits = {
  /** Images of one message. */
  inMessage: 8,
  /** Bytes of one image. */
  bytes: 10 * 1024 * 1024,
  /** Bytes of all images of one request. */
  requestBytes: 20 * 1024 * 1024,
} as const;
