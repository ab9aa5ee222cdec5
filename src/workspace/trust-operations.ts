import { basename, isAbsolute, join, relative, resolve } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import { instructionsName } from '../schema/instructions.ts';
import type { FormerTrust, TrustRow, TrustView, UntrustedContent } from '../schema/overlay.ts';
import { quote } from '../text/quote.ts';
import type { Chains } from './chains.ts';
import { type DocumentFile, readDocument, sha256Of } from './files.ts';
import type { ChainUse } from './find-chain.ts';
import { realOf, type Workspace } from './paths.ts';
import type { Policies } from './policies.ts';
import { shippedChains } from './presets/chains.ts';
import type { Trust, TrustEntry, TrustSubject } from './trust.ts';

type Readable = DocumentFile & { readonly ok: true };

/** Texts that were trusted, by their hash; `text` may give nothing, or another text, which is then not used. */
export type TrustedTexts = {
  keep(bytes: Uint8Array): void;
  text(sha256: string): Uint8Array | string | null;
};

export type TrustOperationDeps = {
  readonly workspace: Pick<Workspace, 'dataDir' | 'root' | 'cwd'>;
  readonly uid: number | null;
  readonly trust: Trust;
  readonly chains: Pick<Chains, 'untrustedChain'>;
  readonly policies: Pick<Policies, 'untrustedPolicy'>;
  readonly texts: TrustedTexts;
  /** User-level directory. */
  readonly home: string;
  /** Whether a text of instructions came into their file by a call that nobody was asked about. */
  readonly withheld: (path: string, sha256: string) => boolean;
  /** Whether instructions of projects are given to models at all. */
  readonly instructions: () => boolean;
  /** Unified diff of two versions of the named file; null when there is none that is whole. */
  readonly diff: (name: string, before: Uint8Array, after: Uint8Array) => Promise<string | null>;
  /** Records that something is trusted now, or no longer (03 §14, type `trust`). */
  readonly recorded: (entry: Omit<TrustEntry, 'trustedAt'> & { readonly removed?: true }) => void;
};

