import type { CommandWord, Patch } from '../schema/command.ts';
import { baseName } from './programs.ts';
import { literalWord } from './words.ts';

/** Programs that write the files which a patch names: no word of theirs says which. */

/** How a command reads its patch. */
export type Patcher = Pick<Patch, 'strip' | 'into'> & {
  /** The files that hold it; none where it reads it. */
  readonly files: readonly CommandWord[];
};

const gitValues = /^(?:-[pC]|--(?:exclude|include|directory|whitespace|patch-format))$/;
const gitLooks = /^--(?:check|stat|numstat|summary|cached)$/;
const amLooks = /^(?:-r|--(?:continue|abort|skip|quit|resolved|retry|show-current-patch.*))$/;
const patchValues = /^(?:-[pdioFBDrVYzg]|--(?:strip|directory|input|output|fuzz|prefix|suffix|reject-file|get))$/;

/** What a command does with a patch; null where it has none, or only looks at it. */
export function patcherOf([program, ...rest]: readonly CommandWord[]): Patcher | null {
  const name = baseName(program?.text ?? '');
  if (name === 'apply_patch') return { strip: 0, into: '', files: [] };
  if (name === 'patch' || name === 'gpatch') return ofPatch(rest);
  if (name !== 'git') return null;
  const at = rest.findIndex(({ text }, index) => !text.startsWith('-') && !/^-[Cc]$/.test(rest[index - 1]?.text ?? ''));
  const subcommand = rest[at]?.text ?? '';
  const behind = rest.slice(at + 1);
  const looks = subcommand === 'am' ? amLooks : gitLooks;
  if (!/^(?:apply|am)$/.test(subcommand)) return null;
  if (behind.some(({ text }) => looks.test(text)) && !behind.some(({ text }) => text === '--apply')) return null;
  return { strip: stripOf(behind) ?? 1, into: '', files: operandsOf(behind, gitValues) };
}

function ofPatch(rest: readonly CommandWord[]): Patcher | null {
  if (rest.some(({ text }) => text === '--dry-run')) return null;
  // A file among its words is what it changes, whatever stands in the patch.
  if (operandsOf(rest, patchValues).length > 0) return null;
  const given = optionValue(rest, /^(?:-i|--input)=?/);
  const into = optionValue(rest, /^(?:-d|--directory)=?/)?.path ?? '';
  return { strip: stripOf(rest), into, files: given === undefined ? [] : [given] };
}

const operandsOf = (words: readonly CommandWord[], values: RegExp): readonly CommandWord[] =>
  words.filter(({ text }, index) => !text.startsWith('-') && !values.test(words[index - 1]?.text ?? ''));

function optionValue(words: readonly CommandWord[], option: RegExp): CommandWord | undefined {
  const at = words.findIndex(({ text }) => option.test(text));
  const found = words[at];
  const length = option.exec(found?.text ?? '')?.[0].length ?? 0;
  if (found === undefined || found.text.length === length) return found && words[at + 1];
  return { ...found, text: found.text.slice(length), path: found.path.slice(length) };
}

function stripOf(words: readonly CommandWord[]): number | null {
  const text = optionValue(words, /^(?:-[A-Za-z]*p|--strip)=?/)?.text ?? '';
  return /^[0-9]{1,3}$/.test(text) ? Number(text) : null;
}

/** Stands for the names in a patch that nobody sees: anything below the directory that it is for. */
export function unseenNames(into: string): CommandWord {
  const place = literalWord(into === '' ? '.' : into);
  const origin = { kind: 'printed' as const, words: [literalWord('find'), place], input: [], texts: [] };
  const text = 'a name in the patch';
  return { text, path: text, open: true, unknown: { before: '', behind: '', split: true, origins: [origin] } };
}
