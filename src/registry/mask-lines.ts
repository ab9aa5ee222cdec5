/** A known value in one way of writing it, and what stands in its place. */
export type Known = { readonly form: string; readonly mark: string };

/** What is looked for in dumps, which are the values themselves, and in encoded lines. */
export type Sought = { readonly dumped: readonly Known[]; readonly encoded: readonly Known[] };

type Masked = { readonly text: string; readonly count: number };

/** Lines of one encoded text: where each begins in the whole, and what of the encoded text stands in it. */
type Line = { readonly start: number; readonly end: number; readonly data: string };
type Span = { readonly from: number; readonly to: number; readonly mark: string };

/**
 * Hides known values that programs wrap over several lines: base64 and hexadecimal text (`base64`, `xxd -p`), and dumps of
 * bytes (`xxd`, `hexdump -C`, `od -t x1`). In a text without such lines hardly more than every fortieth character is looked at.
 */
export function maskLines(text: string, { dumped, encoded }: Sought): Masked {
  const dumps = maskBlocks(text, nextDump, dumpAt, dumped);
  const wrapped = maskBlocks(dumps.text, nextWrapped, wrappedAt, encoded);
  return { text: wrapped.text, count: dumps.count + wrapped.count };
}

type Block = { readonly end: number; hidden(known: readonly Known[]): readonly Span[] };

function maskBlocks(
  text: string,
  next: (text: string, from: number) => number | null,
  blockAt: (text: string, start: number) => Block | null,
  known: readonly Known[],
): Masked {
  let count = 0;
  let shown = '';
  let taken = 0;
  for (let at = next(text, 0); at !== null; ) {
    const block = blockAt(text, at);
    for (const { from, to, mark } of block?.hidden(known) ?? []) {
      shown += text.slice(taken, from) + mark;
      taken = to;
      count += 1;
    }
    at = next(text, block?.end ?? nextLine(text, at));
  }
  return count === 0 ? { text, count } : { text: shown + text.slice(taken), count };
}

function nextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

/** Below it a line is a word. */
const shortestWrapped = 40;
/** Beyond it a text is not wrapped. */
const longestWrapped = 512;
const wrappedBy = /[A-Za-z0-9+/_-]+/y;
const lastWrapped = /[A-Za-z0-9+/_-]+={0,2}/y;
const isWrapped = new Uint8Array(128);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-') {
  isWrapped[character.charCodeAt(0)] = 1;
}
const [lineFeed, carriageReturn, blank, tab] = [10, 13, 32, 9];

/** Where the next line begins whose end is so long a run: it has a character at each of its places, so few are looked at. */
function nextWrapped(text: string, from: number): number | null {
  for (let at = from + shortestWrapped - 1; at < text.length; ) {
    if (isWrapped[text.charCodeAt(at)] !== 1) {
      at += shortestWrapped;
      continue;
    }
    const [first, beyond] = [Math.max(from, at - longestWrapped), Math.min(text.length, at + longestWrapped)];
    let [start, end] = [at, at + 1];
    while (start > first && isWrapped[text.charCodeAt(start - 1)] === 1) start -= 1;
    while (end < beyond && isWrapped[text.charCodeAt(end)] === 1) end += 1;
    if (end - start > longestWrapped) {
      at = nextLine(text, end) + shortestWrapped - 1;
      continue;
    }
    const after = text.charCodeAt(end);
    if (end - start >= shortestWrapped && (end === text.length || after === lineFeed || after === carriageReturn)) {
      while (start > from && (text.charCodeAt(start - 1) === blank || text.charCodeAt(start - 1) === tab)) start -= 1;
      if (start === from || text.charCodeAt(start - 1) === lineFeed) return start;
    }
    at = end + shortestWrapped;
  }
  return null;
}

/** Lines of one length, but for the last one. */
function wrappedAt(text: string, start: number): Block | null {
  const first = wrappedLine(text, start, wrappedBy);
  if (first === null || first.data.length < shortestWrapped) return null;
  const lines = [first];
  for (let at = nextLine(text, start); at < text.length; at = nextLine(text, at)) {
    const line = wrappedLine(text, at, lastWrapped);
    if (line === null || line.data.length > first.data.length) break;
    lines.push(line);
    if (line.data.length < first.data.length) break;
  }
  const last = lines.at(-1) ?? first;
  return { end: nextLine(text, last.start), hidden: (known) => exactly(lines, first.data.length, known) };
}

