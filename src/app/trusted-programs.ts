import type { Binaries } from '../gate/binaries.ts';
import { programFiles } from '../policy/trusted.ts';
import type { PrepareDeps } from '../runs/ports.ts';
import { quote } from '../text/quote.ts';
import type { Policies } from '../workspace/policies.ts';
import type { TrustOperations } from '../workspace/trust-operations.ts';
import { createTrustedPrograms } from '../workspace/trusted-programs.ts';
import type { RoomsInput } from './rooms-input.ts';

type ProgramsInput = RoomsInput &
  Pick<TrustOperations, 'trustContent'> & {
    readonly policies: Policies;
    readonly binaries: Binaries;
    readonly prepare: PrepareDeps;
  };

/** The operations behind `policy trust`: names resolve as in a run of this workspace. */
export function openTrustedPrograms(input: ProgramsInput) {
  const { options, machine, workspace, secrets, store, policies, binaries, prepare, now } = input;
  return createTrustedPrograms({
    workspace,
    uid: machine.uid,
    policies,
    files: (name) => {
      // The marker is of no use here: nothing is started.
      const { PATH: path = '' } = prepare.environment('', store.settings.value('shell-env'));
      const host = prepare.hosts({ root: workspace.root, confined: false, named: [], path, tables: undefined })(
        workspace.cwd,
      );
      return programFiles(name, host);
    },
    read: binaries.read,
    trustContent: input.trustContent,
    recorded: (entry, write) =>
      store.sql.write('full', () => {
        const body = secrets.maskDeep({ ...entry, by: store.actor.by });
        store.audit.append(
          { type: 'policy_changed', tenant_id: options.tenant, run_id: null, session_id: null, body },
          now(),
        );
        write();
      }),
    shown: (path) => (path.startsWith(`${machine.home}/`) ? `~${quote(path.slice(machine.home.length))}` : quote(path)),
    now,
  });
}
