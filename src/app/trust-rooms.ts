import type { InstructionsWatch } from '../gate/instructions-watch.ts';
import { wholeDiff } from '../tools/files/diff.ts';
import type { Chains } from '../workspace/chains.ts';
import type { Policies } from '../workspace/policies.ts';
import { createTrustOperations } from '../workspace/trust-operations.ts';
import type { RoomsInput } from './rooms-input.ts';

/** Trust in files of the project, on the record and with the texts that were trusted before. */
export function openTrustRooms(
  input: RoomsInput & { readonly chains: Chains; readonly policies: Policies; readonly watch: InstructionsWatch },
) {
  const { options, machine, workspace, trust, store, chains, policies, watch, now } = input;
  const { documents } = store;
  return createTrustOperations({
    workspace,
    uid: machine.uid,
    trust,
    chains,
    policies,
    home: machine.reinsHome,
    withheld: (path, sha256) => watch.withheld(path, sha256) !== null,
    instructions: () => store.settings.value('project-instructions'),
    texts: {
      keep: (bytes) => documents.putBlob(bytes, now()),
      text: (sha256) => documents.blob(sha256) ?? documents.chainText(sha256) ?? documents.policyText(sha256),
    },
    diff: wholeDiff,
    recorded: ({ by: way, ...entry }) => {
      // How it was trusted is no answer to who takes it back.
      const body = { ...entry, ...(entry.removed === true ? {} : { way }), by: store.actor.by };
      const ids = { tenant_id: options.tenant, run_id: null, session_id: null };
      store.sql.write('full', () => {
        watch.note();
        store.audit.append({ type: 'trust', ...ids, body }, now());
      });
    },
  });
}
