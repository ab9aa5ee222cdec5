import { rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { insertRule } from '../policy/insert-rule.ts';
import { parsePolicy } from '../policy/validate.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { LoadedPolicy } from '../schema/policy.ts';
import type { AddedRule, WrittenRule } from '../schema/policy-views.ts';
import { quote } from '../text/quote.ts';
import { exists, sha256Of, writeAtomic } from './files.ts';
import type { Workspace } from './paths.ts';
import type { Policies } from './policies.ts';
import { copyOfPreset } from './presets/copies.ts';
import { isPresetName } from './presets/policies.ts';
import { lockPolicies } from './lock-file.ts';

export type AddRuleDeps = {
  readonly workspace: Pick<Workspace, 'dataDir' | 'home'>;
  readonly policies: Pick<Policies, 'openPolicy'>;
  readonly now: () => number;
  /** Records the change (03 §14, type `rule_added`) and makes it, in one transaction: no rule without its row. */
  readonly record: RecordRule;
  /** Makes a policy of the user the one that governs (config `hitl-policy-name`). @returns what takes that back */
  readonly govern: (name: string) => Promise<() => Promise<unknown>>;
};

/** Calls `write` once, or throws: then nothing was written. */
export type RecordRule = (entry: RuleEntry, write: () => void) => void;

/** What the audit log tells of an added rule. */
export type RuleEntry = {
  readonly path: string;
  readonly rule: WrittenRule;
  readonly index: number;
  readonly sha256: string;
  readonly copied_from: string | null;
};

/** A rule, its place, and the digest of the policy that was looked at. */
type NewRule = { readonly rule: WrittenRule; readonly index: number; readonly sha256: string };

/** Where a rule would be written: the governing file of the user, or a copy of what governs. */
type Target = { readonly path: string; readonly text: string; readonly mode: number; readonly copy: string | null };

/** Adds a rule to the user's own policy (03 §9), never to a file of a project. */
export function createAddRule(deps: AddRuleDeps) {
  const { workspace } = deps;

  const targetOf = ({ identity, text }: LoadedPolicy): Target => {
    const { name, source, path } = identity;
    if (path !== null && (source === 'user' || dirname(path) === workspace.home))
      return { path, text, mode: modeOf(path), copy: null };
    const written = source === 'builtin' && isPresetName(name) ? copyOfPreset(name) : text;
    const copy = freeName(name);
    return { path: join(workspace.home, `hitl-policy-${copy}.json`), text: written, mode: 0o600, copy };
  };

  /** A name under which the copy hides nothing and is hidden by nothing. */
  const freeName = (name: string): string => {
    const taken = (one: string): boolean =>
      [workspace.dataDir, workspace.home].some(
        (directory) => directory !== null && exists(join(directory, `hitl-policy-${one}.json`)),
      );
    const base = /^[a-z0-9][a-z0-9_-]{0,50}$/.test(name) ? name : 'mine';
    const names = [base, `${base}-mine`, ...Array.from({ length: 98 }, (_, index) => `${base}-mine-${index + 2}`)];
    const free = names.find((one) => !taken(one));
    if (free === undefined) throw new RuntimeError('already_exists', `every name like ${base}-mine is taken`);
    return free;
  };

  /**
   * A copy that changes nothing governs before the rule stands in it: a process that dies in between leaves a rule that
   * holds, and never one in a file that nobody reads (03 §15).
   */
  const copyFirst = async ({ path, text, mode }: Target, name: string): Promise<() => Promise<void>> => {
    writeAtomic(path, text, mode);
    const takeBack = await deps.govern(name);
    return async () => {
      try {
        await takeBack();
        rmSync(path, { force: true });
      } catch {
        // A full disk: the copy says what governed before.
      }
    };
  };

  const targetOfPolicy = (loaded: LoadedPolicy) => {
    const { path, copy } = targetOf(loaded);
    return { path, copy };
  };

  const write = async (
    read: () => Promise<LoadedPolicy>,
    { rule, index, sha256: seen }: NewRule,
    record: RecordRule,
  ): Promise<AddedRule> => {
    const unlock = await lockPolicies(workspace.home, deps.now);
    try {
      const loaded = await read();
      if (loaded.identity.sha256 !== seen) throw changedSince();
      const target = targetOf(loaded);
      const text = await withRule(target, rule, index, loaded);
      const sha256 = sha256Of(text);
      const copied_from = target.copy === null ? null : loaded.identity.name;
      const takeBack = target.copy === null ? null : await copyFirst(target, target.copy);
      try {
        record({ path: target.path, rule, index, sha256, copied_from }, () =>
          writeAtomic(target.path, text, target.mode),
        );
      } catch (error) {
        await takeBack?.();
        throw error;
      }
      return { path: target.path, sha256, copy: target.copy };
    } finally {
      unlock();
    }
  };

  const open = async (input: { readonly policy: string | null; readonly trust: readonly string[] }) =>
    (await deps.policies.openPolicy({ name: input.policy, trust: input.trust })).current();

  return {
    targetOfPolicy,

    /**
     * As `addRule`, to a policy that is read under the lock, recorded by who adds it. `record` may refuse by throwing.
     * @throws as `addRule`
     */
    addRuleTo: write,

    /** Where `addRule` would write. @throws as opening the policy does */
    ruleTarget: async (input: { readonly policy: string | null; readonly trust: readonly string[] }) =>
      targetOfPolicy(await open(input)),

    /**
     * Inserts the text of one rule and nothing else: read again, validated, written beside, renamed, under a lock.
     * @throws RuntimeError binding_changed when the policy is not the one that was looked at, in_use (locked),
     * invalid_policy, storage
     */
    addRule: (
      input: NewRule & { readonly policy: string | null; readonly trust: readonly string[] },
    ): Promise<AddedRule> => write(() => open(input), input, deps.record),
  };
}

/** What was shown is not what would be written. */
const changedSince = (): RuntimeError =>
  new RuntimeError('binding_changed', 'the policy has changed since the rule was shown; nothing was written', {
    hints: ['reins policy suggest --write'],
  });

/** The new text, after it was read as a policy that differs by that rule and by nothing else. */
async function withRule(target: Target, rule: WrittenRule, index: number, loaded: LoadedPolicy): Promise<string> {
  const text = insertRule(target.text, index, JSON.stringify(rule));
  const parsed = text === null ? null : await parsePolicy(text);
  const before = loaded.policy.rules.length;
  if (text === null || parsed?.policy?.rules.length !== before + 1) {
    throw new RuntimeError('invalid_policy', `The rule does not fit into ${target.path}; nothing was written.`, {
      data: { path: target.path, findings: parsed?.findings ?? [] },
      hints: [`reins policy vet ${quote(target.path)}`],
    });
  }
  return text;
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;
