import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type AllowedDir, allowedDirs } from '../chain/allowed-dirs.ts';
import { readChain } from '../chain/document.ts';
import { chainGraph } from '../chain/graph.ts';
import { type ModelNames, modelNames } from '../chain/model-names.ts';
import { mayUse } from '../chain/providers.ts';
import { type Chain, type Finding, isModelHandler } from '../schema/chain.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { ChainGraph } from '../schema/document-views.ts';
import type { ChainRow, ChainVetFile, ShownChain } from '../schema/overlay.ts';
import {
  type DocumentFile,
  exists,
  findDocument,
  isDocumentPath,
  layersOf,
  listJson,
  readDocument,
  sha256Of,
} from './files.ts';
import {
  type ChainFinderDeps,
  chainFinder,
  chainNotFound,
  type ChainWanted,
  type FoundChain,
  isOther,
} from './find-chain.ts';
import { realOf, realPlaceOf } from './paths.ts';
import { findingsForPlans, isPlanChainUse, planChainFindings } from './plan-chains.ts';
import { isShippedChain, type ShippedChainName, shippedChains } from './presets/chains.ts';
import type { Trust } from './trust.ts';
import { notTrusted } from './untrusted.ts';
import { nearest } from '../text/nearest.ts';
import { quote } from '../text/quote.ts';
import { cautionsOf, invalidChain, unreadable, unreadableFinding, worstOf } from './chain-faults.ts';

export type ChainDeps = ChainFinderDeps & {
  readonly uid: number | null;
  readonly trust: Trust;
  /** Tool providers that are registered beside the built-in ones, for vet's warning; absent: it warns of none. */
  readonly providers?: () => readonly string[];
};

/** A chain that may run: read once, trusted, vetted (04 §2.5). What was hashed is what runs. */
export type RunnableChain = {
  readonly id: string;
  readonly path: string | null;
  readonly sha256: string;
  /** The text as read, kept with the run. */
  readonly source: string;
  /** Normalised JSON text for the worker. */
  readonly text: string;
  /** Whether `--steps` tells inputs and outputs in full (04 §3). */
  readonly debug: boolean;
  /** Whether any task speaks to a model: without one nothing is probed (08 §12.3). */
  readonly has_model_task: boolean;
  /** Whether the input of a run is what a model reads, rather than what a tool is given. */
  readonly begins_with_model: boolean;
  /** The models that must be ready, with the variables of a run; null where the run itself tells what is missing. */
  modelNames(
    variables: Readonly<Record<string, string>>,
    defaults: { readonly model: string; readonly provider: string },
  ): ModelNames | null;
  /** Whether any task may call a tool of this provider, or this one. */
  mayUse(provider: string, tool?: string): boolean;
  /** The most that a task lets a model answer, in tokens; null where none says so, or in words that only a run knows. */
  readonly max_tokens: number | null;
  /** Where its tasks narrow the root, as far as that is known before a run. */
  readonly allowed_dirs: readonly AllowedDir[];
  /** What `chain vet` would warn of, as what the chain has: `3 warnings`; null where it does not. */
  readonly caution: string | null;
  readonly warnings: readonly string[];
};

type ModelNamesArguments = Parameters<RunnableChain['modelNames']>;

/** What a run asks of a chain before it begins. */
const factsOf = (chain: Chain, text: string) => ({
  text,
  debug: chain.debug === true,
  has_model_task: chain.tasks.some(({ handler }) => isModelHandler(handler)),
  begins_with_model: chain.tasks.slice(0, 1).some(({ handler }) => isModelHandler(handler)),
  modelNames: (...given: ModelNamesArguments) => modelNames(chain, ...given),
  mayUse: (provider: string, tool?: string) => mayUse(chain, provider, tool),
  max_tokens: mostTokens(chain),
  allowed_dirs: allowedDirs(chain),
});

function mostTokens({ tasks }: Chain): number | null {
  const said = tasks.map((task) => Number.parseInt(String(task.execute_config?.max_tokens ?? ''), 10));
  return said.reduce<number | null>((most, tokens) => (tokens > (most ?? 0) ? tokens : most), null);
}

/** What cannot be looked at is for the reading to tell of. */
function isEmptyFile(path: string): boolean {
  try {
    return statSync(path).size === 0;
  } catch {
    return false;
  }
}

type Readable = DocumentFile & { readonly ok: true };

