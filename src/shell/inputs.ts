import type { CommandRedirect, CommandWord, Origin, Patch } from '../schema/command.ts';
import { patchedBy } from '../text/patch-names.ts';
import type { createNames } from './names.ts';
import { inputOrigins } from './origins.ts';
import { patcherOf, unseenNames } from './patches.ts';
import type { createScriptFiles } from './script-files.ts';
import type { ParseScript, Step } from './script.ts';
import { catted } from './taken-input.ts';
import { literalWord } from './words.ts';
import { createWritten } from './written.ts';

/** What stands around a command: it was revealed at this depth, and reads one of these texts, as far as is known. */
export type Around = { readonly depth: number; readonly input: readonly string[]; readonly origins: readonly Origin[] };

/** A command that stands as a file, whose output is not known: `bash < <(cmd)`. */
export const unseen = '<(:)';
export const isProgram = (text: string): boolean => text.startsWith('<(');

const isSomeFile = ({ open, unknown, unset }: CommandWord): boolean =>
  open && (unknown === undefined || unset !== undefined || unknown.origins.some(({ kind }) => kind !== 'text'));

type Parts = {
  readonly parse: ParseScript | null;
  readonly names: ReturnType<typeof createNames>;
  readonly files: Pick<ReturnType<typeof createScriptFiles<Around>>, 'input'>;
  /** The line of a function or an alias. */
  lineOf(words: readonly CommandWord[]): CommandWord | null;
  /** What the text that is being read gets from outside. */
  outer(): readonly string[];
  spent(what: string): void;
};

/** What the commands of a line read: from redirections, pipes and what stands around them. */
export function createInputs({ parse, names, files, lineOf, outer, spent }: Parts) {
  const { expand } = names;

  const written = createWritten({
    parse,
    readings: ({ words }) => names.readings(words).map((choice) => words.flatMap((word) => expand(word, choice))),
    inputOf: (step) => inputOf(step),
    lineOf,
    spent: () => spent('too many commands may write what a shell reads'),
  });

  /** What a command reads: a here-document, a here-string, or what an `echo` before its pipe writes. */
  const inputOf = (step: Extract<Step, { kind: 'command' }>): readonly string[] => {
    // Which of several the program reads depends on their descriptors: all of them count.
    const texts = step.redirects.flatMap((one): readonly string[] => {
      if (one.body !== null) return [one.body];
      const { target, operator } = one;
      if (target === null || !/^<(<<)?$/.test(operator)) return [];
      return names.readings([target]).flatMap((choice) => {
        const words = expand(target, choice);
        const text = words.map((word) => word.text).join(' ');
        const programs = words.filter((word) => word.open && isProgram(word.text));
        const prints = programs.flatMap((word) => printedBy(word.text));
        if (operator === '<<<' || programs.length > 0) return [text, ...prints];
        // Which file that is, only the run knows.
        const unknown = words.some(isSomeFile) ? [unseen] : [];
        return [...files.input(text, unseen), ...unknown];
      });
    });
    if (texts.length > 0) return texts;
    return step.input.length === 0 ? outer() : written(step.input);
  };

  /** Many commands of a group read the same. */
  const knownOrigins = new WeakMap<object, readonly Origin[]>();
  const originsOf = (step: Extract<Step, { kind: 'command' }>): readonly Origin[] => {
    if (step.redirects.length === 0 && step.input.length === 0) return [];
    const key = step.redirects.length === 0 ? step.input : step;
    const known = knownOrigins.get(key) ?? inputOrigins(step, expand);
    knownOrigins.set(key, known);
    return known;
  };

  /** What the command in `<(..)` may print. */
  const printedBy = (program: string): readonly string[] =>
    parse === null ? [] : written(parse(program.slice(2, -1)).steps);

  /** What a command changes by a patch: names that the line shows, and files that may show others. */
  const patchesOf = (
    words: readonly CommandWord[],
    redirects: readonly CommandRedirect[],
    { input, origins }: Around,
  ): { readonly names: readonly CommandWord[]; readonly patches: readonly Patch[] } => {
    const patcher = patcherOf(words);
    if (patcher === null) return { names: [], patches: [] };
    const { strip, into } = patcher;
    const opened = redirects.flatMap(({ operator, target }) => (operator === '<' && target !== null ? [target] : []));
    const given = patcher.files.filter(({ text }) => text !== '-');
    const places = given.length > 0 ? given : opened.length > 0 ? opened : catted(origins);
    const held = places.map((file) => ({ file, texts: files.input(file.text, unseen) }));
    const texts = places.length > 0 ? held.flatMap((one) => one.texts) : input;
    const names = texts.map((text) =>
      isProgram(text) ? null : (patchedBy(text, { strip, into })?.map(literalWord) ?? null),
    );
    if (names.includes(null) || (places.length === 0 && texts.length === 0)) names.push([unseenNames(into)]);
    return {
      names: names.flatMap((some) => some ?? []),
      patches: held.flatMap((one) =>
        one.texts.length === 0 ? [{ file: one.file, strip, into, unseen: unseenNames(into) }] : [],
      ),
    };
  };

  return { written, inputOf, originsOf, printedBy, patchesOf };
}
