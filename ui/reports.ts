import type { RuntimeClient } from '../src/client/operations.ts';
import type { RunDetails, RunSummary } from '../src/schema/run-record.ts';
import { toWire } from '../src/schema/errors.ts';
import type { StartRun } from '../src/schema/run.ts';
import { callSummary } from '../src/view/call-summary.ts';
import { instructionsLine } from '../src/view/instructions-line.ts';
import { formatSpan, plural, runSpan, tellTimes } from '../src/view/format.ts';
import type { ReportKind } from './effect.ts';
import type { State } from './state.ts';
import { storedName } from './stored-name.ts';
import type { ClientLink } from './use-client.ts';

/** Titles and lines of what commands show. The lines are foreign until they are drawn. */
export type Report = { readonly title: string; readonly lines: readonly string[] };

type Asked = {
  readonly what: ReportKind;
  readonly of: string | null;
  readonly policy: string | null;
  /** What the next turn would be asked for. */
  readonly turn: ClientLink['turn'];
};

export async function reportOf(
  { what, of, policy, turn }: Asked,
  client: RuntimeClient,
  state: State,
  now: number,
): Promise<Report> {
  switch (what) {
    case 'status': {
      const { status, dataDir, database, instructions } = await client.doctor({ probe: false });
      const { facts } = state;
      const used = await client.showPolicy({ policy });
      return {
        title: 'Status',
        lines: [
          `model     ${facts.model ?? (status.defaultModel || '-')} on ${facts.backend ?? status.defaultProvider}`,
          `policy    ${used.name} (${used.source}${used.sha256 === null ? '' : `, ${used.sha256.slice(0, 8)}`})`,
          `chain     ${await chainText(client, await turn(client), status.defaultChain)}`,
          `session   ${state.session?.name ?? '-'}`,
          `data      ${dataDir ?? '-'}`,
          `database  ${database.path}`,
          `trust     ${await trustText(client, policy)}`,
          ...instructions.map((file) => `agents    ${instructionsLine(file)}`),
          `shell     ${facts.shell ? 'on' : 'off'}`,
          ...(await boundLines(client, state)),
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
                `${issue.severity}: ${tellTimes(issue.message, now)}`,
                ...(issue.cliCommand === null ? [] : [`    ${issue.cliCommand}`]),
              ]),
      };
    }
    case 'usage':
      return { title: 'Usage', lines: await usageLines(client, state) };
    case 'vet': {
      const { path, name } = await client.showPolicy({ policy });
      const [file] = await client.vetPolicies({ policies: [path ?? name] });
      const findings = file?.findings ?? [];
      return {
        title: `Policy ${name}: vet`,
        lines:
          findings.length === 0
            ? ['Nothing to say against it.']
            : findings.map((each) => `${each.severity}: ${each.message}`),
      };
    }
    case 'replay': {
      const [replayed = null, since] = (of ?? '').split(/\s+/);
      const from = since === undefined ? now - 30 * dayMs : Date.parse(since);
      if (Number.isNaN(from)) return { title: 'Replay', lines: [`"${since}" is no date`] };
      const report = await client.replayCalls({
        policy: replayed,
        trust: [],
        since: from,
        session: null,
        tools: null,
        limit: 1000,
      });
      const { checked, tightened, widened, unchanged, not_comparable: apart } = report;
      return {
        title: `Replay under ${report.policy.name}`,
        lines: [
          `checked ${checked}, tightened ${tightened}, widened ${widened}, unchanged ${unchanged}, not comparable ${apart}`,
          ...report.changes.map(
            (change) =>
              `${change.change}: ${change.tools}.${change.tool} ${callSummary(change.args)} · was ${change.was}, now ${change.now}${change.rule === null ? '' : ` (rule ${change.rule + 1})`}`,
          ),
        ],
      };
    }
    case 'policy': {
      const used = await client.showPolicy({ policy });
      return {
        title: `Policy ${used.name} (${used.source})`,
        lines: [
          `${used.path ?? 'shipped with the program'}`,
          `sha256 ${used.sha256 ?? '-'}`,
          `state ${used.state}`,
          '',
          ...used.text.split('\n'),
        ],
      };
    }
    case 'tools': {
      const tools = await client.listTools({ policy, chain: null, turn: offering(await turn(client)) });
      const shown = tools.filter((tool) => of === null || tool.tools === of);
      const words = { allow: 'allowed', approve: 'asks', deny: 'denied' } as const;
      return {
        title: of === null ? 'Tools' : `Tools of ${of}`,
        lines:
          shown.length === 0
            ? [of === null ? 'The model is offered no tools.' : 'The model is offered no such tool.']
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
        lines: chains.map(({ name, id, path, source, trust, sha256 }) => {
          const own = [...(id === name ? [] : [id ?? 'unreadable']), path ?? source];
          return [name, ...own, ...(trust === source ? [] : [trust]), sha256.slice(0, 8)].join(' · ');
        }),
      };
    }
    case 'policies': {
      const { policies, notes } = await client.listPolicies({ policy });
      const used = await client.showPolicy({ policy });
      const mark = ({ name, path }: { readonly name: string; readonly path: string | null }): string =>
        name === used.name && path === used.path ? ' · in use' : '';
      return {
        title: 'Policies',
        lines: [
          ...policies.map((row) => `${row.name} · ${row.source} · ${row.path ?? 'shipped'}${mark(row)}`),
          ...notes,
        ],
      };
    }
  }
}

