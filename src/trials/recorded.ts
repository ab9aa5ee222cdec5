import type { LoadedPolicy, PolicyCall } from '../schema/policy.ts';
import type { TrialHost } from './judge.ts';
import type { RecordedCall } from '../store/recorded-calls.ts';
import { directoryOf, hostsFor, type TrialDeps } from './trial.ts';

/** A recorded call as a policy judges it again; `fault` says why the result is not the one of then. */
export type Retrial = {
  readonly recorded: RecordedCall;
  readonly call: PolicyCall;
  readonly host: TrialHost;
  readonly fault: 'arguments redacted' | 'program no longer resolves' | null;
};

/**
 * The machine for recorded calls. One host serves all calls of a directory: nothing is executed, so what it has looked
 * up may be as old as the first of them.
 */
export function createRetrials(deps: Pick<TrialDeps, 'hosts'>, ...policies: readonly LoadedPolicy[]) {
  const byRoot = new Map<string, (cwd: string) => TrialHost>();
  const byPlace = new Map<string, TrialHost>();
  const hostAt = (root: string, cwd: string): TrialHost => {
    const key = `${root}\0${cwd}`;
    const known = byPlace.get(key);
    if (known !== undefined) return known;
    const hosts = byRoot.get(root) ?? hostsFor(deps, { root, confined: false }, ...policies);
    byRoot.set(root, hosts);
    const host = hosts(cwd);
    byPlace.set(key, host);
    return host;
  };

  return (recorded: RecordedCall): Retrial => {
    const call = callOf(recorded);
    const cwd = recorded.ask?.cwd ?? recorded.record.exec?.cwd ?? directoryOf(call, recorded.workspace);
    const host = hostAt(recorded.workspace, cwd);
    const { exec } = recorded.record;
    const gone = exec?.form === 'argv' && exec.file !== null && host.resolveProgram(exec.argv[0] ?? '', cwd) === null;
    const redacted = JSON.stringify(recorded.args).includes('•••(');
    const fault = redacted ? 'arguments redacted' : gone ? 'program no longer resolves' : null;
    return { recorded, call, host, fault };
  };
}

function callOf({ tools, tool, args }: RecordedCall): PolicyCall {
  const isObject = typeof args === 'object' && args !== null && !Array.isArray(args);
  // True because a value of JSON that is neither a scalar nor a list is an object; every call that was judged has one.
  return { tools, tool, args: isObject ? (args as PolicyCall['args']) : {} };
}

/** How much an action lets through. */
export const rank = { deny: 0, approve: 1, allow: 2 } as const;
