/** Most words of one launcher that may be the command; beyond them it is not read. */
export const maxBeginnings = 48;

/** How a launcher's words lead to the command that it starts. */
export type Launcher = {
  /** Only with one of these words somewhere among its words; empty: always. */
  readonly subcommands: readonly string[];
  /** Options without a value; a single letter may stand in a bundle. */
  readonly flags: readonly string[];
  /** Options whose value is the next word, or attached. */
  readonly values: readonly string[];
  /** Options whose value is a line for a shell. */
  readonly lines: readonly string[];
  /** Words before the command that are not part of it; of `any`: at most so many. */
  readonly operands: number;
  /** Of `any`: such a word is never the command itself. */
  readonly named: boolean;
  /** Of `any`: behind one of these words alone, beside the subcommands, stands a command; empty: anywhere. */
  readonly behind: readonly string[];
  /** `A=b` may stand before the command. */
  readonly assignments: boolean;
  /** Without a command it is a shell, or starts one, and that one reads what it is given. */
  readonly shell: boolean;
  /** Of `any`: the words behind which that holds; empty: anywhere. */
  readonly opens: readonly string[];
  /** Options before a subcommand do not make it a launcher: what it does otherwise has a table. */
  readonly plainOptions: boolean;
  /**
   * What stands at the end: a command word by word, one line for a shell, or none that its words tell. `any`: not all of its
   * options are known here; each of its words may begin the command, or be a line.
   */
  readonly payload: 'words' | 'line' | 'none' | 'any';
};

const words = (text: string): readonly string[] => (text === '' ? [] : text.split(' '));

export const launcher = (
  flags: string,
  values: string,
  more: Partial<Omit<Launcher, 'flags' | 'values'>> = {},
): Launcher => ({
  subcommands: [],
  lines: [],
  operands: 0,
  named: false,
  behind: [],
  assignments: false,
  shell: false,
  opens: [],
  plainOptions: false,
  payload: 'words',
  ...more,
  flags: words(flags),
  values: words(values),
});
