import { lstatSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { CommandReading } from '../schema/command.ts';
import { fail, type ToolFailure } from './failure.ts';
import { isInside, type Place, realPathOf } from './files/root.ts';
import { listLimit } from './limits.ts';
import { allows, denies, findProgram, listEntry, systemPrograms } from './programs.ts';

type Runnable = Exclude<CommandReading, { form: 'none' }>;
type Limits = Readonly<Record<string, string>>;

/** `_allowed_commands` and `_denied_commands` (05 §3.5): no approval widens them. */
export function listFault(reading: Runnable, limits: Limits, cwd: string, path: string): ToolFailure | null {
  const allowed = listLimit(limits, '_allowed_commands');
  const denied = listLimit(limits, '_denied_commands');
  if (allowed === null && denied === null) return null;
  const limit = allowed === null ? '_denied_commands' : '_allowed_commands';
  if (reading.verdict !== 'readable') {
    return refused(
      limit,
      `The call is ${reading.verdict} (${reading.detail ?? ''}), so its programs cannot be compared with`,
    );
  }
  if (reading.form === 'sh' && setsPath(reading.unquoted ?? reading.line)) {
    return refused(limit, 'The line sets PATH, so its programs cannot be compared with');
  }
  for (const { words } of reading.commands) {
    const word = words[0]?.text;
    const fault = word === undefined ? null : programFault(word, { allowed, denied, cwd, path });
    if (fault !== null) return fault;
  }
  return null;
}

/** By an assignment or as the name of a loop: what is found then is no program of the PATH that the lists were compared on. */
const setsPath = (line: string): boolean =>
  /(?<![\w$])PATH(?:\+?=|\s+(?:in|do)\b|\s*;)/.test(line.replaceAll('\\\n', ''));

type Lists = {
  readonly allowed: readonly string[] | null;
  readonly denied: readonly string[] | null;
  readonly cwd: string;
  readonly path: string;
};

function programFault(word: string, { allowed, denied, cwd, path }: Lists): ToolFailure | null {
  const real = findProgram(word, cwd, path);
  const hit = (denied ?? []).find((entry) => denies(listEntry(entry, path), word, real));
  if (hit !== undefined) return refused('_denied_commands', `"${word}" is refused by`);
  if (allowed !== null && !allowed.some((entry) => allows(listEntry(entry, path), word, real))) {
    return refused('_allowed_commands', `"${word}" is not in`);
  }
  return null;
}

const refused = (limit: string, what: string): ToolFailure =>
  fail('not_permitted', `${what} the chain's list ${limit}. No approval widens it; use another program.`, { limit });

/** What a root that confines asks of the words of a call (05 §3.4.2). It checks the text, not the started program. */
export function operandFault(reading: Runnable, place: Place, cwd: string): ToolFailure | null {
  if (!place.confined) return null;
  for (const { words, redirects, directories } of reading.commands) {
    const operands = [...words.slice(1), ...redirects.flatMap(({ target }) => (target === null ? [] : [target]))];
    for (const base of directories) {
      const at = base === '' ? cwd : absolute(placed(base, place), place, cwd);
      const [program] = words;
      const outside =
        program !== undefined && programOutside(placed(program.path, place), place, at)
          ? program
          : operands.find((word) => !word.open && operandOutside(placed(word.path, place), place, at));
      if (outside === undefined) continue;
      return fail(
        'outside_root',
        `"${outside.text.slice(0, 200)}" is outside the root of this run. Use a path inside it.`,
      );
    }
  }
  return null;
}

/** U+0000 stands for the home directory. */
const placed = (path: string, { home }: Place): string => path.replaceAll('\0', home);

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
