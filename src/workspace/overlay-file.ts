import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import { ensureUserDirectory } from '../store/user-directory.ts';
import { checkMatch } from '../schema/match.ts';
import { type DocumentFile, exists, layersOf, readDocument, writeAtomic } from './files.ts';
import { lockPolicies } from './lock-file.ts';
import type { Workspace } from './paths.ts';

export type Layer = 'project' | 'user';
export type OverlaySource = Layer | 'builtin';

export type OverlayDeps = {
  readonly workspace: Pick<Workspace, 'dataDir' | 'home'>;
  readonly uid: number | null;
  readonly now: () => number;
  /** Trusts what was written into a project: whoever saves it here has seen it (amendment 15). */
  readonly trustContent: (input: { path: string; sha256: string; by: 'command' }) => Promise<unknown>;
  /** Records the change in the audit log and tells the feed of it. */
  readonly changed: (document: 'policy' | 'chain', file: string, sha256: string | null) => void;
};

/** Where a document of the overlay stands. */
type OverlayPlace =
  | { readonly source: Layer; readonly path: string; readonly file: DocumentFile }
  | { readonly source: 'builtin' };

export type Preconditions = {
  readonly if_match?: string | undefined;
  /** `*` = only where nothing is there. */
  readonly if_none_match?: string | undefined;
};

/**
 * Files of the overlay that a surface reads, writes and removes as documents (09 §6.7, §6.8), under the lock of the
 * documents.
 * @param isBuiltin whether a document of that file name ships with the program
 */
export function createOverlayFiles(deps: OverlayDeps, kind: 'policy' | 'chain', isBuiltin: (file: string) => boolean) {
  const { workspace } = deps;
  const directoryOf = (layer: Layer): string => {
    const found = layersOf(workspace).find(({ place }) => place === layer);
    if (found !== undefined) return found.directory;
    throw new RuntimeError('not_found', 'There is no project here to keep it in.', { data: { param: 'source' } });
  };
  const notThere = (file: string): RuntimeError => new RuntimeError('not_found', `There is no ${kind} ${file}.`);

  /** The document that counts, or the one of a layer. @throws RuntimeError not_found */
  const find = (file: string, source?: OverlaySource): OverlayPlace => {
    if (source !== 'builtin') {
      for (const { place, directory } of layersOf(workspace)) {
        const path = join(directory, file);
        if ((source === undefined || source === place) && exists(path)) {
          return { source: place, path, file: readDocument(path, place, deps.uid) };
        }
      }
    }
    if ((source === undefined || source === 'builtin') && isBuiltin(file)) return { source: 'builtin' };
    throw notThere(file);
  };
  const has = (file: string): OverlayPlace | null => {
    try {
      return find(file);
    } catch {
      return null;
    }
  };
  const tagOf = (place: OverlayPlace): string =>
    place.source !== 'builtin' && place.file.ok ? place.file.sha256 : 'unreadable';
  const locked = async <T>(body: () => Promise<T>): Promise<T> => {
    ensureUserDirectory(workspace.home);
    const unlock = await lockPolicies(workspace.home, deps.now);
    try {
      return await body();
    } finally {
      unlock();
    }
  };

  return {
    find,
    has,

    /**
     * Replaces or creates a file, if it is still what the caller has read.
     * @param check refuses the text by throwing; called before anything is written
     * @throws RuntimeError precondition_required, precondition_failed, read_only_document, storage
     */
    write: (
      file: string,
      text: string,
      layer: Layer | undefined,
      wanted: Preconditions,
      check: () => Promise<void>,
    ): Promise<{ readonly created: boolean }> =>
      locked(async () => {
        const there = has(file);
        const target = layer ?? (there === null || there.source === 'builtin' ? 'user' : there.source);
        const path = join(directoryOf(target), file);
        const present = exists(path);
        if (wanted.if_none_match === '*') {
          if (present) {
            throw new RuntimeError('precondition_failed', `${file} is there already.`, {
              data: { param: 'If-None-Match' },
            });
          }
        } else if (there?.source === 'builtin' && !present && wanted.if_match !== undefined) {
          throw new RuntimeError('read_only_document', `${file} is built in: create a copy with If-None-Match: *.`);
        } else if (!present && wanted.if_match !== undefined) {
          throw new RuntimeError('precondition_failed', `${file} is gone.`, { data: { param: 'If-Match' } });
        } else checkMatch(present ? tagOf(find(file, target)) : '', wanted.if_match);
        await check();
        writeAtomic(path, text, present ? statSync(path).mode & 0o777 : 0o600);
        const written = readDocument(path, target, deps.uid);
        if (!written.ok) throw new RuntimeError('storage', `${file} cannot be read back: ${written.message}.`);
        if (target === 'project') await deps.trustContent({ path, sha256: written.sha256, by: 'command' });
        deps.changed(kind, file, written.sha256);
        return { created: !present };
      }),

    /**
     * @param check refuses by throwing
     * @throws RuntimeError not_found, precondition_required, precondition_failed, read_only_document
     */
    remove: (
      file: string,
      layer: Layer | undefined,
      wanted: Preconditions,
      check: (path: string) => void,
    ): Promise<null> =>
      locked(async () => {
        const place = find(file, layer);
        if (place.source === 'builtin') throw new RuntimeError('read_only_document', `${file} is built in.`);
        checkMatch(tagOf(place), wanted.if_match);
        check(place.path);
        rmSync(place.path);
        deps.changed(kind, file, null);
        return null;
      }),
  };
}
