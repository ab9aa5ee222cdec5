import { lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isBelow } from '../policy/trusted.ts';
import type { BinaryFact, BinaryState, TrustedBinaries } from '../schema/policy.ts';
import { dataPath } from '../text/strict-json.ts';
import { realOf } from './paths.ts';

export type DeclaredDeps = {
  /** Beginning and digest of a file; never rejects. */
  readonly read: (path: string) => Promise<BinaryFact>;
  /** Workspace root: what lies in it can be written by tools. */
  readonly root: string;
};

/** Whether one of the directories covers the file; links are resolved on their side (02 §10.3). */
export const isCovered = (real: string, dirs: readonly string[]): boolean =>
  dirs.some((directory) => isBelow(real, realOf(directory), process.platform));

/**
 * How the declarations of a block stand to the files that they name (02 §10, declaration states): what holds is not
 * reported. Directories first, then files, each in the order of the document. Never rejects.
 */
export async function declaredStates(
  block: TrustedBinaries | null,
  deps: DeclaredDeps,
): Promise<readonly BinaryState[]> {
  if (block === null) return [];
  const root = realOf(deps.root);
  const open = block.dirs.flatMap((path, index): readonly BinaryState[] => {
    const why = openDirectory(realOf(path), root);
    const at = `$.trusted_binaries.dirs[${index}]`;
    return why === null ? [] : [{ at, code: 'open_dir', file: path, message: why, found: null }];
  });
  const files = await Promise.all(Object.entries(block.hashes).map((entry) => fileStates(entry, block.dirs, deps)));
  return [...open, ...files.flat()];
}

/** Who may put a file into a trusted directory that nobody has looked at; null when only its owner may. */
function openDirectory(real: string, root: string): string | null {
  if (real === root || isBelow(real, root, process.platform)) return 'lies in the workspace, where tools write';
  for (let at = real; ; at = dirname(at)) {
    const mode = modeOf(at);
    // Above it, the sticky bit keeps what is there from being replaced by others.
    const open = (mode & 0o002) !== 0 && (at === real || (mode & 0o1000) === 0);
    if (open) return at === real ? 'can be written by others' : `lies in ${at}, which can be written by others`;
    if (dirname(at) === at) return null;
  }
}

/** Nothing of what is not there, and of what may not be looked at: nobody is granted anything through it. */
function modeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  } catch {
    return 0;
  }
}

async function fileStates(
  [path, digest]: readonly [string, string],
  dirs: readonly string[],
  { read }: DeclaredDeps,
): Promise<readonly BinaryState[]> {
  const state = (code: BinaryState['code'], message: string, found: string | null = null): BinaryState => ({
    at: dataPath('$.trusted_binaries.hashes', path),
    code,
    file: path,
    message,
    found,
  });
  const link = linkState(path);
  if (link !== null) return [state(link.code, link.message)];
  const outside =
    dirs.length > 0 && !isCovered(path, dirs) ? [state('outside_dirs', 'lies in no trusted directory')] : [];
  const fact = await read(path);
  if (fact.state !== 'read' || fact.sha256 === null) {
    const why = fact.state === 'unreadable' ? fact.message : 'it was not hashed';
    return [...outside, state('unreadable', `cannot be read: ${why}`)];
  }
  if (fact.sha256 === digest.toLowerCase()) return outside;
  return [...outside, state('mismatch', `has another content now, sha256 ${fact.sha256}`, fact.sha256)];
}

function linkState(path: string): { readonly code: 'missing' | 'link'; readonly message: string } | null {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { code: 'missing', message: 'is not there' };
  } catch {
    // Closed to us: what cannot be read is said by who reads it.
    return null;
  }
  const real = realOf(path);
  return real === path ? null : { code: 'link', message: `leads to ${real}; a declared link never matches` };
}
