/** What a stream of lines holds (05 §10.3.2). */
export type LineHandlers = {
  /** A line that may be a message: it begins with a brace or a bracket. @returns false when it is no message */
  message(line: string): boolean;
  /** A line, or the beginning of one, that is no message. */
  noise(bytes: Buffer): void;
  /** A line longer than a message may be; it was not kept. */
  tooLong(ends: { readonly head: string; readonly tail: string }): void;
  /** The stream holds something else than messages; nothing is read any more. */
  flooded(reason: string): void;
};

const limits = {
  messageBytes: 16 * 1024 * 1024,
  noiseLines: 1000,
  noiseBytes: 8 * 1024 * 1024,
  /** How much of one line is read past before nothing more is expected of it. */
  lineBytes: 1024 * 1024 * 1024,
} as const;

const endBytes = 512;
const lineFeed = 0x0a;

/**
 * Takes a stream apart into lines. What is kept of an unfinished line never grows beyond `messageBytes`; what begins as no
 * message is not kept at all. Whoever feeds it stops when `flooded` was said.
 */
export function createLineReader(handlers: LineHandlers): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let size = 0;
  /** Set while a line that is not kept goes on. */
  let dropping: 'noise' | 'long' | null = null;
  let head = '';
  let tail: Buffer = Buffer.alloc(0);
  let noiseLines = 0;
  let noiseBytes = 0;
  let over = false;

  const flood = (reason = 'the server writes something else than messages to its standard output'): void => {
    over = true;
    parts = [];
    handlers.flooded(reason);
  };
  const noise = (bytes: Buffer, ended: boolean): void => {
    handlers.noise(bytes);
    noiseBytes += bytes.length;
    if (ended) noiseLines += 1;
    if (noiseLines >= limits.noiseLines || noiseBytes > limits.noiseBytes) flood();
  };

  const endLine = (last: Buffer): void => {
    if (dropping === 'noise') noise(Buffer.concat([last, Buffer.from('\n')]), true);
    else if (dropping === 'long') {
      tail = Buffer.concat([tail, last]).subarray(-endBytes);
      handlers.tooLong({ head, tail: tail.toString('utf8') });
    } else {
      const line = parts.length === 0 ? last : Buffer.concat([...parts, last]);
      const text = line.toString('utf8').trim();
      if (text !== '' && !handlers.message(text)) noise(Buffer.concat([line, Buffer.from('\n')]), true);
      else if (text !== '') {
        noiseLines = 0;
        noiseBytes = 0;
      }
    }
    parts = [];
    size = 0;
    dropping = null;
  };

  const goOn = (piece: Buffer): void => {
    if (dropping === null && size === 0 && !mayBeMessage(piece)) dropping = 'noise';
    if (dropping === 'noise') {
      noise(piece, false);
      return;
    }
    if (dropping === 'long') {
      tail = Buffer.from(Buffer.concat([tail, piece]).subarray(-endBytes));
      size += piece.length;
      if (size > limits.lineBytes) flood('the server writes a message without end');
      return;
    }
    parts.push(piece);
    size += piece.length;
    if (size <= limits.messageBytes) return;
    const whole = Buffer.concat(parts);
    head = whole.subarray(0, endBytes).toString('utf8');
    tail = Buffer.from(whole.subarray(-endBytes));
    parts = [];
    dropping = 'long';
  };

  return (chunk) => {
    let from = 0;
    while (!over) {
      const end = chunk.indexOf(lineFeed, from);
      if (end < 0) break;
      endLine(chunk.subarray(from, end));
      from = end + 1;
    }
    if (!over && from < chunk.length) goOn(chunk.subarray(from));
  };
}

/** Blanks or a byte order mark may stand before a message, so a piece of nothing else may begin one. */
const mayBeMessage = (piece: Buffer): boolean =>
  /^(?:\xef\xbb\xbf)?\s*(?:[[{]|$)/.test(piece.subarray(0, 64).toString('latin1'));
