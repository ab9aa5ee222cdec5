import type { CommandWord, Origin } from '../schema/command.ts';
import { anything } from './origins.ts';
import { baseName } from './programs.ts';

/** Programs that take names from a list: what they find themselves, what they read, or a file that an option names. */

const finders: ReadonlySet<string> = new Set(['find', 'fd', 'fdfind']);

/** The option by which a program takes the names of its files from a list; null: it always does, from what it reads. */
const listOptions: Readonly<Record<string, RegExp | null>> = {
  ...each('tar gtar bsdtar', /^(?:-?[A-Za-z]*T|--files-from(?:=.*)?)$|^-T./),
  rsync: /^--files-from(?:=.*)?$/,
  ...each('wc sort du', /^--files0-from(?:=.*)?$/),
  ...each('find gfind', /^-files0-from$/),
  zip: /^-@$|^-i@/,
  git: /^--pathspec-from-file(?:=.*)?$/,
  ...each('cpio pax', null),
  parallel: null,
};

function each(names: string, option: RegExp | null): Record<string, RegExp | null> {
  return Object.fromEntries(names.split(' ').map((name) => [name, option]));
}

/** What gives a program the names that it works on or hands to another one. */
export function listGivers(words: readonly CommandWord[], read: readonly Origin[]): readonly Origin[] {
  const [program, ...rest] = words;
  const name = baseName(program?.text ?? '');
  if (finders.has(name)) return [{ kind: 'printed', words, input: read, texts: [] }];
  const from = name === 'xargs' || name === 'parallel' ? listFile(rest, /^-[A-Za-z0]*a(?!.*=)|^--arg-file/) : null;
  return from === null || from === '-' ? read : [anything];
}

/** A word that stands for the names on the list which a program is given, if it is. */
export function listsRead(words: readonly CommandWord[], read: readonly Origin[]): readonly CommandWord[] {
  const [program, ...rest] = words;
  const name = baseName(program?.text ?? '');
  const option = Object.hasOwn(listOptions, name) ? listOptions[name] : undefined;
  if (option === undefined) return [];
  const file = option === null ? '-' : listFile(rest, option);
  if (file === null) return [];
  const origins = name === 'parallel' ? listGivers(words, read) : file === '-' || file === '' ? read : [anything];
  if (origins.length === 0) return [];
  return [{ text: '{}', path: '{}', open: true, unknown: { before: '', behind: '', split: true, origins } }];
}

/** The file that such an option names; null without one. */
function listFile(rest: readonly CommandWord[], option: RegExp): string | null {
  const at = rest.findIndex(({ text }) => option.test(text));
  const text = rest[at]?.text ?? '';
  if (at === -1) return null;
  if (text.includes('=')) return text.slice(text.indexOf('=') + 1);
  return /^-[Ta]./.test(text) ? text.slice(2) : (rest[at + 1]?.text ?? '');
}
