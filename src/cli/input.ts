import { resolve } from 'node:path';
import { usage } from '../schema/errors.ts';
import { type InputType, inputTypes } from '../schema/run.ts';
import { parseExactJson } from '../text/exact-json.ts';
import { isDeeperThan, mostLevels } from '../text/json-depth.ts';
import { jsonErrorPosition } from '../text/json-position.ts';
import { ownMember } from '../text/own-member.ts';
import { type InputSite, maxInputBytes, readFileBytes, readStdin, tooLarge } from './input-bytes.ts';

const firstByteMs = 3000;

/**
 * Instruction and content of an invocation (06 §7), joined by a blank line; null when neither was given.
 * Reads stdin to its end when it is the content; waits at most 3 s for it when words are present.
 * @param flag the value of `--input`, or null
 * @throws RuntimeError usage: unreadable file, empty or too large input, a NUL byte
 */
export async function readInput(
  words: readonly string[],
  flag: string | null,
  site: InputSite,
): Promise<string | null> {
  const dash = words.includes('-');
  const instruction = words.filter((word) => word !== '-').join(' ');
  if (dash && flag !== null) throw usage('--input and - both name the content: give one of them');
  const content = await readContent(flag, dash, instruction !== '', site);
  if (content === null && instruction === '') return null;
  const parts = [instruction, content ?? ''].filter((part) => part.trim() !== '');
  if (parts.length === 0) throw usage('the input is empty', ways(site.process.argv));
  const text = parts.join('\n\n');
  const bytes = Buffer.byteLength(text);
  if (bytes > maxInputBytes) throw tooLarge('the input', bytes);
  if (text.includes('\u0000')) throw usage('the input holds a NUL byte: it is not text');
  return text;
}

/** The three ways to give input, as hints. */
export const ways = (argv: readonly string[]): readonly string[] => {
  const command = argv.includes('chat') ? 'reins chat' : argv.includes('plan') ? 'reins plan new' : 'reins run';
  return [`${command} <text>`, `${command} --input @file`, `some-program | ${command} <text>`];
};

async function readContent(
  flag: string | null,
  dash: boolean,
  hasWords: boolean,
  site: InputSite,
): Promise<string | null> {
  if (dash || flag === '-') return decode(await readStdin(null, site), 'standard input', site);
  if (flag !== null) {
    if (flag === '') throw usage('--input is empty', ways(site.process.argv));
    if (flag.startsWith('@@')) return flag.slice(1);
    if (!flag.startsWith('@')) return flag;
    if (flag === '@') throw usage('--input: "@" needs the path of a file after it; "@@" is the sign itself');
    return decode(
      await readFileBytes(resolve(site.process.cwd, flag.slice(1)), flag.slice(1), site),
      flag.slice(1),
      site,
    );
  }
  if (site.terminal.stdinKind() !== 'piped') return null;
  const bytes = await readStdin(hasWords ? firstByteMs : null, site);
  if (bytes === null) {
    site.warn('standard input stays open and sends nothing: going on without it');
    return null;
  }
  return bytes.length === 0 ? null : decode(bytes, 'standard input', site);
}

/** The text of a stream that a flag names with `-` (an answer, a key): read to its end, without a final line break. */
export async function readStdinText(site: InputSite, what: string): Promise<string> {
  if (site.terminal.stdinKind() === 'terminal') throw usage(`${what} - reads standard input, which is a terminal`);
  const bytes = await readStdin(null, site);
  return decode(bytes, 'standard input', site).replace(/\r?\n$/, '');
}

function decode(bytes: Buffer | null, what: string, site: InputSite): string {
  const given = bytes ?? Buffer.alloc(0);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(given);
  } catch {
    site.warn(`${what} is not UTF-8 throughout: invalid bytes were replaced by U+FFFD`);
    return new TextDecoder('utf-8').decode(given);
  }
}

export type InputValue = { readonly type: InputType; readonly value: unknown };

const booleans: Readonly<Record<string, boolean>> = {
  '1': true,
  t: true,
  T: true,
  TRUE: true,
  true: true,
  True: true,
  '0': false,
  f: false,
  F: false,
  FALSE: false,
  false: false,
  False: false,
};

/** The word of `--input-type`, in any case. @throws RuntimeError usage that lists the six types */
export function readInputType(text: string | null): InputType {
  const word = (text ?? 'string').toLowerCase();
  const found = inputTypes.find((type) => type === word);
  if (found === undefined) throw usage(`--input-type: "${text}" is not one of ${inputTypes.join(', ')}`);
  return found;
}

/**
 * Converts the input by its type (06 §7), before a chain is loaded or a model contacted.
 * @throws RuntimeError usage, for JSON with the position
 */
export function convertInput(text: string, type: InputType): InputValue {
  const trimmed = text.trim();
  const wrong = (what: string) => usage(`--input is not ${what}: "${trimmed.slice(0, 60)}"`);
  switch (type) {
    case 'string':
      return { type, value: text };
    case 'chat':
      return { type, value: trimmed };
    case 'json': {
      // Lines and columns are those of the text that was given.
      const before = text.slice(0, text.length - text.trimStart().length).replace(/[^\n]/g, ' ');
      const at = jsonErrorPosition(`${before}${trimmed}`);
      if (at !== null) throw usage(`--input is not valid JSON at line ${at.line}, column ${at.column}`);
      if (isDeeperThan(trimmed, mostLevels)) throw usage(`--input is nested deeper than ${mostLevels} levels`);
      // No digit of a long id is lost: what a number cannot hold stays the text that it is.
      const value: unknown = parseExactJson(trimmed);
      if (hasInfinity(value)) throw usage('--input holds a number that is too large');
      return { type, value };
    }
    case 'int': {
      const value = Number(trimmed);
      if (!/^[+-]?\d+$/.test(trimmed)) throw wrong('an integer');
      if (!Number.isSafeInteger(value)) throw wrong(`an integer within ±${Number.MAX_SAFE_INTEGER}`);
      return { type, value: value === 0 ? 0 : value };
    }
    case 'float': {
      const value = Number(trimmed);
      if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(trimmed) || !Number.isFinite(value))
        throw wrong('a number');
      return { type, value };
    }
    case 'bool': {
      const value = ownMember(booleans, trimmed);
      if (value === undefined) throw wrong('a boolean');
      return { type, value };
    }
  }
}

/** JSON has numbers that no number of ours can be. */
function hasInfinity(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInfinity);
}
