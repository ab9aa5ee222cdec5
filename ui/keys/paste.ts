/** What a paste was made of (10 §6.2). */
export type Pasted = {
  readonly text: string;
  readonly tooLong: boolean;
  /** Focus and wheel reports that the terminal put between the pasted bytes. */
  readonly reports: readonly { readonly body: string; readonly final: string }[];
};

export type PasteReader = {
  /** @returns null while the end marker has not come, else the bytes behind it */
  push(bytes: readonly number[] | Uint8Array): Uint8Array | null;
  end(): Pasted;
};

const endMark = Buffer.from('\u001b[201~');
/** Far above what the composer takes (1 MiB), so that it can say what it refuses. */
const maxBytes = 8 * 1024 * 1024;

/** Collects a bracketed paste from its start marker on; what it holds is bounded. */
export function createPasteReader(): PasteReader {
  const chunks: Buffer[] = [];
  let size = 0;
  let tooLong = false;
  // Bytes that may be the beginning of the end marker.
  let tail = Buffer.alloc(0);
  const keep = (bytes: Buffer): void => {
    if (size + bytes.length > maxBytes) tooLong = true;
    const room = bytes.subarray(0, Math.max(0, maxBytes - size));
    chunks.push(room);
    size += room.length;
  };
  return {
    push(bytes) {
      const all = Buffer.concat([tail, Buffer.from(bytes)]);
      const found = all.indexOf(endMark);
      if (found >= 0) {
        keep(all.subarray(0, found));
        tail = Buffer.alloc(0);
        return all.subarray(found + endMark.length);
      }
      const held = Math.min(all.length, endMark.length - 1);
      keep(all.subarray(0, all.length - held));
      tail = all.subarray(all.length - held);
      return null;
    },
    end() {
      keep(tail);
      const reports: { body: string; final: string }[] = [];
      const text = Buffer.concat(chunks)
        .toString('utf8')
        .replaceAll(
          /\u001b\[(?:([IO])|(<\d+;\d+;\d+)([Mm]))/g,
          (_whole, focus?: string, mouse?: string, end?: string) => {
            reports.push({ body: mouse ?? '', final: focus ?? end ?? '' });
            return '';
          },
        )
        .replaceAll(/\r\n?/g, '\n');
      return { text, tooLong, reports };
    },
  };
}
