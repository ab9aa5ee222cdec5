import { ownMember } from '../src/text/own-member.ts';
import { asciiSigns, type Glyphs } from '../src/view/escape.ts';
import type { Line, Mark, Span, Token } from '../src/view/line.ts';
import { markCaret } from './caret.ts';

export type Rendition = {
  readonly fg?: number | string;
  readonly bg?: number | string;
  readonly bold?: boolean;
  readonly reverse?: boolean;
};

/** How meanings are drawn (10 §11). `paint` gives a row with its renditions. */
export type Theme = {
  readonly name: string;
  readonly glyphs: Glyphs;
  paint(line: Line): string;
};

export type Tokens = Readonly<Partial<Record<Token, Rendition>>>;

const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;
const black = 0;
const red = 1;
const green = 2;
const yellow = 3;
const cyan = 6;
const grey = 8;
const brightBlue = 12;
const brightMagenta = 13;

const standard: Tokens = {
  dim: { fg: grey },
  accent: { fg: cyan },
  // Plain blue cannot be read on black in many terminals; the bright one can on black and on white.
  tool: { fg: brightBlue },
  ask: { fg: yellow, bold: true },
  danger: { fg: red },
  warn: { fg: yellow },
  ok: { fg: green },
  add: { fg: green },
  remove: { fg: red },
  hidden: { fg: black, bg: yellow },
  hit: { reverse: true },
  selection: { reverse: true },
  border: { fg: grey },
};
const daltonized: Tokens = {
  ...standard,
  accent: { fg: brightBlue },
  danger: { fg: brightMagenta, bold: true },
  ok: { fg: brightBlue },
  add: { fg: brightBlue },
  remove: { fg: yellow },
};
const mono: Tokens = {
  accent: { bold: true },
  ask: { bold: true },
  danger: { bold: true, reverse: true },
  warn: { bold: true },
  add: { bold: true },
  hidden: { reverse: true },
  hit: { reverse: true },
  selection: { reverse: true },
};
/** With 256 colours: softer on a dark, stronger on a light background. */
const dark: Tokens = { ...standard, dim: { fg: 245 }, tool: { fg: 75 }, border: { fg: 240 }, accent: { fg: 80 } };
const light: Tokens = {
  ...standard,
  dim: { fg: 243 },
  tool: { fg: 25 },
  border: { fg: 250 },
  accent: { fg: 23 },
  warn: { fg: 130 },
  ask: { fg: 130, bold: true },
  ok: { fg: 28 },
  add: { fg: 28 },
};
const darkBlindRed: Tokens = {
  ...daltonized,
  dim: { fg: 245 },
  border: { fg: 240 },
  accent: { fg: 75 },
  tool: { fg: 75 },
};
/** Yellow is no colour on white. */
const lightBlindRed: Tokens = {
  ...daltonized,
  dim: { fg: 243 },
  border: { fg: 250 },
  accent: { fg: 25 },
  tool: { fg: 25 },
  ok: { fg: 25 },
  add: { fg: 25 },
  warn: { fg: 130 },
  ask: { fg: 130, bold: true },
  remove: { fg: 130 },
  danger: { fg: 127, bold: true },
};

/** The themes of the program; those with 256 colours fall back to one with 16. */
export const themes: Readonly<Record<string, { readonly rich: Tokens; readonly plain: Tokens }>> = {
  default: { rich: standard, plain: standard },
  dark: { rich: dark, plain: standard },
  light: { rich: light, plain: standard },
  daltonized: { rich: darkBlindRed, plain: daltonized },
  'daltonized-dark': { rich: darkBlindRed, plain: daltonized },
  'daltonized-light': { rich: lightBlindRed, plain: daltonized },
  mono: { rich: mono, plain: mono },
};

/** What every object has by that name is no theme. */
const shipped = (name: string) => ownMember(themes, name);

export type ColourDepth = 'none' | 'plain' | 'rich';

/** @returns null for a name that is none of the program's */
export function builtinTheme(name: string, depth: ColourDepth, glyphs: Glyphs): Theme | null {
  const found = shipped(name);
  if (found === undefined) return null;
  return createTheme(name, depth === 'none' ? mono : found[depth === 'rich' ? 'rich' : 'plain'], glyphs);
}

