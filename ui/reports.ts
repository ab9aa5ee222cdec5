import type { RuntimeClient } from '../src/client/operations.ts';
import { formatAge } from '../src/view/format.ts';
import type { State } from './state.ts';

/** Titles and lines of what commands show. The lines are foreign until they are drawn. */
export type Report = { readonly title: string; readonly lines: readonly string[] };

export async function reportOf(
  what: 'status' | 'doctor' | 'runs' | 'policy' | 'policies',
  client: RuntimeClient,
  state: State,
  now: number,
): Promise<Report> {
  switch (what) {
    case 'status': {
      const { status, policy, dataDir, database } = await client.doctor({ probe: false });
      const { facts } = state;
      return {
        title: 'Status',
        lines: [
          `model     ${facts.model ?? status.defaultModel} on ${facts.backend ?? status.defaultProvider}`,
          `policy    ${policy.name} (${policy.source}${policy.sha256 === null ? '' : `, ${policy.sha256.slice(0, 8)}`})`,
          `chain     ${status.defaultChain}`,
          `session   ${state.session?.name ?? '-'}`,
          `data      ${dataDir ?? '-'}`,
          `database  ${database.path}`,
          `shell     ${facts.shell ? 'on' : 'off'}`,
        ],
      };
    }
    case 'doctor': {
      const { status } = await client.doctor({ probe: true });
      return {
        title: 'Readiness',
        lines:
          status.issues.length === 0
            ? ['Everything is ready.']
            : status.issues.flatMap((issue) => [
                `${issue.severity}: ${issue.message}`,
                ...(issue.cliCommand === null ? [] : [`    ${issue.cliCommand}`]),
              ]),
      };
    }
    case 'runs': {
      const { runs } = await client.listRuns({ status: null, session: null, limit: 50 });
      return {
        title: 'Runs',
        lines: runs.map(
          (run) =>
            `${run.id.slice(-8)} · ${run.status} · ${run.session ?? run.kind} · ${formatAge(now - Date.parse(run.created_at))} · ${run.input}`,
        ),
      };
    }
    case 'policy': {
      const policy = await client.showPolicy({ policy: null });
      return {
        title: `Policy ${policy.name} (${policy.source})`,
        lines: [
          `${policy.path ?? 'shipped with the program'}`,
          `sha256 ${policy.sha256 ?? '-'}`,
          `state ${policy.state}`,
          '',
          ...policy.text.split('\n'),
        ],
      };
    }
    case 'policies': {
      const { policies, notes } = await client.listPolicies({ policy: null });
      return {
        title: 'Policies',
        lines: [...policies.map((row) => `${row.name} · ${row.source} · ${row.path ?? 'shipped'}`), ...notes],
      };
    }
  }
}
