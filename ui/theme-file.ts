import { messageOf } from '../src/text/thrown.ts';
import type { Token } from '../src/view/line.ts';
import { readColour, type Rendition, themes, type Tokens } from './theme.ts';
import { isObject } from '../src/text/json-object.ts';

export type ReadTheme =
  | { readonly ok: true; readonly base: string; readonly tokens: Tokens }
  /** What is wrong, and where in the file. */
  | { readonly ok: false; readonly why: string };

const refused = (why: string): ReadTheme => ({ ok: false, why });

/** Every meaning that a theme may draw. */
const known: Readonly<Record<Token, true>> = {
  text: true,
  dim: true,
  accent: true,
  tool: true,
  ask: true,
  danger: true,
  warn: true,
  ok: true,
  add: true,
  remove: true,
  hidden: true,
  hit: true,
  selection: true,
  border: true,
};

/** Reads a theme of the operator's own (10 §11.4): what it leaves out is that of its base. Never throws. */
export function readThemeFile(text: string): ReadTheme {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refused(`is not JSON: ${messageOf(error)}`);
  }
  if (!isObject(value)) return refused('must be an object with "version", "base" and "tokens"');
  const { version, base = 'default', tokens = {}, ...more } = value;
  const [other] = Object.keys(more);
  if (other !== undefined) return refused(`has "${other}", which is none of version, base, tokens`);
  if (version !== 1) return refused('"version" must be 1');
  if (typeof base !== 'string' || !Object.hasOwn(themes, base))
    return refused(`"base" must be one of ${Object.keys(themes).join(', ')}`);
  if (!isObject(tokens)) return refused('"tokens" must be an object');
  const read: Partial<Record<Token, Rendition>> = {};
  for (const [name, given] of Object.entries(tokens)) {
    if (!Object.hasOwn(known, name)) return refused(`"tokens.${name}" is none of ${Object.keys(known).join(', ')}`);
    const rendition = readRendition(given);
    if (typeof rendition === 'string') return refused(`"tokens.${name}${rendition}`);
    // Looked up just above.
    read[name as Token] = rendition;
  }
  return { ok: true, base, tokens: read };
}

/** @returns the rendition, or the rest of the sentence that says what is wrong */
function readRendition(given: unknown): Rendition | string {
  if (!isObject(given)) return '" must be an object with fg, bg, bold, reverse';
  const read: { fg?: number | string; bg?: number | string; bold?: boolean; reverse?: boolean } = {};
  for (const [name, value] of Object.entries(given)) {
    if (name === 'fg' || name === 'bg') {
      const colour = readColour(value);
      if (colour === null) return `.${name}" is no colour: one of the 16 names, 0 to 255, or #rrggbb`;
      read[name] = colour;
    } else if (name === 'bold' || name === 'reverse') {
      if (typeof value !== 'boolean') return `.${name}" must be true or false`;
      read[name] = value;
    } else return `.${name}" is none of fg, bg, bold, reverse`;
  }
  return read;
}
