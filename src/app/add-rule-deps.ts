import type { AddRuleDeps } from '../workspace/add-rule.ts';
import type { RoomsInput } from './rooms-input.ts';
import type { TrialInput } from './trial-deps.ts';

/** What adding a rule to the operator's own policy takes, with the row of the audit log that it leaves. */
export function addRuleDeps(input: RoomsInput & Pick<TrialInput, 'policies'>): AddRuleDeps {
  const { workspace, policies, store, secrets, options, now } = input;
  return {
    workspace,
    policies,
    now,
    record: (entry, write) =>
      store.sql.write('full', () => {
        const body = secrets.maskDeep({ ...entry, by: store.actor.by });
        const ids = { tenant_id: options.tenant, run_id: null, session_id: null };
        store.audit.append({ type: 'rule_added', ...ids, body }, now());
        write();
      }),
    govern: async (name) => {
      const { settings } = store;
      const key = 'hitl-policy-name';
      const before = await settings.getConfig({ key });
      await settings.setConfig({ key, value: name });
      return () =>
        before.source === 'set' ? settings.setConfig({ key, value: before.value }) : settings.unsetConfig({ key });
    },
  };
}
