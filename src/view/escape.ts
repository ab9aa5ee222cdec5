/**
 * The one boundary between foreign text and a screen (03 §8.1, 10 §4.1): what could hide, move or fake text is shown
 * as `⟨U+202E⟩`, `␛`, `⏎`, or as `<U+202E>`, `<ESC>`, `<LF>` in the ASCII set. Nothing is dropped and nothing is passed
 * through.
 */

import { once } from '../text/once.ts';

declare const safe: unique symbol;
/** Text that passed `escapeText` and may be written to a screen. */
export type SafeText = string & { readonly [safe]: true };

/** The signs that a face draws with (10 §11.5). */
export type Glyphs = 'unicode' | 'ascii';

export type EscapeOptions = {
  /**
   * `prose`: line breaks, tabs and wide blanks stay. `lines`: arguments and diffs, line ends are marked and break.
   * `line`: the same in one line.
   */
  readonly mode: 'prose' | 'lines' | 'line';
  /**
   * `ascii` writes escapes in ASCII, and the signs of our own chrome too: as they are drawn there in `prose` and `line`,
   * as code points in `lines`, or with `exact`, where every character counts. Letters of any script stay.
   */
  readonly glyphs?: Glyphs;
  readonly exact?: true;
};

const controlNames =
  'NUL SOH STX ETX EOT ENQ ACK BEL BS TAB LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US'.split(
    ' ',
  );

type Range = readonly [from: number, to: number];
const within = (code: number, ranges: readonly Range[]) => ranges.some(([from, to]) => code >= from && code <= to);

const bidirectional: readonly Range[] = [
  [0x061c, 0x061c],
  [0x200e, 0x200f],
  [0x202a, 0x202e],
  [0x2066, 0x2069],
];
const invisible: readonly Range[] = [
  [0x00ad, 0x00ad],
  [0x034f, 0x034f],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200b],
  [0x2028, 0x2029],
  [0x2060, 0x2064],
  [0x206a, 0x206f],
  [0x3164, 0x3164],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
];
/** Our own notation: shown as code points, so that a shown escape is never ambiguous. */
const ownMarks: readonly Range[] = [
  [0x21e5, 0x21e5],
  [0x23ce, 0x23ce],
  [0x2400, 0x2426],
  [0x27e8, 0x27e8],
];
const otherBlank = /^[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]$/u;

const asciiMark = `U\\+[0-9A-F]{4,6}>|(?:${controlNames.join('|')}|DEL|sgr)>|\\+\\d+ marks>|blank x \\d+>`;

/** The pieces of a safe text: every second one is what an escape made. */
export const notation: Readonly<Record<Glyphs, RegExp>> = {
  unicode: /(⟨[^⟩]*⟩|[\u2400-\u2426\u21e5\u23ce]+)/,
  ascii: new RegExp(`(<(?:${asciiMark}))`),
};

/** A `<` that would read as the beginning of an escape of ours. */
const ambiguous = new RegExp(`<(?:U\\+|${asciiMark})`);
const longestMark = 24;

/** What is drawn in place of a sign of the chrome where only ASCII can be, one column for one column. */
export const asciiSigns: Readonly<Record<string, string>> = {
  ...Object.fromEntries([...'┌┐└┘├┤┏┓┗┛'].map((corner) => [corner, '+'])),
  '─': '-',
  '━': '-',
  '│': '|',
  '┃': '#',
  '▌': '|',
  '▼': 'v',
  '↑': '^',
  '↓': 'v',
  '→': '>',
  '›': '>',
  '•': '*',
  '·': '-',
  '…': '.',
};
/** In a text there is room for the whole of it. */
const wideSigns: Readonly<Record<string, string>> = { '…': '...', '→': '->', '┃': '|' };

const mostMarks = 8;
const mostBlanks = 8;
/** Code is indented by more; what stands behind it is still in view. */
const mostIndent = 32;

