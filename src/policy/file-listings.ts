import type { CommandWord } from '../schema/command.ts';
import { baseName } from '../shell/programs.ts';
import { findTests, type Kind } from './find-tests.ts';
import { anywhere, fromWords, here, oneOf, type Reached, type ReachOf, together } from './reach.ts';
import { spelled } from './taken-along.ts';

/** What those print that list directories: `find`, `ls`, `fd`, `tree`, `du`. */

/** What `find` prints. */
export function found(rest: readonly CommandWord[], reachOf: ReachOf): Reached {
  if (rest.some(({ text }) => /^-(files0-from|printf|fprintf)$/.test(text))) return anywhere;
  const tests = findTests(rest);
  // Of a word that comes to nothing no place is left.
  const places = tests.places.every(({ open }) => open) ? [here, ...tests.places] : tests.places;
  // Where it begins only the run knows: what it asks of names holds there too.
  const elsewhere = fromWords(places, reachOf).reaches.map((reach) => ({
    ...reach,
    chosen: tests.narrowed,
    admits: (path: string, _place: string, kind: Kind) => tests.mayGiveName(baseName(path), kind),
    mayBeNamed: tests.asksFor,
  }));
  const own = oneOf({
    places,
    chosen: tests.narrowed,
    admits: (path, place, kind) => places.some((given) => tests.mayGive(spelled(path, place, given.path), kind)),
    mayBeNamed: tests.asksFor,
  });
  return together([own, { reaches: elsewhere, texts: [] }]);
}

/** Everything below some directories; without a dot where only an option shows such names. */
export function listed(
  rest: readonly CommandWord[],
  operands: readonly CommandWord[],
  hidden: RegExp | null,
  directories = false,
): Reached {
  const given = operands.filter(({ text }) => !text.startsWith('-'));
  const all = hidden === null || rest.some((word) => mayBeOption(word) || hidden.test(word.text));
  return oneOf({
    places: given.every(({ open }) => open) ? [here, ...given] : given,
    chosen: false,
    admits: (path, place, kind) =>
      (directories || kind === 'other' || kind === 'unknown') && (all || !/(^|\/)\./.test(path.slice(place.length))),
    mayBeNamed: () => false,
  });
}

/** It prints names that another program looks for where the line is. */
export function ls(rest: readonly CommandWord[]): Reached {
  const options = rest.filter((word) => mayBeOption(word) || word.text.startsWith('-'));
  const all = options.some(mayBeOption) || options.some(({ text }) => /^-[a-zA-Z0-9]*[aAf]|^--al/.test(text));
  const deep = options.some(({ text }) => /^-[a-zA-Z0-9]*R|^--rec/.test(text));
  return oneOf({
    places: [here, ...rest.filter(({ text }) => !text.startsWith('-'))],
    chosen: false,
    admits: (path, place) => {
      const inner = path.slice(place === '/' ? 1 : place.length + 1);
      if (path === place) return all;
      return (deep || !inner.includes('/')) && (all || !/(^|\/)\./.test(inner));
    },
    mayBeNamed: () => false,
  });
}

/** What the shell puts in for it may begin with a dash. */
const mayBeOption = ({ text, open }: CommandWord): boolean => open && /^[-$`]/.test(text);
