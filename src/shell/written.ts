import type { CommandWord } from '../schema/command.ts';
import { payloadsOf } from './payloads-of.ts';
import { baseName } from './programs.ts';
import type { ParseScript, Step } from './script.ts';
import { printed } from './printed.ts';

/** Most commands that are looked at for what they write, and how deep one may stand in another. */
const maxWriters = 256;
const maxDepth = 4;
/** Most text of lines that is read for it, however often each of them is started. */
const maxText = 262_144;

type Command = Extract<Step, { kind: 'command' }>;

export type WrittenDeps = {
  readonly parse: ParseScript | null;
  /** The words of a command, in each reading of them. */
  readings(step: Command): readonly (readonly CommandWord[])[];
  /** What a command reads, as far as is known. */
  inputOf(step: Command): readonly string[];
  /** The line that an alias makes of a command; null where its program is none. */
  lineOf(words: readonly CommandWord[]): CommandWord | null;
  /** There is more than is looked at. */
  spent(): void;
};

/** Texts that the commands before a pipe may write, as far as the line shows them (02 §9.3), and all of them together. */
export function createWritten(deps: WrittenDeps): (steps: readonly Step[]) => readonly string[] {
  let writers = 0;
  let text = 0;
  /** Every command of a pipe asks for those before it, so each is looked at once. */
  const known = new WeakMap<Command, readonly string[]>();

  const writtenAt = (step: Command, depth: number): readonly string[] => {
    const old = known.get(step);
    const texts = old ?? deps.readings(step).flatMap((words) => writtenBy(words, step, depth));
    if (old === undefined) known.set(step, texts);
    return texts;
  };

  const writtenIn = (steps: readonly Step[], depth: number): readonly string[] => {
    const texts = steps.flatMap((step) => (step.kind === 'command' ? [writtenAt(step, depth)] : []));
    const together = texts.length > 1 ? [texts.map(([first]) => first ?? '').join('')] : [];
    return [...new Set([...texts.flat(), ...together])].filter((text) => text !== '');
  };

  /**
   * A launcher, or a shell with a line, writes what its command does; every other program may hand on what it reads. What most
   * of them make of it is not known: it counts as the file that such a program is (`<(base64)`), beside what went in.
   */
  const writtenBy = (words: readonly CommandWord[], step: Command, depth: number): readonly string[] => {
    writers += 1;
    if (writers > maxWriters) {
      deps.spent();
      return [];
    }
    const name = baseName(words[0]?.text ?? '');
    const texts = /^(echo|printf)$/.test(name) ? printed(words) : deps.inputOf(step);
    const unknown = `<(${name})`;
    if (depth >= maxDepth) return [...texts, unknown];
    const aliased = deps.lineOf(words);
    const line = aliased === null ? [] : [{ kind: 'line' as const, words: [aliased] }];
    const started = [...payloadsOf(words), ...line];
    if (started.length === 0) return writesAsRead(name, words) ? texts : [...texts, unknown];
    const inner = started.flatMap((payload): readonly string[] => {
      if (payload.kind === 'words') {
        // What stands for all that is read is written behind the rest, or is nothing.
        const own = payload.words.filter(({ text, open, filled }) => filled !== true || open || text !== '{}');
        return own.length === 0 ? [] : writtenBy(own, step, depth + 1);
      }
      if (payload.kind !== 'line' || deps.parse === null) return [];
      const own = payload.words.map((word) => word.text).join(' ');
      text += own.length;
      if (text > maxText) {
        deps.spent();
        return [];
      }
      return writtenIn(deps.parse(own).steps, depth + 1);
    });
    return [...texts, ...inner];
  };

  return (steps) => writtenIn(steps, 0);
}

/** Programs that write what they are given or what they read, or nothing. */
function writesAsRead(name: string, words: readonly CommandWord[]): boolean {
  if (name === 'cat') return words.slice(1).every(({ text, open }) => !open && text.startsWith('-'));
  return name === '' || asGiven.has(name);
}

const asGiven: ReadonlySet<string> = new Set(
  'echo printf tee : true false cd set export sleep wait exit return break continue'.split(' '),
);
