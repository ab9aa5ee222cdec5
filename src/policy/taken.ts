/** An existing directory that a command takes whole. */
export type Taken = {
  readonly given: string;
  readonly real: string;
  readonly changes: boolean;
  readonly opens: boolean;
  /** How `given` stands to what it holds. */
  readonly verb?: 'may be' | 'is compared with';
  /** Only what this holds for is taken. */
  readonly admits?: (path: string) => boolean;
  /** It is chosen by names, and may have this one wherever it lies. */
  readonly mayBeNamed?: (name: string) => boolean;
  /** Nobody knows what, anywhere on the machine. */
  readonly anywhere?: true;
  /** The path itself, not what lies in it. */
  readonly exactly?: true;
  /** What an option keeps out of it, by the path from the directory on. */
  readonly leaves?: (inner: string) => boolean;
  /** It is put there, and need not have been there before. */
  readonly arrives?: true;
  /** Of the program nothing says that it changes what it is given: only what is ours counts. */
  readonly unsure?: true;
};

/** Most directories of a line that are looked at: beyond them it may take any. */
const maxTaken = 128;

/** As few of them as are worth a look; more than that stand for all there is. */
export function bounded(taken: readonly Taken[]): readonly Taken[] {
  if (taken.length <= maxTaken) return taken;
  const seen = new Set<string>();
  const others = taken.filter((one) => {
    const { given: _, ...same } = one;
    if (one.admits !== undefined || one.mayBeNamed !== undefined || one.leaves !== undefined) return true;
    const key = JSON.stringify(same);
    return !seen.has(key) && seen.add(key).size > 0;
  });
  return others.length <= maxTaken ? others : [everything(taken.some(({ changes }) => changes))];
}

/** More than is looked at. */
export const everything = (changes: boolean): Taken => ({
  given: 'more than is looked at',
  real: '/',
  changes,
  opens: false,
});
