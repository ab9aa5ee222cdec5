import type { CommandWord, Origin } from '../schema/command.ts';
import { readsCode } from './code-lines.ts';
import { baseName } from './programs.ts';

/** What a program reads as code of its own: its places and its lines are those of the line around it. */
export function codeRead([program, ...rest]: readonly CommandWord[], input: readonly string[]): readonly string[] {
  return program === undefined || input.length === 0 || !readsCode(baseName(program.text), rest) ? [] : input;
}

/** The files that a `cat` hands on; none where anything else may come. */
export function catted(origins: readonly Origin[]): readonly CommandWord[] {
  const files = origins.map((origin) => {
    const [program, ...rest] = origin.kind === 'printed' && origin.input.length === 0 ? origin.words : [];
    return program?.text === 'cat' && rest.every(({ text }) => !text.startsWith('-')) ? rest : [];
  });
  return files.every((some) => some.length > 0) ? files.flat() : [];
}

/** Most words that a command takes from what it reads. */
const maxWordsRead = 256;

/** What `xargs` and `parallel` put behind their commands. */
export function wordsRead([program]: readonly CommandWord[], input: readonly string[]): readonly string[] {
  if (program === undefined || input.length === 0 || !/^(?:xargs|parallel)$/.test(baseName(program.text))) return [];
  return input.flatMap((text) => text.split(/[\s\0'"]+/, maxWordsRead)).slice(0, maxWordsRead);
}
