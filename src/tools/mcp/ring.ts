/** The last bytes of what a server wrote beside the protocol (05 §10.3): its stderr, and lines that are no messages. */
export type Ring = {
  push(bytes: Uint8Array | string): void;
  /** The last `count` lines that are not blank, as they were written: foreign text. */
  lines(count: number): readonly string[];
};

const maxBytes = 64 * 1024;

/** Keeps the end of a stream; memory stays below twice `maxBytes`. */
export function createRing(): Ring {
  let kept: Buffer = Buffer.alloc(0);
  return {
    push(bytes) {
      const added = Buffer.from(bytes);
      const joined = added.length >= maxBytes ? added : Buffer.concat([kept, added]);
      // Copied, since a part of a large piece would hold all of it.
      kept = joined.length > maxBytes ? Buffer.from(joined.subarray(joined.length - maxBytes)) : joined;
    },
    lines(count) {
      const all = kept.toString('utf8').split(/\r?\n/);
      return all.filter((line) => line.trim() !== '').slice(-count);
    },
  };
}