/** What of a turn decides which tools it offers. */
const offering = ({ chain_path, chain_name, trust, shell }: Omit<StartRun, 'input'>) => ({
  chain_path,
  chain_name,
  trust,
  shell,
});

/** The chain that the next turn plays: one that was named, else the configured one, else the project's (04 §2.4). */
async function chainText(
  client: RuntimeClient,
  { chain_path, chain_name }: Pick<StartRun, 'chain_path' | 'chain_name'>,
  configured: string,
): Promise<string> {
  const path = chain_path ?? (configured === '' ? null : configured);
  const row = (await client.listChains({})).find(({ name, path: at, source }) =>
    chain_name !== undefined
      ? name === chain_name
      : path !== null
        ? at === path
        : name === 'default-chain' && source === 'project',
  );
  if (row === undefined) return path ?? '-';
  return `${row.id ?? row.name} (${row.path ?? row.source}, ${row.sha256.slice(0, 8)})`;
}

/** What the next turn would use of this project and nobody trusts yet. */
async function trustText(client: RuntimeClient, policy: string | null): Promise<string> {
  // Where nothing is set up yet there is no chain to look at: the rest of the report is wanted all the more.
  const open = await client
    .untrusted({ chain: 'chat', chain_path: null, policy, trust: [], review: true })
    .catch((error: unknown) => {
      if (toWire(error).code === 'chain_not_found') return [];
      throw error;
    });
  if (open.length === 0) return 'nothing waits for it';
  return `${open.map(({ kind, path }) => `${kind} ${path}`).join(', ')}: /trust reviews it`;
}

const dayMs = 86_400_000;

/** The newest run of the session with everything that it used. */
async function newestRun(client: RuntimeClient, { session }: State): Promise<RunDetails | null> {
  const name = session === null ? null : await storedName(client, session.id);
  const [run] = name === null ? [] : (await client.listRuns({ status: null, session: name, limit: 1 })).runs;
  return run === undefined ? null : client.showRun({ run_id: run.id });
}

async function boundLines(client: RuntimeClient, state: State): Promise<readonly string[]> {
  const run = await newestRun(client, state);
  return run === null ? [] : [`bounds    ${bounds(run)} (last run)`];
}

const bounds = ({ bounds: { turns, tool_calls, tokens } }: RunDetails): string =>
  (
    [
      ['turns', turns],
      ['tool calls', tool_calls],
      ['tokens', tokens],
    ] as const
  )
    .map(([name, { used, max }]) => `${name} ${used} of ${max ?? 'any number'}`)
    .join(', ');

async function usageLines(client: RuntimeClient, state: State): Promise<readonly string[]> {
  const { tokens } = state.facts;
  const run = await newestRun(client, state);
  const here = `here      ${tokenWords(tokens.in, tokens.out, tokens.estimated)}`;
  if (run === null) return [here];
  const { input_tokens, output_tokens, estimated } = run.usage;
  const waited = run.waits.reduce((sum, { waited_ms }) => sum + (waited_ms ?? 0), 0);
  return [
    here,
    ...(await sessionUse(client, run.session)),
    `last run  ${tokenWords(input_tokens, output_tokens, estimated)}`,
    `    time    ${runSpan(run)}, of which ${formatSpan(waited)} waited for you`,
    `    asks    ${run.waits.length}`,
    `    bounds  ${bounds(run)}`,
  ];
}

const tokenWords = (read: number, written: number, estimated: boolean): string =>
  `${estimated ? 'about ' : ''}${read} tokens in, ${written} out`;

/** Runs of a session that are added up; more take too long for a look. */
const mostAdded = 200;

/** What the runs of the session have used in all. */
async function sessionUse(client: RuntimeClient, session: string | null): Promise<readonly string[]> {
  if (session === null) return [];
  const { runs, total } = await client.listRuns({ status: null, session, limit: mostAdded });
  const sum = (of: (run: RunSummary) => number): number => runs.reduce((all, run) => all + of(run), 0);
  const used = tokenWords(
    sum(({ usage }) => usage.input_tokens),
    sum(({ usage }) => usage.output_tokens),
    runs.some(({ usage }) => usage.estimated),
  );
  const which = total > runs.length ? ` (the last ${runs.length} of ${total} runs)` : ` (${plural(total, 'run')})`;
  return [
    `session   ${used}${which}`,
    `    time    ${formatSpan(sum(({ duration_ms }) => duration_ms))}`,
    `    asks    ${sum(({ asks }) => asks.length)}`,
  ];
}