/** The trust operations of `client/operations/oversight.ts`. Who may call them, and the question, is the face's. */
export function createTrustOperations(deps: TrustOperationDeps) {
  const { workspace, trust } = deps;

  const subjectOf = (kind: TrustSubject['kind'], { path, sha256 }: Readable): TrustSubject => ({
    kind,
    root: (kind === 'agent' ? instructedBy(path) : undefined) ?? workspace.root,
    path,
    sha256,
  });

  /** The bytes of a trusted version; what does not have its hash is not that version. */
  const textOf = (sha256: string): Uint8Array | null => {
    const candidates = [deps.texts.text(sha256), ...Object.values(shippedChains)];
    const found = candidates.find((text) => text !== null && sha256Of(text) === sha256) ?? null;
    return typeof found === 'string' ? new TextEncoder().encode(found) : found;
  };

  const formerOf = async (subject: TrustSubject, bytes: Uint8Array): Promise<FormerTrust | null> => {
    const entry = trust.latest(subject);
    if (entry === undefined) return null;
    const before = textOf(entry.sha256);
    const diff = before === null ? null : await deps.diff(relative(subject.root, subject.path), before, bytes);
    return { sha256: entry.sha256, trusted_at: entry.trustedAt, diff };
  };

  /** The project's instructions for agents, where nothing of the project is trusted yet: then they are given to nobody. */
  const waitingInstructions = (): Readable | null => {
    const path = join(workspace.root, instructionsName);
    if (!deps.instructions() || trust.list().some(({ root }) => root === workspace.root)) return null;
    const file = readDocument(path, 'project', deps.uid);
    return file.ok && file.bytes.length > 0 && realOf(path) === path ? file : null;
  };

  /** Files with instructions whose text a call has put there unasked: no trust in anything else lets that through. */
  const changedInstructions = (): readonly Readable[] =>
    [workspace.root, deps.home].flatMap((root) => {
      const path = join(root, instructionsName);
      const file = readDocument(realOf(path), placeIn(root), deps.uid);
      return file.ok && deps.withheld(path, file.sha256) ? [file] : [];
    });

  const placeIn = (root: string): 'project' | 'user' => (root === workspace.root ? 'project' : 'user');

  /** The root whose instructions a path is, by its own name or by that of a link. */
  const instructedBy = (path: string): string | undefined =>
    [workspace.root, deps.home].find((root) => realOf(join(root, instructionsName)) === realOf(path));

  const shown = async (kind: TrustSubject['kind'], file: Readable): Promise<UntrustedContent> => ({
    kind,
    path: file.path,
    sha256: file.sha256,
    bytes: file.bytes.length,
    text: new TextDecoder().decode(file.bytes),
    former: await formerOf(subjectOf(kind, file), file.bytes),
    ...(kind === 'agent' || waitingInstructions() === null ? {} : { brings: instructionsName }),
  });

  /**
   * Reads a file of this project's data directory, or one with instructions.
   * @throws RuntimeError not_found when it cannot be read, usage when it lies elsewhere
   */
  const readInside = (given: string): { readonly kind: 'chain' | 'policy' | 'agent'; readonly file: Readable } => {
    const path = resolve(workspace.cwd, given);
    const root = instructedBy(path);
    const file =
      root === undefined
        ? readDocument(path, 'project', deps.uid)
        : readDocument(realOf(path), placeIn(root), deps.uid);
    if (!file.ok) {
      throw new RuntimeError('not_found', `${given} cannot be read: ${file.message}`, { hints: ['reins trust'] });
    }
    if (root !== undefined) return { kind: 'agent', file };
    const inside = workspace.dataDir === null ? '..' : relative(realOf(workspace.dataDir), realOf(path));
    if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) {
      throw new RuntimeError(
        'usage',
        `The file ${path} is not in a data directory of this project and needs no trust.`,
        { hints: ['reins trust'] },
      );
    }
    return { kind: basename(path).startsWith('hitl-policy') ? 'policy' : 'chain', file };
  };

  return {
    /** What a run with these names would be refused for, chain first. @throws as loading those would. */
    async untrusted(input: {
      readonly chain: Exclude<ChainUse, 'attention'> | null;
      readonly chain_path: string | null;
      readonly policy: string | null;
      readonly trust: readonly string[];
      readonly review?: boolean | undefined;
    }): Promise<readonly UntrustedContent[]> {
      const chain =
        input.chain === null
          ? null
          : deps.chains.untrustedChain({ use: input.chain, path: input.chain_path, trust: input.trust });
      const policy = await deps.policies.untrustedPolicy({ name: input.policy, trust: input.trust });
      const waiting = input.review === true ? waitingInstructions() : null;
      const changed = input.review === true ? changedInstructions() : [];
      const agents =
        changed.some(({ path }) => path === waiting?.path) || waiting === null ? changed : [waiting, ...changed];
      return [
        ...(chain === null ? [] : [await shown('chain', chain)]),
        ...(policy === null ? [] : [await shown('policy', policy)]),
        ...(await Promise.all(
          agents.map(async (file) => ({
            ...(await shown('agent', file)),
            ...(changed.includes(file) ? { changed: true as const } : {}),
          })),
        )),
      ];
    },

    /**
     * Trusts a file of this project's data directory, if it still has the hash that was looked at.
     * @throws RuntimeError not_found, usage (it lies elsewhere), not_trusted (another hash), in_use, config_invalid
     */
    async trustContent(input: {
      readonly path: string;
      readonly sha256: string;
      readonly by: 'prompt' | 'command';
    }): Promise<null> {
      const { kind, file } = readInside(input.path);
      const { path, sha256 } = file;
      if (sha256 !== input.sha256.toLowerCase()) {
        throw new RuntimeError('not_trusted', `The file ${path} has another content now (sha256 ${sha256}).`, {
          data: { path, sha256 },
          hints: [`reins trust show ${quote(path)}`],
        });
      }
      const subject = subjectOf(kind, file);
      deps.texts.keep(file.bytes);
      await trust.add([subject], input.by);
      deps.recorded({ ...subject, path: relative(subject.root, realOf(path)), by: input.by });
      return null;
    },

    /** Every decision of this user, newest first. @throws RuntimeError config_invalid */
    async listTrust(): Promise<readonly TrustRow[]> {
      return trust
        .list()
        .map(({ trustedAt, ...entry }) => ({ ...entry, trusted_at: trustedAt }))
        .reverse();
    },

    /** A file of this project's data directory, whether trusted or not. @throws RuntimeError not_found, usage */
    async showTrust(input: { readonly path: string }): Promise<TrustView> {
      const { kind, file } = readInside(input.path);
      const decision = trust.decision(subjectOf(kind, file));
      if (decision === undefined) return { ...(await shown(kind, file)), trusted: null };
      const { path, sha256, bytes } = file;
      const text = new TextDecoder().decode(bytes);
      const trusted = { at: decision.trustedAt, by: decision.by };
      return { kind, path, sha256, bytes: bytes.length, text, former: null, trusted };
    },

    /** Withdraws the decisions about a file, or about a hash anywhere. @throws RuntimeError not_found, in_use */
    async removeTrust(input: { readonly what: string }): Promise<readonly TrustRow[]> {
      const isHash = /^[0-9a-f]{64}$/i.test(input.what);
      const removed = await trust.remove(
        isHash ? { sha256: input.what } : { path: resolve(workspace.cwd, input.what) },
      );
      if (removed.length === 0) {
        throw new RuntimeError('not_found', `nothing is trusted under ${input.what}`, { hints: ['reins trust list'] });
      }
      return removed.map(({ trustedAt, ...entry }) => {
        deps.recorded({ ...entry, removed: true });
        return { ...entry, trusted_at: trustedAt };
      });
    },
  };
}

export type TrustOperations = ReturnType<typeof createTrustOperations>;
