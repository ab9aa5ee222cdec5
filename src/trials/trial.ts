import { resolve } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import type { LoadedPolicy, PolicyCall } from '../schema/policy.ts';
import { realOf } from '../workspace/paths.ts';
import type { PolicyWanted } from '../workspace/policies.ts';
import { quote } from '../text/quote.ts';
import type { TrialHost } from './judge.ts';

/** Where calls are tried: the root that a run would have, and whether the operator named it. */
export type TrialRoot = { readonly root: string; readonly confined: boolean };

export type TrialDeps = {
  /** The policy as a run would open it. */
  readonly openPolicy: (
    wanted: PolicyWanted,
  ) => Promise<{ current(): LoadedPolicy; readonly warnings: readonly string[] }>;
  /** The machine as the gate sees it in a run with this root; `named` are policy files. */
  readonly hosts: (place: TrialRoot & { readonly named: readonly string[] }) => (cwd: string) => TrialHost;
  /** Real path of the workspace root, and the working directory. */
  readonly workspace: { readonly root: string; readonly cwd: string };
};

/** The directory of a call: a shell call may name one, relative to the root. */
export function directoryOf(call: PolicyCall, base: string): string {
  const { cwd } = call.args;
  return realOf(call.tools === 'local_shell' && typeof cwd === 'string' ? resolve(base, cwd) : base);
}

/** The root of a trial: what `--local-exec-allowed-dir` names, else the workspace root. */
export const rootOf = (deps: TrialDeps, allowedDir: string | null): TrialRoot => ({
  root: allowedDir === null ? deps.workspace.root : realOf(resolve(deps.workspace.cwd, allowedDir)),
  confined: allowedDir !== null,
});

/** The machine for calls that are tried in this root under these policies. */
export const hostsFor = (deps: Pick<TrialDeps, 'hosts'>, place: TrialRoot, ...policies: readonly LoadedPolicy[]) =>
  deps.hosts({ ...place, named: policies.flatMap(({ identity }) => (identity.path === null ? [] : [identity.path])) });

/**
 * A policy that is compared or tested: one that would not be used says nothing about what it was written for.
 * @throws RuntimeError invalid_policy with its findings, and as opening it does
 */
export async function openValid(deps: TrialDeps, wanted: PolicyWanted): Promise<LoadedPolicy> {
  const loaded = (await deps.openPolicy(wanted)).current();
  const { state, path, name } = loaded.identity;
  if (state === 'ok') return loaded;
  const findings = loaded.findings.filter(({ severity }) => severity === 'load');
  const [only] = findings;
  const what =
    only !== undefined && findings.length === 1
      ? `The policy ${path ?? name} is not valid: ${only.message} at ${path ?? name}:${only.path}`
      : `The policy ${path ?? name} is not valid: ${findings.length} defects.`;
  throw new RuntimeError('invalid_policy', what, {
    data: { path, findings },
    hints: [`reins policy vet ${quote(path ?? name)}`],
  });
}
