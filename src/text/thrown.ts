/**
 * What a thrown value says; one without words, as Node makes of the errors of streams, lets its cause speak. Anything can be
 * thrown, so it is asked what it is first. Never throws.
 */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message === '' && error.cause instanceof Error ? error.cause.message : error.message;
}

/** The code of a system or library error (`ENOENT`, `SQLITE_BUSY`) or of one of ours; null when it has none. */
export const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
