import type { CommandWord, Origin } from '../schema/command.ts';
import type { createNames } from './names.ts';
import { anything, givers, inputOrigins } from './origins.ts';
import { printed } from './printed.ts';
import { baseName } from './programs.ts';
import type { Step } from './script.ts';
import { literalWord } from './words.ts';

/** Commands that take what they read for the values of names. */
export const reading: ReadonlySet<string> = new Set(['read', 'readarray', 'mapfile']);

/** Most words that are kept for what a function is called with. */
const maxParameters = 32;

/** What commands give to names, beside the assignments of a line. */
export function createGivenValues(names: ReturnType<typeof createNames>) {
  const { expand } = names;

  /** Where something may run later than it stands, names may hold by then what the line gives them further on. */
  const foresee = (steps: readonly Step[]): void => {
    const functions = new Set(steps.flatMap((step) => (step.kind === 'function' ? [step.name] : [])));
    for (const step of steps) {
      if (step.kind === 'values' && step.name !== null) {
        const words = step.words.flatMap((word) => expand(word));
        names.mayHold(
          step.name,
          words.flatMap((word) => (word.open ? givers(word) : [])),
        );
      }
      if (step.kind !== 'command') continue;
      const words = step.words.flatMap((word) => expand(word));
      if (reading.has(baseName(words[0]?.text ?? ''))) takes(words, inputOrigins(step, expand));
      if (functions.has(words[0]?.text ?? '') || words[0]?.text === 'set') gives(words.slice(1));
    }
  };

  /** A shell that is started, a function and `set` have their words as `$1` and the others; `shift` moves them. */
  const gives = (words: readonly CommandWord[]): void => {
    const origins = words.filter(({ text }) => !/^-[A-Za-z]+$/.test(text)).flatMap(givers);
    const known = origins.length > maxParameters ? [anything] : origins;
    for (const parameter of '@*0123456789') names.mayHold(parameter, known);
  };

  /** What `env` gives to names, for the shell that it starts. */
  const holdsGiven = (words: readonly CommandWord[]): void => {
    for (const { path, open, unknown } of words) {
      const [, name, text] = /^([A-Za-z_]\w*)=(.*)$/s.exec(path) ?? [];
      if (name === undefined || text === undefined) continue;
      names.mayHold(name, open ? (unknown?.origins ?? []) : [{ kind: 'text', text }]);
    }
  };

  /** A name that is read holds what comes in. */
  const takes = (words: readonly CommandWord[], origins: readonly Origin[]): void => {
    for (const word of words.slice(1)) if (/^[A-Za-z_]\w*$/.test(word.text)) names.mayHold(word.text, origins);
  };

  /** The words behind `printf -v`. */
  const holdsPrinted = ([name, ...rest]: readonly CommandWord[]): void => {
    if (name === undefined || name.open) return;
    const values = printed([literalWord('printf'), ...rest]).map(literalWord);
    names.give(name.text, values, { certain: false, append: false });
    if (rest.some(({ open }) => open)) names.mayHold(name.text, [anything]);
  };

  return { foresee, gives, holdsGiven, takes, holdsPrinted };
}
