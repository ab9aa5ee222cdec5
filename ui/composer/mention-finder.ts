import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { mostPaths } from './completion.ts';
import { matchMentions, type MentionIndex, scanMentions } from './mention-index.ts';

export type MentionFinderDeps = {
  /** What lies below it can be mentioned. */
  readonly root: () => Promise<string>;
  /** Rules of git that stand in no file of the workspace itself. Never throws. */
  readonly gitExcludes: (root: string) => string;
  /** Whether the policy lets a file be read; such as it does not are never offered. */
  readonly readable: (path: string) => Promise<boolean>;
  readonly now: () => number;
  readonly signal: AbortSignal;
};

/** An index that is older is made anew at the next mention. */
const indexMs = 10_000;
/** So many may be looked at for that: of those that fit best, the policy may deny any number. */
const mostLookedAt = 200;
const largeBytes = 1024 * 1024;

/** Finds paths for what is written behind `@` (10 §6.4). */
export function createMentionFinder(deps: MentionFinderDeps) {
  let known: { readonly made: number; readonly index: MentionIndex } | null = null;
  let making: Promise<MentionIndex> | null = null;

  const scanned = async (): Promise<MentionIndex> => {
    const root = await deps.root();
    const index = await scanMentions(root, deps.gitExcludes(root), () => performance.now(), deps.signal);
    known = { made: deps.now(), index };
    return index;
  };
  const fresh = (): Promise<MentionIndex> => {
    making ??= scanned().finally(() => {
      making = null;
    });
    return making;
  };

  /** @returns null where something else is looked for by now */
  const offered = async (
    index: MentionIndex,
    query: string,
    isWanted: () => boolean,
  ): Promise<readonly string[] | null> => {
    const root = await deps.root();
    const found: string[] = [];
    const large: string[] = [];
    for (const path of matchMentions(index, query, mostLookedAt)) {
      if (!isWanted()) return null;
      if (found.length + large.length === mostPaths) break;
      if (await deps.readable(path)) ((await isLarge(join(root, path))) ? large : found).push(path);
    }
    return [...found, ...large];
  };

  /**
   * Tells what fits: at once from what is known, and again where a new look at an old index finds other paths.
   * @param isWanted false once something else is looked for @throws what `readable` throws
   */
  return async (query: string, isWanted: () => boolean, tell: (found: readonly string[]) => void): Promise<void> => {
    const old = known;
    const next = old === null || deps.now() - old.made > indexMs ? fresh() : null;
    const first = old === null ? null : await offered(old.index, query, isWanted);
    if (first !== null && isWanted()) tell(first);
    if (next === null) return;
    const index = await next;
    const second = isWanted() ? await offered(index, query, isWanted) : null;
    if (second !== null && isWanted() && second.join('\n') !== first?.join('\n')) tell(second);
  };
}

async function isLarge(path: string): Promise<boolean> {
  try {
    const { size } = await stat(path);
    return !path.endsWith('/') && size > largeBytes;
  } catch {
    return false;
  }
}
