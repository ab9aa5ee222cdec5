import type { CommandWord } from '../schema/command.ts';
import type { Handed } from './assigned.ts';
import type { CodeLines } from './code-lines.ts';
import { literalWord } from './words.ts';

/** What a command starts besides itself, as far as its words tell. */
export type Payload =
  | { readonly kind: 'words'; readonly words: readonly CommandWord[] }
  | Handed
  /** What it reads from standard input is a script. */
  | { readonly kind: 'input' }
  /** It starts what its words do not spell out. */
  | { readonly kind: 'unnamed'; readonly why: string }
  /** Its words do not say what it starts. */
  | { readonly kind: 'unreadable'; readonly why: string };

/** The lines that code spells out, and that there are others. */
export const codeLines = ({ lines, guessed, unnamed }: CodeLines): readonly Payload[] => [
  ...lines.map((line) => ({ kind: guessed ? ('guess' as const) : ('line' as const), words: [literalWord(line)] })),
  ...(unnamed === null ? [] : [{ kind: 'unnamed' as const, why: unnamed }]),
];
