import type { CommandWord, Origin } from '../schema/command.ts';
import { isPattern } from '../text/file-pattern.ts';
import type { Kind } from './find-tests.ts';

/** Which paths the text may be that a command prints, or hands to another one. */
export type Reach = {
  /** Below these; null: anywhere on the machine. */
  readonly places: readonly CommandWord[] | null;
  /** Not everything below them: somebody has chosen. */
  readonly chosen: boolean;
  /** Whether it may be a path that exists, which lies in one of the places. */
  admits(path: string, place: string, kind: Kind): boolean;
  /** Whether names at any depth are chosen by a pattern that this one matches. */
  mayBeNamed(name: string): boolean;
  /** What each of these files holds. */
  readonly holding?: Holding;
};

/** Only what is in the line: each of these texts. */
export type Reached = { readonly reaches: readonly Reach[]; readonly texts: readonly string[] };

/** A text that every listed file holds. */
export type Holding = { readonly text: string; readonly folds: boolean };

/** Tells what the texts may be that somebody gives. */
export type ReachOf = (origins: readonly Origin[]) => Reached;

export const nothing: Reached = { reaches: [], texts: [] };
/** Everything in its places. */
export const whole = { chosen: false, admits: () => true, mayBeNamed: () => false };
export const anywhere: Reached = { reaches: [{ ...whole, places: null, chosen: true }], texts: [] };
/** Where the line runs. */
export const here: CommandWord = { text: '.', path: '.', open: false };

export const oneOf = (reach: Reach): Reached => ({ reaches: [reach], texts: [] });

/** Most places and texts of one word: where there are more it may be anything. */
const maxReaches = 64;
const maxTexts = 256;

/** What all of them reach; anything anywhere where that is too much to be looked through. */
export function together(all: readonly Reached[]): Reached {
  const reaches = all.flatMap((one) => one.reaches);
  const texts = [...new Set(all.flatMap((one) => one.texts))];
  return reaches.length > maxReaches || texts.length > maxTexts ? anywhere : { reaches, texts };
}

/** The same places, of whose names nothing is known any more. */
export const unchosen = ({ reaches, texts }: Reached): Reached => ({
  texts,
  reaches: reaches.map(({ holding: _, ...reach }) => ({ ...reach, admits: () => true })),
});

/** A pattern is a text here, and stands for the files that it stands for there. */
export const fromWords = (words: readonly CommandWord[], reachOf: ReachOf): Reached =>
  together(
    words.map(({ unknown, open, path }) => {
      if (unknown !== undefined) return unchosen(reachOf(unknown.origins));
      return open && isPattern(path) ? { reaches: [], texts: [path] } : nothing;
    }),
  );
