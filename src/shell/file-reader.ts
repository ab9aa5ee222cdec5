import type { CommandWord } from '../schema/command.ts';
import { type CodeLines, linesInCode } from './code-lines.ts';
import { callsIn } from './spawn-calls.ts';

/** How a program reads files that it looks for by their names or takes behind an option, and starts what they hold. */
export type Reader = {
  /** Names of files that are found without being given; absent: none are. */
  readonly found?: RegExp;
  /** The option behind which another one is given, also attached. */
  readonly given?: RegExp;
  /** A command in its words, in what it reads or in such a file, that names others. */
  readonly within?: RegExp;
  /** Its operands are such files, also without what their names end in. */
  readonly operands?: true;
  /** Only with one of these words, or one that looks like this. */
  readonly behind?: readonly string[] | RegExp;
  lines(text: string, rest: readonly CommandWord[], name: string): CodeLines;
};

export const spelled = (lines: readonly string[]): CodeLines => ({ lines, guessed: true, unnamed: null });

/** Files in the language of the program. */
export const code = (found: RegExp, behind?: readonly string[]): Reader => ({
  found,
  ...(behind === undefined ? {} : { behind }),
  lines: (text, _rest, name) => spelled(callsIn(text, name)),
});

/** What the language of the program itself hands to a shell. */
export const own: Reader['lines'] = (text, _rest, name) => linesInCode(name, text);

export type Readers = Readonly<Record<string, readonly Reader[]>>;

/** Programs that read such files; several readers for those that read several kinds. */
export function each(names: string, ...readers: readonly Reader[]): Readers {
  return Object.fromEntries(names.split(' ').map((name) => [name, readers]));
}