/**
 * A theme of the operator's own over one of the program's. Where the terminal has 16 colours, what needs more of them
 * keeps the look of the base; where it has none, nothing of the file counts.
 */
export function ownTheme(name: string, base: string, tokens: Tokens, depth: ColourDepth, glyphs: Glyphs): Theme | null {
  const found = shipped(base);
  if (found === undefined) return null;
  if (depth === 'none') return createTheme(name, mono, glyphs);
  const shown = Object.entries(tokens).filter(
    ([, { fg, bg }]) => depth === 'rich' || [fg, bg].every((colour) => colour === undefined || Number(colour) < 16),
  );
  return createTheme(name, { ...found[depth], ...Object.fromEntries(shown) }, glyphs);
}

const signs = new RegExp(`[${Object.keys(asciiSigns).join('')}]`, 'g');
const toAscii = (text: string): string => text.replaceAll(signs, (sign) => asciiSigns[sign] ?? sign);

/** Foreign text has no such signs in the ASCII set: what is here is ours. Where a line was cut, `...` takes the last columns. */
const inAscii = ({ text, cut }: Span): string => toAscii(cut === true ? text.replace(/[\x20-\x7e]{2}…$/, '...') : text);

const markCodes: Readonly<Record<Mark, readonly [on: string, off: string]>> = {
  bold: ['1', '22'],
  italic: ['3', '23'],
  underline: ['4', '24'],
  strike: ['9', '29'],
};

function createTheme(name: string, tokens: Tokens, glyphs: Glyphs): Theme {
  const codes = new Map<Token, readonly [on: string, off: string]>();
  for (const [token, rendition] of Object.entries(tokens)) codes.set(token as Token, codesOf(rendition));
  const paintSpan = (span: Span): string => {
    if (span.text === '') return '';
    // What has no meaning of its own is the body.
    const own = codes.get(span.token ?? 'text');
    const on: string[] = own === undefined || own[0] === '' ? [] : [own[0]];
    const off: string[] = own === undefined || own[1] === '' ? [] : [own[1]];
    for (const mark of span.marks ?? []) {
      on.push(markCodes[mark][0]);
      off.push(markCodes[mark][1]);
    }
    const shown = glyphs === 'ascii' ? inAscii(span) : span.text;
    const text = span.caret === true ? markCaret(shown) : shown;
    return on.length === 0 ? text : `\u001b[${on.join(';')}m${text}\u001b[${off.join(';')}m`;
  };
  return { name, glyphs, paint: (line) => line.map(paintSpan).join('') };
}

function codesOf({ fg, bg, bold, reverse }: Rendition): readonly [on: string, off: string] {
  const on: string[] = [];
  const off: string[] = [];
  if (bold === true) {
    on.push('1');
    off.push('22');
  }
  if (reverse === true) {
    on.push('7');
    off.push('27');
  }
  if (fg !== undefined) {
    on.push(colourCode(fg, 30));
    off.push('39');
  }
  if (bg !== undefined) {
    on.push(colourCode(bg, 40));
    off.push('49');
  }
  return [on.join(';'), off.join(';')];
}

/** @param base 30 for the text, 40 for what is behind it */
function colourCode(colour: number | string, base: number): string {
  if (typeof colour === 'string') {
    const value = Number.parseInt(colour.slice(1), 16);
    return `${base + 8};2;${(value >> 16) & 255};${(value >> 8) & 255};${value & 255}`;
  }
  if (colour < 8) return String(base + colour);
  return colour < 16 ? String(base + 60 + colour - 8) : `${base + 8};5;${colour}`;
}

/** A colour as a theme file writes it; null for what is none. */
export function readColour(text: unknown): number | string | null {
  if (typeof text === 'number') return Number.isInteger(text) && text >= 0 && text <= 255 ? text : null;
  if (typeof text !== 'string') return null;
  if (/^#[0-9a-fA-F]{6}$/.test(text)) return text;
  const [, bright, name] = /^(bright[- ]?)?([a-z]+)$/.exec(text) ?? [];
  if (name === 'grey' || name === 'gray') return grey;
  const index = (names as readonly string[]).indexOf(name ?? '');
  return index < 0 ? null : index + (bright === undefined ? 0 : 8);
}
