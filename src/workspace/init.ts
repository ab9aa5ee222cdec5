import { accessSync, chmodSync, constants, mkdirSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import { instructionsName } from '../schema/instructions.ts';
import { quote } from '../text/quote.ts';
import { lookAt, systemReason, writeFault } from '../text/system-reason.ts';
import { codeOf } from '../text/thrown.ts';
import { exists, type FileToWrite, readDocument, sha256Of, writeTogether } from './files.ts';
import { dataDirFault, dataDirIn, isUserDirectory, realOf, type Workspace } from './paths.ts';
import { initialChains, shippedChains } from './presets/chains.ts';
import type { Trust } from './trust.ts';

/** What `init <provider>` adds beyond files (06 §14.3); in production the registry's and the store's. */
export type ProviderSetUp = {
  /** The database of the data directory, when this run made or found it. */
  readonly database: { readonly path: string; readonly action: 'created' | 'kept' } | null;
  readonly settings: readonly { readonly key: string; readonly value: string }[];
  /** Next steps, for stderr. */
  readonly notes: readonly string[];
};

export type InitDeps = {
  readonly workspace: Pick<Workspace, 'cwd' | 'home' | 'dataDir'>;
  /** `--data-dir` or `REINS_DATA_DIR`; null = `.reins` in the working directory. */
  readonly dataDirFlag: string | null;
  readonly uid: number | null;
  readonly trust: Trust;
  /** Types that `init` takes (06 §3). */
  readonly providers: readonly string[];
  readonly setUpProvider: (provider: string, dataDir: string) => Promise<ProviderSetUp>;
  /** Names of the backends in the database that was in use here until now, if it is not that of the directory. */
  readonly backendsBefore: (dataDir: string) => Promise<readonly string[]>;
};

type FileAction = { readonly path: string; readonly action: 'created' | 'kept' | 'replaced' };

const ignored = 'local.db*\nplans/\n*.bak\n*.tmp-*\n';

/** Writes `.gitignore` of a data directory if there is none (11 §1.1): by `init`, and when its database is made. */
export function ensureIgnoreFile(dataDir: string): readonly FileAction[] {
  return writeNew([{ path: join(dataDir, '.gitignore'), text: ignored }], false);
}

/** `reins init` (06 §14). Running it twice changes nothing. */
export function createInitialise(deps: InitDeps) {
  return {
    /**
     * Creates the data directory and what belongs into it; what is written is trusted.
     * @throws RuntimeError usage (unknown provider, user-level directory), config_invalid (directory not safe), storage
     */
    async initialise(input: { readonly provider: string | null; readonly force: boolean }): Promise<{
      readonly dataDir: string;
      readonly files: readonly FileAction[];
      readonly settings: readonly { readonly key: string; readonly value: string }[];
      readonly notes: readonly string[];
    }> {
      if (input.provider !== null && !deps.providers.includes(input.provider)) {
        throw new RuntimeError(
          'usage',
          `There is no provider type "${input.provider}"; the types are ${deps.providers.join(', ')}.`,
        );
      }
      const dataDir = deps.dataDirFlag ?? dataDirIn(deps.workspace.cwd);
      const warnings = checkPlace(dataDir);
      checkReadable(dataDir);
      const planned = initialChains.map((name) => ({ path: join(dataDir, name), text: shippedChains[name] }));
      // Before anything is written: a chain that nobody may run is worse than none.
      await trustOf(
        dataDir,
        planned.filter(({ path }) => input.force || !exists(path)),
      );
      const made = makeDirectory(dataDir);
      let files: readonly FileAction[];
      try {
        files = writeNew([...planned, { path: join(dataDir, '.gitignore'), text: ignored }], input.force);
      } catch (error) {
        removeMade(dataDir, made);
        throw error;
      }
      const before = await deps.backendsBefore(dataDir);
      const provider = input.provider === null ? null : await deps.setUpProvider(input.provider, dataDir);
      return {
        dataDir,
        files: [...files, ...(provider?.database == null ? [] : [provider.database])],
        settings: provider?.settings ?? [],
        notes: [...warnings, ...instructionNotes(dirname(dataDir)), ...leftNotes(before), ...(provider?.notes ?? [])],
      };
    },
  };

  /** @returns what the operator should know of the place. */
  function checkPlace(dataDir: string): string[] {
    const { workspace } = deps;
    if (isUserDirectory(dataDir, workspace.home)) {
      throw new RuntimeError('usage', `The directory ${dataDir} is the user-level directory; run init in a project.`);
    }
    const fault = dataDirFault(dataDir, deps.uid);
    if (deps.dataDirFlag === null && fault !== null && fault !== 'missing') {
      throw new RuntimeError('config_invalid', `The directory ${dataDir} cannot be used: it ${fault}.`, {
        hints: [`ls -ld ${quote(dataDir)}`, 'reins init --data-dir <directory>'],
      });
    }
    if (deps.dataDirFlag !== null || workspace.dataDir === null || realOf(workspace.dataDir) === realOf(dataDir))
      return [];
    return [`The project data directory ${workspace.dataDir} above is not used below this directory any more.`];
  }

  /** The text that will be written is trusted, not what a file may hold by then. */
  async function trustOf(
    dataDir: string,
    chains: readonly { readonly path: string; readonly text: string }[],
  ): Promise<void> {
    if (chains.length === 0) return;
    const root = realOf(dirname(dataDir));
    await deps.trust.add(
      chains.map(({ path, text }) => ({ kind: 'chain', root, path, sha256: sha256Of(text) })),
      'init',
    );
  }
}

/** Who makes a project of a directory lets what is written there for agents be given to them. */
const instructionNotes = (root: string): string[] =>
  exists(join(root, instructionsName))
    ? [`The model is given ${instructionsName} of this project; reins config set project-instructions false ends that.`]
    : [];

/** Who registered first and made the project then has what he registered elsewhere. */
const leftNotes = (backends: readonly string[]): string[] =>
  backends.length === 0
    ? []
    : [`A project has backends of its own: register here what you registered before (${backends.join(', ')}).`];

/** Nothing can be said of files that cannot be looked at. @throws RuntimeError storage */
function checkReadable(dataDir: string): void {
  try {
    accessSync(dataDir, constants.R_OK | constants.X_OK);
  } catch (error) {
    if (codeOf(error) !== 'EACCES' || !exists(dataDir)) return;
    throw new RuntimeError('storage', `The directory ${dataDir} cannot be looked at: ${systemReason(error)}.`, {
      cause: error,
      hints: [lookAt(error, dataDir)],
    });
  }
}

/** @returns the topmost directory that was made for it; null when all were there. */
function makeDirectory(path: string): string | null {
  try {
    const made = mkdirSync(path, { recursive: true, mode: 0o700 }) ?? null;
    if (made !== null) chmodSync(path, 0o700);
    return made;
  } catch (error) {
    throw new RuntimeError(writeFault(error), `The directory ${path} cannot be made: ${systemReason(error)}.`, {
      cause: error,
      hints: [lookAt(error, dirname(path))],
    });
  }
}

/** Takes back what `makeDirectory` made: a data directory without chains would be found from every directory below. */
function removeMade(path: string, made: string | null): void {
  if (made === null) return;
  try {
    rmdirSync(path);
  } catch {
    // Something else came into it meanwhile.
    return;
  }
  if (path !== made) removeMade(dirname(path), made);
}

/**
 * Leaves a file that is there alone, or keeps it as `<file>.bak` when it is to be replaced. All are written or none.
 * @throws RuntimeError config_invalid, storage
 */
function writeNew(
  wanted: readonly { readonly path: string; readonly text: string }[],
  force: boolean,
): readonly FileAction[] {
  const planned = wanted.map(({ path, text }): { readonly did: FileAction; readonly files: readonly FileToWrite[] } => {
    const isThere = exists(path);
    if (isThere && !force) return { did: { path, action: 'kept' }, files: [] };
    const file = { path, text, mode: 0o644 };
    if (!isThere) return { did: { path, action: 'created' }, files: [file] };
    const old = readDocument(path, 'project', null);
    if (!old.ok) throw new RuntimeError('config_invalid', `The file ${path} cannot be replaced: ${old.message}.`);
    return {
      did: { path, action: 'replaced' },
      files: [{ path: `${path}.bak`, text: old.bytes, mode: 0o600 }, file],
    };
  });
  writeTogether(planned.flatMap(({ files }) => files));
  return planned.map(({ did }) => did);
}
