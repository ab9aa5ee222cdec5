import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

/** System program directories that a confining root leaves open (05 §3.4). */
export const systemPrograms: readonly string[] = [
  '/bin',
  '/sbin',
  '/usr/bin',
  '/usr/sbin',
  '/usr/local/bin',
  '/opt/homebrew/bin',
];

/** Words that only a shell knows: there is no file to start. */
const builtins: ReadonlySet<string> = new Set(
  'alias bg cd declare dirs eval exec exit export fg hash history jobs local popd pushd read readonly return set shift shopt source trap type ulimit umask unalias unset wait .'.split(
    ' ',
  ),
);

/** The real path of a program word: with `/` against the directory, else by PATH (05 §3.3.1). Null: not found. */
export function findProgram(word: string, cwd: string, path: string): string | null {
  if (word.includes('/')) return executable(resolve(cwd, word));
  for (const directory of path.split(':')) {
    const found = directory.startsWith('/') ? executable(join(directory, word)) : null;
    if (found !== null) return found;
  }
  return null;
}

function executable(path: string): string | null {
  try {
    // Most directories of PATH have none, which is no exception.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return null;
    accessSync(path, constants.X_OK);
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

export function notFoundText(word: string): string {
  if (builtins.has(word)) {
    return `"${word}" is a word of the shell, not a program, and nothing persists between calls. Pass \`cwd\`, or write one line with \`shell: true\`.`;
  }
  if (word.includes('/'))
    return `"${word}" is no executable file; a relative path begins in the working directory of the call.`;
  return `There is no program "${word}" on the PATH of tools, or it is not executable.`;
}

/** Whether an entry of a command list names the program (05 §3.5). */
export type ListEntry = { readonly text: string; readonly bare: boolean; readonly real: string | null };

export const listEntry = (text: string, path: string): ListEntry => ({
  text,
  bare: !text.includes('/'),
  real: findProgram(text, '/', path),
});

/** By name and by the same real path for a bare entry, by real path for an absolute one. */
export function allows(entry: ListEntry, word: string, real: string | null): boolean {
  if (!entry.bare) return real !== null && entry.real === real;
  return basename(word) === entry.text && (real === null ? word === entry.text : entry.real === real);
}

/** By name, by the text as given, or by real path: any of them suffices to refuse. */
export function denies(entry: ListEntry, word: string, real: string | null): boolean {
  if (word === entry.text || (real !== null && entry.real === real)) return true;
  return entry.bare && (basename(word) === entry.text || (real !== null && basename(real) === entry.text));
}
