import type { RuntimeClient } from '../src/client/operations.ts';
import { formatAge, plural } from '../src/view/format.ts';
import type { ReportKind } from './effect.ts';
import type { State } from './state.ts';

/** Titles and lines of what commands show. The lines are foreign until they are drawn. */
export type Report = { readonly title: string; readonly lines: readonly string[] };

export async function reportOf(
  what: ReportKind,
  of: string | null,
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
    case 'tools': {
      const tools = await client.listTools({ policy: null, chain: null });
      const shown = tools.filter((tool) => of === null || tool.tools === of);
      const words = { allow: 'allowed', approve: 'asks', deny: 'denied' } as const;
      return {
        title: of === null ? 'Tools' : `Tools of ${of}`,
        lines:
          shown.length === 0
            ? ['There is no such tool.']
            : [
                'The decision is that of a call without arguments.',
                '',
                ...shown.map(
                  (tool) =>
                    `${tool.tools}.${tool.tool} · ${tool.state === 'quarantined' ? 'changed, /trust shows how' : words[tool.default_decision]} · ${tool.description.split('\n', 1)[0] ?? ''}`,
                ),
              ],
      };
    }
    case 'mcp': {
      const servers = of === null ? await client.listMcpServers({}) : [await client.showMcpServer({ name: of })];
      return {
        title: 'Tool servers',
        lines:
          servers.length === 0
            ? ['None is registered: reins mcp add']
            : servers.flatMap((server) => [
                `${server.name} · ${server.state} · ${plural(server.tools.length, 'tool')} · ${server.url ?? [server.command, ...server.args].join(' ')}`,
                ...(server.last_error === null ? [] : [`    last error: ${server.last_error}`]),
                ...(server.drift.length === 0
                  ? []
                  : [`    changed: ${server.drift.map(({ tool }) => tool).join(', ')}; /trust shows how`]),
                ...(of === null ? [] : server.stderr.map((line) => `    stderr: ${line}`)),
              ]),
      };
    }
    case 'chains': {
      const chains = await client.listChains({});
      return {
        title: 'Chains',
        lines: chains.map(
          (row) =>
            `${row.name} · ${row.id ?? 'unreadable'} · ${row.path ?? row.source} · ${row.trust} · ${row.sha256.slice(0, 8)}`,
        ),
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
