import { statSync } from 'node:fs';
import { parsePolicy } from '../policy/validate.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { DeclaredPrograms, ProgramChange, ProgramOutcome, TrustingPolicy } from '../schema/overlay.ts';
import type { BinaryFact, LoadedPolicy, TrustFinding } from '../schema/policy.ts';
import { withMember } from '../text/json-member.ts';
import { declaredStates, isCovered } from './declared-binaries.ts';
import { type DocumentPlace, identityOf, readDocument, sha256Of, writeAtomic } from './files.ts';
import { lockPolicies } from './lock-file.ts';
import { realOf, type Workspace } from './paths.ts';
import { failureLines, type Policies } from './policies.ts';
import { editBlock, type Planned, type RawBlock } from './trusted-block.ts';

export type TrustedProgramDeps = {
  readonly workspace: Pick<Workspace, 'root' | 'home'>;
  readonly uid: number | null;
  readonly policies: Pick<Policies, 'openPolicy'>;
  /** The files that starting a program loads, resolved as the evaluator does, the program first. */
  readonly files: (name: string) => readonly string[] | TrustFinding;
  /** Beginning and digest of a file; never rejects. */
  readonly read: (path: string) => Promise<BinaryFact>;
  /** Trusts the new content of a project document. */
  readonly trustContent: (input: {
    readonly path: string;
    readonly sha256: string;
    readonly by: 'command';
  }) => Promise<unknown>;
  /** Records the change (03 §14, type `policy_changed`) in the transaction in which it is written. */
  readonly recorded: (entry: Readonly<Record<string, unknown>>, write: () => void) => void;
  /** How a person would write a path of the user's. */
  readonly shown: (path: string) => string;
  readonly now: () => number;
};

type Action = 'declare' | 'refresh' | 'remove';
type Failure = ProgramChange['failed'][number];
type Plan = { readonly planned: readonly Planned[]; readonly failed: readonly Failure[] };
type Target = TrustingPolicy & { readonly path: string; readonly source: DocumentPlace };

