import type { CommandTables } from '../schema/command-tables.ts';
import type { LoadedPolicy, PolicyIdentity } from '../schema/policy.ts';
import type { PrepareDeps } from '../runs/ports.ts';
import { createCatalog } from '../tools/catalog.ts';
import type { TrialDeps } from '../trials/trial.ts';
import type { Policies } from '../workspace/policies.ts';
import type { RoomsInput } from './rooms-input.ts';
import type { ArgumentNames } from './tool-sources.ts';

export type TrialInput = Pick<RoomsInput, 'workspace'> & {
  readonly policies: Policies;
  readonly prepare: PrepareDeps;
};

/** What every trial of a policy stands on: documents as a run opens them, and the machine as the gate sees it. */
export function trialDeps({ workspace, policies, prepare }: TrialInput) {
  let tables: CommandTables | undefined;
  /** The operator's tables are read with the policy, as for a run; every trial begins with one. */
  const withTables = async <T>(body: () => Promise<T>): Promise<T> => {
    ({ tables } = await prepare.commandTables());
    return body();
  };
  const trial: TrialDeps = {
    openPolicy: (wanted) => withTables(() => policies.openPolicy(wanted)),
    hosts: (place) => {
      const environment = prepare.environment('trial', prepare.settings().shell_env);
      return prepare.hosts({ ...place, path: environment['PATH'] ?? '', tables });
    },
    workspace,
  };
  return {
    ...trial,
    policyNow: (identity: PolicyIdentity): Promise<LoadedPolicy> => withTables(() => policies.policyNow(identity)),
  };
}

/**
 * Every argument that a tool declares; it takes no others. Null for a tool that is not known.
 * @param registered those of hooks and tool servers
 */
export const argumentNamesWith =
  (prepare: PrepareDeps, registered: ArgumentNames): ArgumentNames =>
  (tools, tool) => {
    const found = createCatalog(prepare.tools({ shell: true, plans: true })).find(tools, tool);
    const properties: unknown = found?.spec.input_schema['properties'];
    return typeof properties === 'object' && properties !== null ? Object.keys(properties) : registered(tools, tool);
  };
