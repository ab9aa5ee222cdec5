import { basename, isAbsolute, relative, resolve } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import type { UntrustedContent } from '../schema/overlay.ts';
import type { Chains } from './chains.ts';
import { type DocumentFile, readDocument } from './files.ts';
import { realOf, type Workspace } from './paths.ts';
import type { Policies } from './policies.ts';
import type { Trust, TrustEntry } from './trust.ts';

export type TrustOperationDeps = {
  readonly workspace: Pick<Workspace, 'dataDir' | 'root' | 'cwd'>;
  readonly uid: number | null;
  readonly trust: Trust;
  readonly chains: Pick<Chains, 'untrustedChain'>;
  readonly policies: Pick<Policies, 'untrustedPolicy'>;
  /** Records that something is trusted now (03 §14, type `trust`). */
  readonly recorded: (entry: Omit<TrustEntry, 'trustedAt'>) => void;
};

/** The trust operations of `client/operations/oversight.ts`. Who may call them, and the question, is the face's. */
export function createTrustOperations(deps: TrustOperationDeps) {
  const { workspace, trust } = deps;
  return {
    /** What a run with these names would be refused for, chain first. @throws as loading those would. */
    async untrusted(input: {
      readonly chain: 'run' | 'chat';
      readonly chain_path: string | null;
      readonly policy: string | null;
      readonly trust: readonly string[];
    }): Promise<readonly UntrustedContent[]> {
      const chain = deps.chains.untrustedChain({ use: input.chain, path: input.chain_path, trust: input.trust });
      const policy = await deps.policies.untrustedPolicy({ name: input.policy, trust: input.trust });
      return [
        ...(chain === null ? [] : [shown('chain', chain)]),
        ...(policy === null ? [] : [shown('policy', policy)]),
      ];
    },

    /**
     * Trusts a file of this project's data directory, if it still has the hash that was looked at.
     * @throws RuntimeError usage (no such file there), not_trusted (another hash), in_use, config_invalid
     */
    async trustContent(input: {
      readonly path: string;
      readonly sha256: string;
      readonly by: 'prompt' | 'command';
    }): Promise<null> {
      const path = resolve(workspace.cwd, input.path);
      const inside = workspace.dataDir === null ? '..' : relative(realOf(workspace.dataDir), realOf(path));
      if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) {
        throw new RuntimeError(
          'usage',
          `The file ${path} is not in a data directory of this project and needs no trust.`,
        );
      }
      const read = readDocument(path, 'project', deps.uid);
      if (!read.ok) throw new RuntimeError('usage', `The file ${path} cannot be trusted: ${read.message}.`);
      if (read.sha256 !== input.sha256.toLowerCase()) {
        throw new RuntimeError('not_trusted', `The file ${path} has another content now (sha256 ${read.sha256}).`, {
          data: { path, sha256: read.sha256 },
          hints: [`reins trust add ${path}`],
        });
      }
      const kind = basename(path).startsWith('hitl-policy') ? 'policy' : 'chain';
      const subject = { kind, root: workspace.root, path, sha256: read.sha256 } as const;
      await trust.add([subject], input.by);
      deps.recorded({ ...subject, path: relative(workspace.root, realOf(path)), by: input.by });
      return null;
    },
  };
}

export type TrustOperations = ReturnType<typeof createTrustOperations>;

const shown = (kind: UntrustedContent['kind'], file: DocumentFile & { readonly ok: true }): UntrustedContent => ({
  kind,
  path: file.path,
  sha256: file.sha256,
  bytes: file.bytes.length,
  text: new TextDecoder().decode(file.bytes),
});
