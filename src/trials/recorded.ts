import type { LoadedPolicy, PolicyCall, PolicyHost } from '../schema/policy.ts';
import type { RecordedCall } from '../store/recorded-calls.ts';
import { directoryOf, hostsFor, type TrialDeps } from './trial.ts';

/** A recorded call as a policy judges it again, or why that says nothing. */
export type Retrial =
  | { readonly ok: true; readonly call: PolicyCall; readonly host: PolicyHost }
  | { readonly ok: false; readonly why: 'arguments redacted' | 'program no longer resolves' };

/**
 * The machine for recorded calls. One host serves all calls of a directory: nothing is executed, so what it has looked
 * up may be as old as the first of them.
 */
export function createRetrials(deps: TrialDeps, ...policies: readonly LoadedPolicy[]) {
  const byRoot = new Map<string, (cwd: string) => PolicyHost>();
  const byPlace = new Map<string, PolicyHost>();
  const hostAt = (root: string, cwd: string): PolicyHost => {
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
    if (call === null || JSON.stringify(call.args).includes('•••(')) return { ok: false, why: 'arguments redacted' };
    const cwd = recorded.ask?.cwd ?? recorded.record.exec?.cwd ?? directoryOf(call, recorded.workspace);
    const host = hostAt(recorded.workspace, cwd);
    const { exec } = recorded.record;
    const gone = exec?.form === 'argv' && exec.file !== null && host.resolveProgram(exec.argv[0] ?? '', cwd) === null;
    return gone ? { ok: false, why: 'program no longer resolves' } : { ok: true, call, host };
  };
}

/** Null for arguments that are no object: such a call was never judged. */
function callOf({ tools, tool, args }: RecordedCall): PolicyCall | null {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return null;
  // True because a value of JSON that is neither a scalar nor a list is an object.
  return { tools, tool, args: args as PolicyCall['args'] };
}

/** How much an action lets through. */
export const rank = { deny: 0, approve: 1, allow: 2 } as const;
