import { createOrder } from '../gate/order.ts';
import type { GateRun } from '../gate/run.ts';
import { instructionsVariable, type InstructionsSource } from '../schema/instructions.ts';
import type { RunJob } from '../schema/protocol.ts';
import type { PrepareDeps } from './ports.ts';
import type { PreparedRun, RunIds } from './prepared-run.ts';

/** The machine as the rules of a run see it, from a directory. */
export const hostsOf = (
  deps: PrepareDeps,
  { root, confined, chain, loaded, tables }: Pick<PreparedRun, 'root' | 'confined' | 'chain' | 'loaded' | 'tables'>,
  environment: Readonly<Record<string, string>>,
): GateRun['host'] =>
  deps.hosts({
    root,
    confined,
    named: [chain.path, loaded.identity.path].filter((path) => path !== null),
    path: environment['PATH'] ?? '',
    tables,
  });

/** What the events and rows of a run name it by. */
export const refOf = ({ tenant }: PrepareDeps, { chain }: PreparedRun, ids: RunIds): GateRun['ref'] => ({
  run_id: ids.runId,
  session_id: ids.session?.id ?? null,
  mission_id: ids.missionId,
  chain_id: chain.id,
  tenant_id: tenant,
  task: null,
});

/** The part of a run that the gate sees. */
export function gateRun(
  deps: PrepareDeps,
  prepared: PreparedRun,
  ids: RunIds,
  live: Pick<GateRun, 'clock' | 'signal' | 'records' | 'waiting' | 'known' | 'counters' | 'settle'>,
): GateRun {
  const { input, root } = prepared;
  const environment = deps.environment(ids.runId, prepared.settings.shell_env);
  return {
    ref: refOf(deps, prepared, ids),
    owner: deps.owner,
    scope: ids.session?.id ?? ids.runId,
    root,
    confined: prepared.confined,
    home: deps.workspace.home,
    policy: prepared.policy.current,
    refresh: async () => {
      await prepared.policy.refresh();
    },
    host: hostsOf(deps, prepared, environment),
    catalog: prepared.catalog,
    toldTools: 0,
    onAsk: input.on_ask,
    goal: typeof input.input.value === 'string' ? input.input.value : null,
    tighten: { maxTurns: input.max_turns, maxToolCalls: input.max_tool_calls, maxTokens: input.max_tokens },
    order: createOrder(prepared.settings.tool_parallelism),
    environment,
    ...live,
    ahead: { write: () => {}, stands: () => {}, flush: () => {} },
    finishing: false,
    foreseen: new Map(),
    changed: new Map(),
    askFailed: false,
    begun: begunBefore(live.known),
    extending: null,
    chosen: null,
  };
}

const begunBefore = (known: GateRun['known']): Set<string> =>
  new Set([...(known ?? [])].filter(([, { started_at }]) => started_at !== null).map(([id]) => id));

/** What the pool thread is given. `base` are the messages that stand before the run's own. */
export function jobOf(
  prepared: PreparedRun,
  runId: string,
  session: { readonly id: string; readonly name: string } | null,
  base: { readonly messages: string; readonly input: RunJob['input'] },
): RunJob {
  const { input, chain, defaults, settings } = prepared;
  return {
    run_id: runId,
    session_id: session?.id ?? null,
    chain_text: chain.text,
    chain_id: chain.id,
    variables: {
      ...input.variables,
      model: defaults.model,
      provider: defaults.provider,
      chain: chain.id,
      request_id: runId,
      session: session?.name ?? '',
      workspace: prepared.root,
      [instructionsVariable.project]: instructionsText(prepared, 'project'),
      [instructionsVariable.user]: instructionsText(prepared, 'user'),
    },
    base_messages: base.messages,
    input: base.input,
    resume: null,
    tools: prepared.specs,
    defaults: {
      model: defaults.model,
      provider: defaults.provider,
      think: input.think ?? settings.think,
      context: input.context,
      max_rounds: settings.max_rounds,
      max_tool_result_bytes: settings.max_tool_result_bytes,
      tool_parallelism: settings.tool_parallelism,
    },
    host: {
      os: process.platform === 'win32' ? 'windows' : process.platform,
      arch: process.arch === 'x64' ? 'amd64' : process.arch,
      // Empty is the zone of the process; asking Intl for its name costs 10 to 19 ms (measured).
      timezone: '',
    },
  };
}

/** Empty where nothing is given: then the fallback of a macro counts. */
const instructionsText = ({ instructions }: PreparedRun, source: InstructionsSource): string =>
  instructions.find((one) => one.source === source)?.text ?? '';