/** The operations behind `policy trust` (02 §14.7). Who may call them is the face's. */
export function createTrustedPrograms(deps: TrustedProgramDeps) {
  /** @throws RuntimeError invalid_policy, or as loading it would */
  const governing = async (policy: string | null): Promise<LoadedPolicy> => {
    const loaded = (await deps.policies.openPolicy({ name: policy, trust: [] })).current();
    if (loaded.identity.state === 'ok') return loaded;
    throw new RuntimeError('invalid_policy', failureLines(loaded).join('\n'));
  };

  /** @throws RuntimeError not_allowed for a built-in policy */
  const targetOf = (loaded: LoadedPolicy): Target => {
    const { name, source, path } = loaded.identity;
    if (source === 'builtin' || path === null) {
      const file = name === 'default' ? 'hitl-policy.json' : `hitl-policy-${name}.json`;
      throw new RuntimeError('not_allowed', `The policy "${name}" is built in and cannot be changed; copy it first.`, {
        hints: [`reins policy show ${name} > ${deps.shown(`${deps.workspace.home}/${file}`)}`],
      });
    }
    return { name, source, path };
  };

  const digestOf = async (path: string): Promise<string | Omit<Failure, 'name'>> => {
    if (realOf(path) !== path)
      return { code: 'link', message: `${path} leads to ${realOf(path)}; declare that instead` };
    const fact = await deps.read(path);
    if (fact.state === 'read' && fact.sha256 !== null) return fact.sha256;
    const why = fact.state === 'unreadable' ? fact.message : 'it was not hashed';
    return { code: why === 'ENOENT' ? 'missing' : 'unreadable', message: `${path} cannot be read: ${why}` };
  };

  /** What a name stands for among what is declared: the path itself, or the files that it resolves to. */
  const declaredFiles = (name: string, hashes: object): readonly string[] => {
    if (Object.hasOwn(hashes, name)) return [name];
    const files = deps.files(name);
    return 'reason' in files ? [] : files.filter((path) => Object.hasOwn(hashes, path));
  };

  const filesFor = (action: Action, name: string, hashes: object): readonly string[] | Failure => {
    if (action === 'declare') {
      const files = deps.files(name);
      return 'reason' in files ? { name, code: files.reason, message: files.detail } : files;
    }
    const [first, ...interpreters] = declaredFiles(name, hashes);
    if (first === undefined) return { name, code: 'undeclared', message: `${name} is not declared in this policy` };
    return action === 'remove' ? [first] : [first, ...interpreters];
  };

  /** Everything that takes time happens before the document is locked. */
  const plan = async (action: Action, names: readonly string[], hashes: object): Promise<Plan> => {
    const planned = new Map<string, Planned>();
    const failed: Failure[] = [];
    for (const name of action === 'refresh' && names.length === 0 ? Object.keys(hashes) : names) {
      const files = filesFor(action, name, hashes);
      if ('code' in files) {
        failed.push(files);
        continue;
      }
      const found: Planned[] = [];
      for (const path of files) {
        const sha256 = action === 'remove' ? null : await digestOf(path);
        if (sha256 === null || typeof sha256 === 'string') found.push({ name, path, sha256 });
        else failed.push({ name, ...sha256 });
      }
      // A script without its interpreter would not be granted: it is declared whole or not at all.
      if (found.length < files.length) continue;
      for (const one of found) if (!planned.has(one.path)) planned.set(one.path, one);
    }
    return { planned: [...planned.values()], failed };
  };

  /** Reads, edits and writes under the lock; what somebody else wrote meanwhile is kept. */
  const write = async (
    target: Target,
    planned: readonly Planned[],
    addDirs: boolean,
  ): Promise<{ programs: readonly ProgramOutcome[]; dirs: readonly string[] }> => {
    const path = realOf(target.path);
    const unlock = await lockPolicies(deps.workspace.home, deps.now);
    try {
      const file = readDocument(target.path, target.source, deps.uid);
      if (!file.ok) throw new RuntimeError('invalid_policy', `The policy ${target.path} is not used: ${file.message}.`);
      const before = new TextDecoder('utf-8', { ignoreBOM: true }).decode(file.bytes);
      await check(target.path, before);
      const edited = editBlock(blockOf(before), planned, (real, dirs) => !addDirs || isCovered(real, dirs));
      if (edited.block === null) return { programs: edited.programs, dirs: [] };
      const after = withMember(before, 'trusted_binaries', edited.block);
      await check(target.path, after);
      if (identityOf(target.path) !== file.identity) {
        throw new RuntimeError('in_use', `The policy ${target.path} was changed by somebody else; try again.`);
      }
      const sha256 = sha256Of(after);
      const changed = edited.programs.filter(({ state }) => state !== 'unchanged');
      const entry = { path: target.path, before: file.sha256, after: sha256, member: 'trusted_binaries' };
      deps.recorded({ ...entry, programs: changed, dirs_added: edited.dirs }, () =>
        writeAtomic(path, after, statSync(path).mode & 0o777),
      );
      if (target.source === 'project') await deps.trustContent({ path: target.path, sha256, by: 'command' });
      return { programs: edited.programs, dirs: edited.dirs };
    } finally {
      unlock();
    }
  };

  return {
    /** What a policy declares, and the state of each file. @throws RuntimeError invalid_policy, or as loading it would */
    async listPrograms({ policy }: { readonly policy: string | null }): Promise<DeclaredPrograms> {
      const loaded = await governing(policy);
      const { name, source, path } = loaded.identity;
      const block = loaded.policy.trusted_binaries;
      const states = await declaredStates(block, { read: deps.read, root: deps.workspace.root });
      const programs = Object.entries(block?.hashes ?? {}).map(([file, sha256]) => {
        const codes = states.filter((state) => state.file === file && state.code !== 'open_dir');
        return { path: file, sha256, state: codes.map(({ code }) => code).join(',') || 'ok' };
      });
      return { policy: { name, source, path }, dirs: block?.dirs ?? [], programs };
    },

    /**
     * Changes the declarations of the policy that governs. Names that fail are reported and leave the others alone; the
     * file is written once, if anything changed.
     * @throws RuntimeError not_allowed (built in), invalid_policy, in_use (locked over 5 s), storage, as loading would
     */
    async trustPrograms(input: {
      readonly policy: string | null;
      readonly action: Action;
      readonly names: readonly string[];
    }): Promise<ProgramChange> {
      const loaded = await governing(input.policy);
      const target = targetOf(loaded);
      const hashes = loaded.policy.trusted_binaries?.hashes ?? {};
      const { planned, failed } = await plan(input.action, input.names, hashes);
      const { programs, dirs } =
        planned.length === 0 ? { programs: [], dirs: [] } : await write(target, planned, input.action === 'declare');
      const before = Object.keys(hashes).length;
      const gone = programs.filter(({ state }) => state === 'removed').length;
      const after = programs.some(({ state }) => state !== 'removed') || before > gone;
      return { policy: target, programs, dirs_added: dirs, failed, pins: { before: before > 0, after } };
    },
  };
}

/** @throws RuntimeError invalid_policy with the first finding */
async function check(path: string, text: string): Promise<void> {
  const { policy, findings } = await parsePolicy(text.replace(/^\ufeff/, ''));
  if (policy !== null) return;
  const [first] = findings;
  const what = first === undefined ? 'is not valid' : `${first.path}: ${first.message} [${first.code}]`;
  throw new RuntimeError('invalid_policy', `The policy ${path} would not be valid: ${what}`);
}

function blockOf(text: string): RawBlock {
  // Validated just before: an object, whose block has this shape or is absent.
  const document = JSON.parse(text.replace(/^\ufeff/, '')) as { readonly trusted_binaries?: RawBlock | null };
  return document.trusted_binaries ?? {};
}
