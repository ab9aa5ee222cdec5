import { readChain } from '../chain/document.ts';
import { chainGraph } from '../chain/graph.ts';
import type { Finding } from '../schema/chain.ts';
import type { ChainDocument, ChainListed, DocumentFinding } from '../schema/document-views.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { Chains } from './chains.ts';
import { sha256Of } from './files.ts';
import { type ChainFinderDeps, type ChainUse, chainFinder, isOther } from './find-chain.ts';
import {
  createOverlayFiles,
  type Layer,
  type OverlayDeps,
  type OverlaySource,
  type Preconditions,
} from './overlay-file.ts';
import { findingsForPlans } from './plan-chains.ts';
import { isShippedChain, shippedChains } from './presets/chains.ts';
import type { Trust } from './trust.ts';

export type ChainRouteDeps = OverlayDeps & {
  readonly root: string;
  readonly trust: Pick<Trust, 'isTrusted'>;
  readonly chains: Pick<Chains, 'listChains'>;
  readonly finder: ChainFinderDeps;
  /** Names of registered tool providers. */
  readonly providers: readonly string[] | undefined;
  /** Id of a run that has not ended and began with the file; null when there is none. */
  readonly runOnChain: (path: string) => string | null;
};

type Named = { readonly file: string };

/** Chains as documents (09 §6.8). */
export function createChainRoutes(deps: ChainRouteDeps) {
  const files = createOverlayFiles(deps, 'chain', isShippedChain);
  const locate = chainFinder(deps.finder);
  const read = (source: Uint8Array | string) =>
    readChain(source, deps.providers === undefined ? {} : { providers: deps.providers });

  const get = async (file: string, source?: OverlaySource): Promise<ChainDocument> => {
    checkFile(file);
    const place = files.find(file, source);
    if (place.source === 'builtin') {
      const text = isShippedChain(file) ? shippedChains[file] : '';
      return { file, source: 'builtin', text, sha256: sha256Of(text), ...(await judged(text, file)), trusted: true };
    }
    const { file: document } = place;
    if (!document.ok) {
      const finding = { severity: 'error', code: document.fault, path: '', message: document.message };
      const nothing = { text: '', sha256: '', valid: false, findings: [finding], graph: null, trusted: false };
      return { file, source: place.source, ...nothing };
    }
    const { bytes, sha256, path } = document;
    const trusted = place.source === 'user' || deps.trust.isTrusted({ kind: 'chain', root: deps.root, path, sha256 });
    const text = new TextDecoder().decode(bytes);
    return { file, source: place.source, text, sha256, ...(await judged(bytes, file)), trusted };
  };

  /** @param file its name, by which a plan finds it; null where it has none yet */
  const judged = async (source: Uint8Array | string, file: string | null) => {
    const { chain, findings: own } = await read(source);
    const findings = file === null ? own : [...own, ...findingsForPlans(file, chain)];
    return {
      valid: chain !== null && !findings.some(isError),
      findings: findings.map(shown),
      graph: chain === null ? null : chainGraph(chain),
    };
  };

  /** Path, or shipped name, of the chain of a use; null where it leads nowhere. */
  const defaultOf = (use: ChainUse): string | null => {
    try {
      return locate({ use, path: null, trust: [] }).path;
    } catch {
      return null;
    }
  };

  return {
    async pageChains(): Promise<readonly ChainListed[]> {
      const defaults = (['chat', 'run'] as const).map((use) => ({ use, path: defaultOf(use) }));
      const rows = await deps.chains.listChains();
      return Promise.all(
        rows.map(async ({ name, id, source, sha256, path, trust }) => {
          const file = `${name}.json`;
          const trusted = trust !== 'untrusted';
          // What is not trusted is not parsed (11 §4.4).
          const known = trusted ? await get(file, source) : null;
          return {
            file,
            id,
            source,
            sha256,
            valid: known?.valid ?? false,
            trusted,
            default_for: defaults.filter((one) => one.path === (path ?? file)).map(({ use }) => use),
            task_count: known?.graph?.nodes.length ?? 0,
          };
        }),
      );
    },

    getChain: ({ file, source }: Named & { readonly source?: OverlaySource | undefined }) => get(file, source),

    /** @throws RuntimeError chain_invalid with all structural findings; nothing is written then */
    async putChain({
      file,
      text,
      source,
      ...wanted
    }: Named & Preconditions & { readonly text: string; readonly source?: Layer | undefined }) {
      checkFile(file);
      const { created } = await files.write(file, text, source, wanted, async () => {
        const { valid, findings } = await judged(text, file);
        if (valid) return;
        const errors = findings.filter(isError);
        const count = errors.length === 1 ? 'it has a defect' : `it has ${errors.length} defects`;
        throw new RuntimeError('chain_invalid', `${file} is not written: ${count}.`, {
          data: { param: errors[0]?.path, findings },
        });
      });
      return { ...(await get(file, source)), created };
    },

    /** @throws RuntimeError in_use while a run uses it */
    async deleteChain({ file, source, ...wanted }: Named & Preconditions & { readonly source?: Layer | undefined }) {
      checkFile(file);
      return files.remove(file, source, wanted, (path) => {
        const run = deps.runOnChain(path);
        if (run !== null) throw new RuntimeError('in_use', `${file} is used by ${run}.`, { data: { param: run } });
      });
    },

    validateChain: ({ text }: { readonly text: string }) => judged(text, null),
  };
}

function checkFile(file: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}\.json$/.test(file) && !isOther(file)) return;
  throw new RuntimeError('not_found', `There is no chain ${file}.`);
}

const isError = ({ severity }: Pick<DocumentFinding, 'severity'>): boolean => severity === 'error';

const shown = ({ severity, code, path, message }: Finding): DocumentFinding => ({ severity, code, path, message });
