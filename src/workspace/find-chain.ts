import { basename, isAbsolute, join, relative, resolve } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import { quote } from '../text/quote.ts';
import { type DocumentPlace, exists, findDocument, isDocumentPath, layersOf } from './files.ts';
import { realOf, realPlaceOf, type Workspace } from './paths.ts';
import { isPlanChainUse, type PlanChainUse, planChainFiles } from './plan-chains.ts';
import { isShippedChain, type ShippedChainName } from './presets/chains.ts';

export type ChainFinderDeps = {
  readonly workspace: Pick<Workspace, 'dataDir' | 'home' | 'root' | 'cwd'>;
  /** Config keys `default-chain` and `attention-chain`; null or empty when they are not set. */
  readonly configured: (use: 'chat' | 'attention') => string | null;
};

/** `attention`: the chain that may answer asks (03 §7). */
export type ChainUse = 'run' | 'chat' | 'attention' | PlanChainUse;

export type ChainWanted = {
  readonly use: ChainUse;
  /** A path that the operator typed; null = the default of that use. */
  readonly path: string | null;
  /** Name of a chain of the overlay, in place of a path. */
  readonly name?: string | undefined;
  /** Hashes accepted for this invocation (`--trust`). */
  readonly trust: readonly string[];
};

export type FoundChain =
  | { readonly place: DocumentPlace; readonly path: string }
  | { readonly place: 'builtin'; readonly path: ShippedChainName };

export const defaultFiles = { run: 'default-run-chain.json', chat: 'default-chain.json' } as const;
/** Files of ours in a layer that are no chains. */
const otherFiles: ReadonlySet<string> = new Set(['trust.json', 'keys.json', 'config.json', 'command-tables.json']);
export const isOther = (file: string): boolean =>
  otherFiles.has(file) || file.startsWith('hitl-policy') || file.endsWith('.policy-test.json');

/** Where the chain of a use lies (04 §2.4). The function throws RuntimeError chain_not_found. */
export function chainFinder(deps: ChainFinderDeps): (wanted: ChainWanted) => FoundChain {
  const { workspace } = deps;

  /** The file of a use (04 §2.4). A path that the operator typed is his consent; all below the data directory is not. */
  const locate = (wanted: ChainWanted): FoundChain => {
    if (wanted.path !== null) {
      const path = resolve(workspace.cwd, wanted.path);
      if (!exists(path)) throw noChainFile(path, wanted.use, workspace.dataDir);
      return { place: 'file', path };
    }
    if (wanted.name !== undefined) return named(wanted.name);
    if (wanted.use === 'attention') return answering();
    if (isPlanChainUse(wanted.use)) {
      const file = planChainFiles[wanted.use];
      return findDocument(layersOf(workspace), file) ?? { place: 'builtin', path: file };
    }
    const configured = wanted.use === 'chat' ? deps.configured('chat') || null : null;
    if (configured !== null) return placed(configuredPath(configured, 'default-chain'));
    const path = workspace.dataDir === null ? null : join(workspace.dataDir, defaultFiles[wanted.use]);
    if (path === null || !exists(path)) {
      const where = path === null ? 'no data directory' : `no ${path}`;
      throw chainNotFound(`No chain found: there is ${where}, and no --chain was given.`, [
        'reins init',
        `reins ${wanted.use} --chain <path>`,
      ]);
    }
    return { place: 'project', path };
  };

  /** The chain that may answer asks: by path, or by name in the project, beside the user's own, and shipped (06 §6.4). */
  const answering = (): FoundChain => {
    const configured = deps.configured('attention') || null;
    if (configured === null) throw chainNotFound('No chain may answer asks: config attention-chain is not set.', []);
    if (isDocumentPath(configured)) return placed(configuredPath(configured, 'attention-chain'));
    const found = inOverlay(configured);
    if (found !== null) return found;
    throw missingChain('attention-chain', `"${configured}"`);
  };

  const inOverlay = (name: string): FoundChain | null => {
    const file = name.endsWith('.json') ? name : `${name}.json`;
    const found = isOther(file) || file.includes('/') ? null : findDocument(layersOf(workspace), file);
    return found ?? (isShippedChain(file) ? { place: 'builtin', path: file } : null);
  };

  const named = (name: string): FoundChain => {
    const found = inOverlay(name);
    if (found !== null) return found;
    throw chainNotFound(`There is no chain "${name}".`, ['reins chain list']);
  };

  const configuredPath = (configured: string, key: 'default-chain' | 'attention-chain'): string => {
    const bases = [workspace.cwd, ...(workspace.dataDir === null ? [] : [workspace.dataDir])];
    const paths = isAbsolute(configured) ? [configured] : bases.map((base) => resolve(base, configured));
    const path = paths.find(exists);
    if (path !== undefined) return path;
    throw missingChain(key, paths.join(' and '));
  };

  /** Whether a path that nobody typed lies in the project's data directory, or leads into it: then it needs trust. */
  const placed = (path: string): FoundChain => ({
    place: isInProject(realPlaceOf(path)) || isInProject(realOf(path)) ? 'project' : 'file',
    path,
  });
  const isInProject = (real: string): boolean => {
    if (workspace.dataDir === null) return false;
    const inside = relative(realOf(workspace.dataDir), real);
    return inside !== '' && !inside.startsWith('..') && !isAbsolute(inside);
  };

  return locate;
}

export const chainNotFound = (message: string, hints: readonly string[]): RuntimeError =>
  new RuntimeError('chain_not_found', message, { hints });

/** A path that was typed and leads nowhere, with the file that was probably meant. */
function noChainFile(path: string, use: ChainUse, dataDir: string | null): RuntimeError {
  const inProject = dataDir === null ? [] : [join(dataDir, basename(path)), join(dataDir, `${basename(path)}.json`)];
  const meant = [`${path}.json`, ...inProject].find(exists);
  const command = use === 'chat' ? 'chat' : 'run';
  return chainNotFound(`There is no chain ${path}, which --chain names.`, [
    ...(meant === undefined ? [] : [`reins ${command} --chain ${quote(meant)}`]),
    'reins chain list',
    `reins chain show default-run-chain > ${quote(path)}`,
  ]);
}

const missingChain = (key: 'default-chain' | 'attention-chain', where: string): RuntimeError =>
  chainNotFound(`The chain of config ${key} is missing: ${where}.`, [
    `reins config set ${key} <path>`,
    `reins config unset ${key}`,
  ]);