/** Chains by use, path or name: found, read, trusted, vetted (04 §2). */
export function createChains(deps: ChainDeps) {
  const { workspace, trust } = deps;
  const read = (source: Uint8Array | string) =>
    readChain(source, deps.providers === undefined ? {} : { providers: deps.providers() });

  const isTrusted = (file: Readable, accepted: readonly string[]): boolean =>
    trust.isTrusted({ kind: 'chain', root: workspace.root, path: file.path, sha256: file.sha256 }, accepted);

  const locate = chainFinder(deps);
  const readFound = (found: FoundChain): Readable => {
    if (found.place === 'builtin') return shipped(found.path);
    const file = readDocument(found.path, found.place, deps.uid);
    if (!file.ok) throw unreadable(file);
    return file;
  };

  /** A chain by path or name, for people: trusted or not, it is only shown. */
  const open = (name: string): DocumentFile | { readonly ok: true; readonly path: string; readonly bytes: string } => {
    if (isDocumentPath(name)) {
      const path = resolve(workspace.cwd, name);
      // Of a file of a layer it is shown what a run makes of it, which names it otherwise.
      const layer = layersOf(workspace).find(({ directory }) => realOf(directory) === dirname(realPlaceOf(path)));
      if (exists(path)) return readDocument(path, layer?.place ?? 'file', deps.uid);
    }
    const file = name.endsWith('.json') ? name : `${name}.json`;
    // `chain show <name> > .reins/<name>.json` has an empty file there before the program begins: it is no copy yet.
    const layers = layersOf(workspace).filter(
      ({ directory }) => !(isShippedChain(file) && isEmptyFile(join(directory, file))),
    );
    const found = file.includes('/') || isOther(file) ? null : findDocument(layers, file);
    if (found !== null) return readDocument(found.path, found.place, deps.uid);
    if (isShippedChain(file)) return { ok: true, path: file, bytes: shippedChains[file] };
    const path = resolve(workspace.cwd, name);
    if (exists(path)) return readDocument(path, 'file', deps.uid);
    throw chainNotFound(`There is no chain "${name}"${isDocumentPath(name) ? `: no file ${path}` : ''}.`, [
      ...nearest(name, names(), 2, 1).map((near) => `reins chain show ${quote(near)}`),
      'reins chain list',
    ]);
  };

  /** What a name finds, without looking into any. */
  const names = (): readonly string[] => {
    const files = layersOf(workspace).flatMap(({ directory }) => listJson(directory).filter((file) => !isOther(file)));
    return [...new Set([...files, ...Object.keys(shippedChains)])].map((file) => file.slice(0, -'.json'.length));
  };

  const rows = async (): Promise<readonly ChainRow[]> => {
    const seen = new Set<string>();
    const listed: ChainRow[] = [];
    for (const { place, directory } of layersOf(workspace)) {
      for (const file of listJson(directory)) {
        if (isOther(file) || seen.has(file)) continue;
        const path = join(directory, file);
        const document = readDocument(path, place, deps.uid);
        const believed = place === 'user' || (document.ok && isTrusted(document, []));
        seen.add(file);
        listed.push({
          name: file.slice(0, -'.json'.length),
          // What is not trusted is not parsed (11 §4.4).
          id: document.ok && believed ? idOf(document.bytes) : null,
          source: place,
          path,
          trust: place === 'user' ? 'user' : believed ? 'trusted' : 'untrusted',
          sha256: document.ok ? document.sha256 : '',
        });
      }
    }
    for (const [file, text] of Object.entries(shippedChains)) {
      if (seen.has(file)) continue;
      const name = file.slice(0, -'.json'.length);
      listed.push({ name, id: idOf(text), source: 'builtin', path: null, trust: 'builtin', sha256: sha256Of(text) });
    }
    return listed.sort((a, b) => (a.name < b.name ? -1 : 1));
  };

  /** A chain that nobody wrote down: whoever sends it has read it. */
  const chainOfText = async (source: string): Promise<RunnableChain> => {
    const { chain, text, findings } = await read(source);
    if (chain === null) throw invalidChain('chain_document', findings);
    return {
      id: chain.id,
      path: null,
      sha256: sha256Of(source),
      source,
      ...factsOf(chain, text),
      ...cautionsOf('chain_document', findings),
    };
  };

  const loaded = async (wanted: ChainWanted): Promise<RunnableChain> => {
    const found = locate(wanted);
    const file = readFound(found);
    if (found.place === 'project' && !isTrusted(file, wanted.trust)) throw notTrusted('chain', file);
    const { chain, text, findings } = await read(file.bytes);
    if (chain === null) throw invalidChain(file.path, findings);
    const unfit = isPlanChainUse(wanted.use) ? planChainFindings(wanted.use, chain) : [];
    if (unfit.length > 0) throw invalidChain(file.path, unfit);
    return {
      id: chain.id,
      path: found.place === 'builtin' ? null : file.path,
      sha256: file.sha256,
      source: new TextDecoder().decode(file.bytes),
      ...factsOf(chain, text),
      ...cautionsOf(file.path, findings, file.warnings),
    };
  };

  /** What loading the file would refuse and warn of, also where only a plan loads it. */
  const vetted = async ({
    path,
    bytes,
  }: {
    readonly path: string;
    readonly bytes: Uint8Array | string;
  }): Promise<readonly Finding[]> => {
    const { chain, findings } = await read(bytes);
    return [...findings, ...findingsForPlans(path, chain)];
  };

  return {
    /**
     * Loads the chain of a run. @throws RuntimeError chain_not_found, chain_untrusted with `{kind, path, sha256, bytes}`,
     * chain_invalid with all findings
     */
    async loadChain(wanted: ChainWanted & { readonly text?: string | undefined }): Promise<RunnableChain> {
      return wanted.text === undefined ? loaded(wanted) : chainOfText(wanted.text);
    },

    /**
     * A chain that a run stored when it began: trusted and vetted then, and the only text that the run executes (04 §2.5).
     * @throws RuntimeError chain_invalid when this version does not accept it
     */
    async storedChain(
      stored: { readonly chain_id: string; readonly chain_path: string | null; readonly chain_sha256: string },
      source: string,
    ): Promise<RunnableChain> {
      const { chain, text, findings } = await read(source);
      if (chain === null) throw invalidChain(stored.chain_path ?? stored.chain_id, findings);
      return {
        id: stored.chain_id,
        path: stored.chain_path,
        sha256: stored.chain_sha256,
        source,
        ...factsOf(chain, text),
        caution: null,
        warnings: [],
      };
    },

    /** The project file that `loadChain` would refuse as untrusted; null when there is none. @throws as that does. */
    untrustedChain(wanted: ChainWanted): Readable | null {
      const found = locate(wanted);
      if (found.place !== 'project') return null;
      const file = readFound(found);
      return isTrusted(file, wanted.trust) ? null : file;
    },

    /** Every chain that a name finds, sorted; one that is not trusted is not parsed. */
    async listChains(): Promise<readonly ChainRow[]> {
      return rows();
    },

    /** Normalised JSON of a chain by path or name, with the hash of what is stored; a shipped one as it ships. */
    async showChain(input: { readonly name: string }): Promise<ShownChain> {
      const found = open(input.name);
      if (!found.ok) throw unreadable(found);
      const { chain, findings } = await read(found.bytes);
      if (chain === null) throw invalidChain(found.path, findings);
      const text = typeof found.bytes === 'string' ? found.bytes : `${JSON.stringify(chain, null, 2)}\n`;
      return { id: chain.id, sha256: sha256Of(found.bytes), text };
    },

    /** The picture of a chain by path or name. @throws RuntimeError chain_not_found, chain_invalid */
    async graphChain(input: { readonly name: string }): Promise<ChainGraph> {
      const found = open(input.name);
      if (!found.ok) throw unreadable(found);
      const { chain, findings } = await read(found.bytes);
      if (chain === null) throw invalidChain(found.path, findings);
      return chainGraph(chain);
    },

    /** Whether what a config key names can be used, told when it is set: later an ask would just find nobody. */
    async configuredChainFault(input: { readonly key: 'default-chain' | 'attention-chain' }) {
      const use = input.key === 'attention-chain' ? 'attention' : 'chat';
      if ((deps.configured(use) ?? '') === '') return { fault: null };
      try {
        await loaded({ use, path: null, trust: [] });
        return { fault: null };
      } catch (error) {
        if (error instanceof RuntimeError) return { fault: error.message };
        throw error;
      }
    },

    /** All findings of the given paths or names; without any, of every chain of the overlay. */
    async vetChains(input: { readonly paths: readonly string[] }): Promise<readonly ChainVetFile[]> {
      const wanted = input.paths.length > 0 ? input.paths : (await rows()).map(({ path, name }) => path ?? name);
      const files: ChainVetFile[] = [];
      for (const name of wanted) {
        const found = open(name);
        const findings = found.ok ? await vetted(found) : [unreadableFinding(found)];
        files.push({ path: found.path, worst: worstOf(findings), findings });
      }
      return files;
    },
  };
}

export type Chains = ReturnType<typeof createChains>;

const shipped = (file: ShippedChainName): Readable => {
  const bytes = new TextEncoder().encode(shippedChains[file]);
  return { ok: true, path: file, bytes, sha256: sha256Of(bytes), identity: '', warnings: [] };
};

/** The `id` member of a document that is believed; null when there is none. */
function idOf(source: Uint8Array | string): string | null {
  try {
    const value: unknown = JSON.parse(typeof source === 'string' ? source : new TextDecoder().decode(source));
    if (typeof value !== 'object' || value === null || !('id' in value)) return null;
    return typeof value.id === 'string' ? value.id : null;
  } catch {
    return null;
  }
}
