import { dirname } from 'node:path';
import type { ProgramOutcome } from '../schema/overlay.ts';

/** The block as it stands in the file, annotations included. */
export type RawBlock = {
  readonly dirs?: readonly string[] | null;
  readonly hashes?: Readonly<Record<string, string>> | null;
};

/** One file to declare with this digest, or to take out (null). */
export type Planned = { readonly name: string; readonly path: string; readonly sha256: string | null };

export type Edited = {
  /** Null when nothing changes. */
  readonly block: RawBlock | null;
  readonly programs: readonly ProgramOutcome[];
  /** Directories that were added because those there cover not every file. */
  readonly dirs: readonly string[];
};

/**
 * Puts declarations into a block, or takes them out. A list of directories is never started, only continued: an empty
 * one trusts every place (02 §14.7).
 */
export function editBlock(
  block: RawBlock,
  planned: readonly Planned[],
  isCovered: (path: string, dirs: readonly string[]) => boolean,
): Edited {
  const hashes = { ...block.hashes };
  const dirs = [...(block.dirs ?? [])];
  const started = dirs.length;
  const programs: ProgramOutcome[] = [];
  for (const { name, path, sha256 } of planned) {
    const old = Object.hasOwn(hashes, path) ? (hashes[path]?.toLowerCase() ?? null) : null;
    if (sha256 === null) {
      delete hashes[path];
      if (old !== null) programs.push({ name, path, state: 'removed', sha256: old, previous: null });
      continue;
    }
    const state = old === null ? 'declared' : old === sha256 ? 'unchanged' : 're-declared';
    if (state !== 'unchanged') hashes[path] = sha256;
    programs.push({ name, path, state, sha256, previous: state === 're-declared' ? old : null });
    if (started > 0 && !isCovered(path, dirs)) dirs.push(dirname(path));
  }
  const added = dirs.slice(started);
  if (added.length === 0 && programs.every(({ state }) => state === 'unchanged')) {
    return { block: null, programs, dirs: [] };
  }
  return { block: { ...block, ...(started > 0 ? { dirs } : {}), hashes }, programs, dirs: added };
}