/** Makes foreign text visible. Takes time proportional to its length; never throws, lone surrogates included. */
export function escapeText(text: string, options: EscapeOptions): SafeText {
  const plain = options.mode === 'prose' ? /^[\x20-\x7e\n\t]*$/ : /^(?!.* {9})[\x20-\x7e]*$/;
  const ascii = options.glyphs === 'ascii';
  // True because nothing in it needs an escape; `<ESC>` is ambiguous in the ascii set alone.
  if (plain.test(text) && !(ascii && ambiguous.test(text))) return text as SafeText;
  return escapeSlowly([...text], options) as SafeText;
}

function escapeSlowly(points: readonly string[], options: EscapeOptions): string {
  const ascii = options.glyphs === 'ascii';
  const out: string[] = [];
  let marks = 0;
  let column = 0;
  const put = (piece: string, width = piece.length) => {
    out.push(piece);
    column += width;
  };
  for (let index = 0; index < points.length; index += 1) {
    const point = points[index] ?? '';
    const code = point.codePointAt(0) ?? 0;
    const isMark = code > 0x2ff && /^\p{M}$/u.test(point) && !within(code, invisible) && !isSelector(code);
    if (isMark) {
      marks += 1;
      if (marks <= mostMarks) put(point, 0);
      continue;
    }
    if (marks > mostMarks) put(bracket(`+${marks - mostMarks} marks`, ascii));
    marks = 0;
    if (code === 0x0a || (code === 0x0d && points[index + 1] === '\n')) {
      if (code === 0x0d) index += 1;
      out.push(lineEnd(code === 0x0d, options.mode, ascii));
      column = 0;
    } else if (code === 0x09) {
      if (options.mode === 'prose') put('\t', 4 - (column % 4));
      else if (ascii) put('<TAB>');
      else put(`⇥${' '.repeat(3 - (column % 4))}`);
    } else if (code === 0x20 && options.mode !== 'prose') {
      let length = 1;
      while (points[index + length] === ' ') length += 1;
      const most = isIndent(points, index - 1, column) ? mostIndent : mostBlanks;
      index += length - 1;
      put(length > most ? bracket(`blank x ${length}`, ascii) : ' '.repeat(length));
    } else put(shown(points, index, options));
  }
  if (marks > mostMarks) put(bracket(`+${marks - mostMarks} marks`, ascii));
  return out.join('');
}

/** Blanks at the beginning of a line, or behind the sign of a diff. @param before index of the code point before them */
const isIndent = (points: readonly string[], before: number, column: number): boolean =>
  column === 0 || (column === 1 && (points[before] === '+' || points[before] === '-'));

/** One code point that is neither blank, tab, line end nor mark. */
function shown(points: readonly string[], index: number, { mode, glyphs, exact }: EscapeOptions): string {
  const ascii = glyphs === 'ascii';
  const point = points[index] ?? '';
  const code = point.codePointAt(0) ?? 0;
  if (code < 0x20) return ascii ? `<${controlNames[code]}>` : String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return ascii ? '<DEL>' : '␡';
  if (code < 0x7f) {
    const opens =
      ascii && point === '<' && ambiguous.exec(points.slice(index, index + longestMark).join(''))?.index === 0;
    return opens ? codePoint(code, ascii) : point;
  }
  if (code <= 0x9f || (code >= 0xd800 && code <= 0xdfff)) return codePoint(code, ascii);
  if (within(code, bidirectional) || within(code, invisible) || within(code, ownMarks)) return codePoint(code, ascii);
  if (code === 0x200c || code === 0x200d) return joins(points, index) ? point : codePoint(code, ascii);
  if (isSelector(code)) return selects(points, index) ? point : codePoint(code, ascii);
  if (ascii && asciiSigns[point] !== undefined)
    return mode === 'lines' || exact === true
      ? codePoint(code, ascii)
      : (wideSigns[point] ?? asciiSigns[point] ?? point);
  if (mode !== 'prose' && otherBlank.test(point)) return codePoint(code, ascii);
  return point;
}