/** Nothing but encoded text stands in the line; blanks before it are its indentation. */
function wrappedLine(text: string, start: number, pattern: RegExp): Line | null {
  const newline = text.indexOf('\n', start);
  let end = newline === -1 ? text.length : newline;
  if (text[end - 1] === '\r') end -= 1;
  let from = start;
  while (from < end && (text[from] === ' ' || text[from] === '\t')) from += 1;
  if (from === end) return null;
  pattern.lastIndex = from;
  const data = pattern.exec(text)?.[0];
  return data === undefined || from + data.length !== end ? null : { start: from, end, data };
}

function exactly(lines: readonly Line[], length: number, known: readonly Known[]): readonly Span[] {
  const placeOf = (index: number): number => (lines[Math.floor(index / length)]?.start ?? 0) + (index % length);
  return spansIn(lines, known).map(({ from, to, mark }) => ({ from: placeOf(from), to: placeOf(to - 1) + 1, mark }));
}

/** `00000010: 6b65 793d`, `00000010  6b 65 79  3d |key=|`, `000010 6b 65 79 3d`. */
const dumpLine =
  /[0-9a-f]{6,8}(?:: ((?:[0-9a-f]{2,8} )+)| {1,2}((?:[0-9a-f]{2} {1,2}){0,15}[0-9a-f]{2})(?=[ \r\n]|$))/y;

const beginsDump = /\n[0-9a-f]{6,8}:? {1,2}[0-9a-f]{2}/g;

function nextDump(text: string, from: number): number | null {
  if (from === 0 && dumpLineAt(text, 0) !== null) return 0;
  beginsDump.lastIndex = Math.max(0, from - 1);
  const found = beginsDump.exec(text);
  return found === null ? null : found.index + 1;
}

function dumpAt(text: string, start: number): Block | null {
  const lines: Line[] = [];
  let at = start;
  for (; at < text.length; at = nextLine(text, at)) {
    const line = dumpLineAt(text, at);
    if (line === null) break;
    lines.push(line);
  }
  return lines.length === 0 ? null : { end: at, hidden: (known) => wholeLines(lines, known) };
}

function dumpLineAt(text: string, start: number): Line | null {
  dumpLine.lastIndex = start;
  const found = dumpLine.exec(text);
  if (found === null) return null;
  const data = Buffer.from((found[1] ?? found[2] ?? '').replaceAll(' ', ''), 'hex').toString('latin1');
  const newline = text.indexOf('\n', start);
  return { start, end: newline === -1 ? text.length : newline, data };
}

/** The letters at the end of a line tell the value, too: every line that holds a part of it goes. */
function wholeLines(lines: readonly Line[], known: readonly Known[]): readonly Span[] {
  const starts: number[] = [];
  let length = 0;
  for (const { data } of lines) {
    starts.push(length);
    length += data.length;
  }
  const lineOf = (index: number): number => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= index) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const spans: Span[] = [];
  let hiddenTo = -1;
  for (const { from, to, mark } of spansIn(lines, known)) {
    const [first, last] = [Math.max(lineOf(from), hiddenTo + 1), lineOf(to - 1)];
    const [begin, end] = [lines[first], lines[last]];
    if (begin === undefined || end === undefined || first > last) continue;
    spans.push({ from: begin.start, to: end.end, mark });
    hiddenTo = last;
  }
  return spans;
}

/** Where known values stand in what the lines hold together, in order; none reaches into another. */
function spansIn(lines: readonly Line[], known: readonly Known[]): readonly Span[] {
  const data = lines.map((line) => line.data).join('');
  const spans: Span[] = [];
  // A text may hold a value a hundred thousand times.
  let taken: Uint8Array | null = null;
  for (const { form, mark } of known) {
    for (let from = data.indexOf(form); from !== -1; from = data.indexOf(form, from + form.length)) {
      const to = from + form.length;
      taken ??= new Uint8Array(data.length);
      // The longest come first, so that none lies within this one.
      if (taken[from] === 1 || taken[to - 1] === 1) continue;
      taken.fill(1, from, to);
      spans.push({ from, to, mark });
    }
  }
  return spans.sort((one, other) => one.from - other.from);
}
