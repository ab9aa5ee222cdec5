import type { CommandWord, Origin } from '../schema/command.ts';
import { launcherOf } from './launchers.ts';
import { baseName, shells } from './programs.ts';

/** Commands that `find`, `xargs` and `parallel` complete with what they find or read. */

/**
 * Words in which a place is filled. A program, or the line of a shell, that holds it is no literal; a word of a launcher
 * may be either.
 */
export function filledIn(words: readonly CommandWord[], place: string): readonly CommandWord[] {
  const name = baseName(words[0]?.text ?? '');
  const shell = shells.has(name);
  const launches = launcherOf(name) !== undefined;
  return words.map((word, index) => {
    if (place === '' || !word.text.includes(place)) return word;
    const line = shell && (word.text !== place || /^-[A-Za-z]*c$/.test(words[index - 1]?.text ?? ''));
    const [from, to] = [word.path.indexOf(place), word.path.lastIndexOf(place === '{' ? '}' : place)];
    const unknown = {
      before: word.path.slice(0, Math.max(from, 0)),
      behind: word.path.slice(Math.max(to, 0) + (place === '{' ? 1 : place.length)),
      split: false,
      origins: [],
    };
    return { ...word, filled: true, open: word.open || index === 0 || line || launches, unknown };
  });
}

/** What is read stands behind the words: for a program that runs its words it may be the command. */
export function readBehind(words: readonly CommandWord[]): readonly CommandWord[] {
  const name = baseName(words[0]?.text ?? '');
  const runs = shells.has(name) || launcherOf(name) !== undefined;
  const unknown = { before: '', behind: '', split: true, origins: [] };
  return [...words, { text: '{}', path: '{}', open: runs, filled: true, unknown }];
}

/** The place that `xargs` fills in, by its options; empty when it puts what it reads behind the words. */
export function placeOf(options: readonly CommandWord[]): string {
  const at = options.findIndex((word) => /^(-I|-i|--replace)/.test(word.text));
  const text = options[at]?.text ?? '';
  if (text === '') return '';
  if (text === '-I') return options[at + 1]?.text ?? '';
  return text.replace(/^(-[Ii]|--replace=?)/, '') || '{}';
}

/** The same words, told what gives that which is put in. */
export const cameFrom = (words: readonly CommandWord[], origins: readonly Origin[]): readonly CommandWord[] =>
  words.map((word) =>
    word.filled === true && word.unknown?.origins.length === 0
      ? { ...word, unknown: { ...word.unknown, origins } }
      : word,
  );

/** The words of a command with one thing put in at its places, or behind them. */
export const putIn = (words: readonly CommandWord[], put: CommandWord): readonly CommandWord[] =>
  words.some(({ text }) => text.includes('{}'))
    ? words.map((word) => ({ ...word, text: word.text.replaceAll('{}', put.text), open: word.open || put.open }))
    : [...words, put];
