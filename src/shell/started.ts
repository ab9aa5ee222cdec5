import type { CommandWord } from '../schema/command.ts';
import { substitutesIn } from './assigned.ts';
import { linesInCode } from './code-lines.ts';
import type { createDirectories } from './directories.ts';
import { cameFrom } from './filled-in.ts';
import { type createGivenValues, reading } from './given-values.ts';
import type { Around } from './inputs.ts';
import { listGivers } from './lists.ts';
import type { createNamedLines } from './named-lines.ts';
import type { createNames } from './names.ts';
import { anything } from './origins.ts';
import { codeLines, type Payload } from './payload.ts';
import { payloadsOf } from './payloads-of.ts';
import { baseName, shells } from './programs.ts';
import type { createScriptFiles } from './script-files.ts';
import { codeRead } from './taken-input.ts';
import { literalWord } from './words.ts';

/** Commands that give names other values than the line shows. */
const assigning: ReadonlySet<string> = new Set(
  'read readarray mapfile getopts unset declare typeset local eval source .'.split(' '),
);

/** Settings by which a pattern stands for more files than it shows. */
export const widening: ReadonlySet<string> = new Set(['dotglob', 'nocaseglob', 'globdots', 'GLOB_DOTS', 'GLOBIGNORE']);

/** Those that go to another directory. */
const changing: ReadonlySet<string> = new Set(['cd', 'chdir', 'pushd']);

/** What keeps a line from being read or named; the first word of each kind stands. */
export type Doubts = { unread(why: string): void; unnamed(why: string): void };

type Parts = {
  readonly names: ReturnType<typeof createNames>;
  readonly given: ReturnType<typeof createGivenValues>;
  readonly named: ReturnType<typeof createNamedLines>;
  readonly files: ReturnType<typeof createScriptFiles<Around>>;
  readonly directories: ReturnType<typeof createDirectories>;
  readonly doubts: Doubts;
  /** Something may run again, or later than it stands. */
  repeats(): void;
  reveal(payload: Payload, name: string, around: Around): void;
};

/** Tells what a command says of those behind it, and reveals what it starts. */
export function createStarted({ names, given, named, files, directories, doubts, repeats, reveal }: Parts) {
  return (words: readonly CommandWord[], around: Around): void => {
    const [program] = words;
    if (program === undefined) return;
    if (program.open) doubts.unnamed(`the program ${program.text} is no literal`);
    // Of a name without a value nothing is left, and the word behind it is the program.
    if (program.unset === '') reveal({ kind: 'words', words: words.slice(1) }, program.text, around);
    // The file of the shell itself, or one that it has opened.
    if (/^\/(proc|dev)\//.test(program.text))
      doubts.unnamed(`the program ${program.text} is another one in each process`);
    const name = baseName(program.text);
    if (changing.has(name)) directories.change(words.slice(1));
    const wider =
      shells.has(name) || /^(shopt|setopt)$/.test(name) ? words.find(({ text }) => widening.has(text)) : undefined;
    if (wider !== undefined) doubts.unnamed(`with ${wider.text} patterns stand for other files`);
    if (name === 'trap') repeats();
    if (assigning.has(name) || (name === 'printf' && words[1]?.text === '-v')) names.forget();
    if (name === 'printf' && words[1]?.text === '-v') given.holdsPrinted(words.slice(2));
    if (name === 'alias') named.addAliases(words.slice(1));
    const other = reading.has(name) && words.some(({ text }) => /^-[A-Za-z]*u/.test(text));
    const givers = other ? [anything] : listGivers(words, around.origins);
    if (reading.has(name)) given.takes(words, givers);
    if (name === 'set' || shells.has(name)) given.gives(words.slice(1));
    if (name === 'env') given.holdsGiven(words.slice(1));
    for (const payload of payloadsOf(words)) {
      reveal('words' in payload ? { ...payload, words: cameFrom(payload.words, givers) } : payload, name, around);
    }
    // A program of any name may lie where the line has others looked for.
    if (program.text.includes('/') || names.isGiven('PATH')) files.start(words, around);
    const read = codeRead(words, around.input).map((text) => linesInCode(name, text));
    for (const lines of [...read, ...files.code(words, around.input).map((one) => one.lines)]) {
      for (const payload of codeLines(lines)) reveal(payload, name, { ...around, input: [], origins: [] });
    }
    // Bash expands a value once more where it takes it for a number or a name.
    const taken = reading.has(name) ? around.input.map(literalWord) : [];
    const called = named.isFunction(program.text) ? words.slice(1) : [];
    for (const payload of substitutesIn([...taken, ...called])) reveal(payload, name, around);
    // It runs where it stands, as what `eval` reads does.
    named.expand(words, (line) => reveal({ kind: 'line', words: [line] }, 'eval', around));
  };
}
