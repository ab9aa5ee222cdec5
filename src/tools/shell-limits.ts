import { lstatSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { CommandReading } from '../schema/policy.ts';
import { fail, type ToolFailure } from './failure.ts';
import { isInside, type Place, realPathOf } from './files/root.ts';
import { listLimit } from './limits.ts';
import { allows, denies, findProgram, listEntry, startsOthers, systemPrograms } from './programs.ts';
import { literalWords, type ShellWord } from './shell-operands.ts';

type Runnable = Exclude<CommandReading, { form: 'none' }>;
type Limits = Readonly<Record<string, string>>;

/** `_allowed_commands` and `_denied_commands` (05 §3.5): no approval widens them. */
export function listFault(reading: Runnable, limits: Limits, cwd: string, path: string): ToolFailure | null {
  const allowed = listLimit(limits, '_allowed_commands');
  const denied = listLimit(limits, '_denied_commands');
  if (allowed === null && denied === null) return null;
  const limit = allowed === null ? '_denied_commands' : '_allowed_commands';
  if (reading.form === 'sh') {
    return refused(limit, 'The line runs through the shell, so its programs cannot be compared with');
  }
  const [word = ''] = reading.words;
  const real = findProgram(word, cwd, path);
  const hit = (denied ?? []).find((entry) => denies(listEntry(entry, path), word, real));
  if (hit !== undefined) return refused('_denied_commands', `"${word}" is refused by`);
  if (allowed !== null && !allowed.some((entry) => allows(listEntry(entry, path), word, real))) {
    return refused('_allowed_commands', `"${word}" is not in`);
  }
  if (startsOthers(reading.words)) {
    return refused(limit, `"${word}" starts a program that its arguments name, which cannot be compared with`);
  }
  return null;
}

const refused = (limit: string, what: string): ToolFailure =>
  fail('not_permitted', `${what} the chain's list ${limit}. No approval widens it; use another program.`, { limit });

/** What a root that confines asks of the words of a call (05 §3.4.2). It checks the text, not the started program. */
export function operandFault(reading: Runnable, place: Place, cwd: string): ToolFailure | null {
  if (!place.confined) return null;
  const words: readonly ShellWord[] =
    reading.form === 'sh'
      ? literalWords(reading.line)
      : reading.words.map((text, index) => ({ text, program: index === 0 }));
  const outside = words.find((word) =>
    word.program ? programOutside(word.text, place, cwd) : operandOutside(word.text, place, cwd),
  );
  if (outside === undefined) return null;
  return fail('outside_root', `"${outside.text.slice(0, 200)}" is outside the root of this run. Use a path inside it.`);
}

function programOutside(word: string, place: Place, cwd: string): boolean {
  if (!word.includes('/')) return false;
  const path = absolute(word, place, cwd);
  if (systemPrograms.includes(dirname(path)) && basename(path) !== '..') return false;
  const real = realPathOf(path);
  return real === null || !(isInside(place.root, real) || systemPrograms.some((base) => isInside(base, real)));
}

/** Also the part behind `=` (`--opt=value`, `of=value`). */
function operandOutside(word: string, place: Place, cwd: string): boolean {
  const at = word.indexOf('=');
  return pathOutside(word, place, cwd) || (at >= 0 && pathOutside(word.slice(at + 1), place, cwd));
}

function pathOutside(text: string, place: Place, cwd: string): boolean {
  if (text === '/dev/null') return false;
  const url = text.startsWith('file://');
  const named = url || text.startsWith('/') || text.startsWith('~/') || text === '~' || text.split('/').includes('..');
  if (!named && !existsBelow(cwd, text)) return false;
  const real = realPathOf(url ? filePath(text) : absolute(text, place, cwd));
  return real === null || !isInside(place.root, real);
}

function absolute(text: string, place: Place, cwd: string): string {
  if (text === '~' || text.startsWith('~/')) return `${place.home}${text.slice(1)}`;
  // Not normalised: `..` applies to the real directory.
  return isAbsolute(text) ? text : `${cwd}/${text}`;
}

function filePath(text: string): string {
  try {
    return decodeURIComponent(new URL(text).pathname);
  } catch {
    return '/';
  }
}

function existsBelow(cwd: string, text: string): boolean {
  if (text === '' || text.includes('\0')) return false;
  try {
    return lstatSync(join(cwd, text), { throwIfNoEntry: false }) !== undefined;
  } catch {
    // A name that the system does not take names nothing.
    return false;
  }
}