const isSelector = (code: number) => code >= 0xfe00 && code <= 0xfe0f;

function lineEnd(carriage: boolean, mode: EscapeOptions['mode'], ascii: boolean): string {
  if (mode === 'prose') return '\n';
  const mark = ascii ? `${carriage ? '<CR>' : ''}<LF>` : `${carriage ? '␍' : ''}⏎`;
  return mode === 'lines' ? `${mark}\n` : mark;
}

const bracket = (text: string, ascii: boolean) => (ascii ? `<${text}>` : `⟨${text}⟩`);
const codePoint = (code: number, ascii: boolean) =>
  bracket(`U+${code.toString(16).toUpperCase().padStart(4, '0')}`, ascii);

const pictograph = /^(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u;
// Reading it looks up sixteen scripts, 1 ms, and every start loads this file.
const joining = once(
  () =>
    /^[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}]$/u,
);

/** A joiner or non-joiner inside an emoji or a script that needs it. */
function joins(points: readonly string[], index: number): boolean {
  const before = points[index - 1] ?? '';
  const after = points[index + 1] ?? '';
  if (points[index] === '\u200d' && pictograph.test(before) && /^\p{Extended_Pictographic}$/u.test(after)) return true;
  return joining().test(before) && joining().test(after);
}

/** A variation selector after what it can vary. */
function selects(points: readonly string[], index: number): boolean {
  const before = points[index - 1] ?? '';
  const code = (points[index] ?? '').codePointAt(0) ?? 0;
  if (code < 0xfe0e) return /^\p{Script=Han}$/u.test(before);
  if (/^[0-9#*]$/.test(before)) return points[index + 1] === '\u20e3';
  return /^\p{Emoji}$/u.test(before);
}

/**
 * What in a command, path or argument cannot be seen or looks like something else: code points that `escapeText` shows,
 * and words that mix Latin with Cyrillic or Greek letters (10 §4.1.4). At most eight entries.
 */
export function hiddenCharacters(text: string): readonly string[] {
  // Compiling the classes below takes longer than all else about a card or a list.
  if (/^[\x20-\x7e\n\t]*$/.test(text)) return [];
  const found = new Set<string>();
  for (const point of text) {
    const code = point.codePointAt(0) ?? 0;
    const control = (code < 0x20 && code !== 0x0a && code !== 0x09) || (code >= 0x7f && code <= 0x9f);
    if (control || within(code, bidirectional) || within(code, invisible) || otherBlank.test(point)) {
      found.add(`U+${code.toString(16).toUpperCase().padStart(4, '0')}`);
    }
    if (found.size >= 8) break;
  }
  for (const word of text.match(/[\p{L}\p{M}\p{N}_]+/gu) ?? []) {
    if (found.size >= 8) break;
    if (/[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(word) && /\p{Script=Latin}/u.test(word))
      found.add(lookAlike(word));
  }
  return [...found];
}

/** A word with the code points in it that are no Latin letters. */
function lookAlike(word: string): string {
  const other = new Set(word.match(/[\p{Script=Cyrillic}\p{Script=Greek}]/gu) ?? []);
  return `${word} (${[...other].map((point) => codePoint(point.codePointAt(0) ?? 0, false).slice(1, -1)).join(' ')})`;
}

/**
 * An escaper for text that arrives in pieces: what may belong to the next piece is held back, so that a cluster or a
 * line end that was cut is judged whole. `end` gives the rest.
 */
export function createStreamEscaper(): { push(piece: string): SafeText; end(): SafeText } {
  let held = '';
  return {
    push(piece) {
      const text = held + piece;
      const open = /(?:[^\x20-\x7e\n\t]{1,32}|[0-9#*])$/.exec(text);
      const cut = open === null ? text.length : open.index;
      held = text.slice(cut);
      return escapeText(text.slice(0, cut), { mode: 'prose' });
    },
    end() {
      const rest = held;
      held = '';
      return escapeText(rest, { mode: 'prose' });
    },
  };
}
