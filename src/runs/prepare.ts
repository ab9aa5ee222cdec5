import { realpathSync, statSync } from 'node:fs';
import type { GateRun } from '../gate/run.ts';
import { createOrder } from '../gate/order.ts';
import type { ExecuteConfig } from '../schema/chain.ts';
import { RuntimeError } from '../schema/errors.ts';
import { type Instructions, type InstructionsSource, instructionsVariable } from '../schema/instructions.ts';
import type { CommandTables } from '../schema/command-tables.ts';
import type { LoadedPolicy } from '../schema/policy.ts';
import { readsFiles, type ToolSpec } from '../schema/message.ts';
import type { RouteName, RunJob } from '../schema/protocol.ts';
import type { RunKind, StartRun } from '../schema/run.ts';
import { onlyByName } from '../schema/tool-names.ts';
import { type Catalog, createCatalog } from '../tools/catalog.ts';
import { noSources, type RunSources } from '../tools/source.ts';
import { type LoadedImage, readImages } from './images.ts';
import type { GoverningPolicy, PrepareDeps, ReadyWanted, RunDefaults, RunSettings } from './ports.ts';
import type { Tool } from '../tools/tool.ts';
import type { RunnableChain } from '../workspace/chains.ts';
import type { ChainUse } from '../workspace/find-chain.ts';

export type RunPlan = {
  readonly id: string;
  readonly name: string;
  readonly stepId: string | null;
  readonly ordinal: number | null;
};

/** Where a run belongs; fixed before anything is written about it. */
export type RunIds = {
  readonly runId: string;
  readonly session: { readonly id: string; readonly name: string } | null;
  /** The plan that it works for; `ordinal` is that of its step, null for a run about the whole plan. */
  readonly plan: RunPlan | null;
  readonly missionId: string;
};

/** Everything that must hold before a row is written; each failure is one sentence and its exit code (06 §10). */
export type PreparedRun = {
  readonly kind: RunKind;
  readonly input: StartRun;
  readonly chain: RunnableChain;
  readonly policy: GoverningPolicy;
  /** The policy as it was when the run began. */
  readonly loaded: LoadedPolicy;
  readonly settings: RunSettings;
  readonly defaults: RunDefaults;
  /** What would serve the first turn: tasks may name another model than the default. Null without a model task. */
  readonly first: RouteName | null;
  readonly root: string;
  readonly confined: boolean;
  readonly catalog: Catalog;
  readonly specs: readonly ToolSpec[];
  readonly sources: RunSources;
  readonly timeoutMs: number;
  readonly images: readonly LoadedImage[];
  /** What the model gets of files with instructions for agents, and what it does not get. */
  readonly instructions: readonly Instructions[];
  /** The operator's own option tables. */
  readonly tables: CommandTables | undefined;
  readonly warnings: readonly string[];
};

/**
 * Turns a request into a run that can start, or go on with the chain that it stored: chain, policy, tools, defaults, readiness.
 * @throws RuntimeError with the code of what is missing or wrong; nothing has been written then
 */
export async function prepareRun(
  deps: PrepareDeps,
  kind: RunKind,
  input: StartRun,
  given: {
    readonly stored?: RunnableChain;
    readonly tools?: readonly Tool[];
    readonly instructions?: readonly Instructions[];
  } = {},
): Promise<PreparedRun> {
  const wanted = chainWanted(chainOfKind(kind), input);
  const chain = given.stored ?? (await deps.loadChain(wanted));
  const policy = await deps.openPolicy({
    name: input.policy,
    trust: input.trust,
    skipProject: input.skip_project_policy === true,
  });
  const loaded = await policy.refresh();
  const images = readImages(input.images);
  if (images.length > 0 && input.input.type !== 'string' && input.input.type !== 'chat') {
    throw new RuntimeError('usage', `--image goes with text, not with --input-type ${input.input.type}`);
  }
  const settings = deps.settings();
  const { root, confined } = rootOf(deps, input.allowed_dir);
  const defaults = await deps.defaults({ model: input.model, provider: input.provider });
  let first: RouteName | null = null;
  if (chain.has_model_task) {
    const found = await deps.preRun({ ...defaults, ...namedByTasks(chain.text, defaults) }, loaded);
    if (found.kind === 'obstacle') throw found.error;
    first = found.first;
  }
  const tables = await deps.commandTables();
  const instructions =
    given.instructions ??
    (await instructionsOf(deps, { kind, input, chain, loaded, settings, root, confined, tables: tables.tables }));
  // Last of all, so that nothing is left open by a run that does not begin.
  const acts = given.tools === undefined && actsForOperator(kind);
  const sources = acts ? await deps.sources(chain) : noSources;
  // A flag says what the file would have said.
  const unread = acts && !input.shell ? deps.settingsFault() : null;
  const catalog = createCatalog([
    ...(given.tools ?? toolsOf(deps, kind, input).filter(({ spec: { tools } }) => isThere(chain, tools))),
    ...sources.opened.flatMap(({ tools }) => tools),
  ]);
  return {
    kind,
    input,
    chain,
    policy,
    loaded,
    settings,
    defaults,
    first,
    root,
    confined,
    catalog,
    // What the program gives to its own runs is called by their chains, not by a model (05 §8).
    specs: given.tools === undefined ? catalog.list(undefined, { root, limits: {} }) : [],
    sources,
    timeoutMs: input.timeout_ms,
    images,
    instructions,
    tables: tables.tables,
    warnings: [
      ...chain.warnings,
      ...policy.warnings,
      ...tables.warnings,
      ...(unread === null ? [] : [unread]),
      ...wideRoot(deps, root),
    ],
  };
}

/** The chain that a kind of run plays (04 §2.4, 07 §4.2). */
function chainOfKind(kind: RunKind): ChainUse {
  switch (kind) {
    case 'chat':
    case 'attention':
      return kind;
    case 'plan_new':
    case 'plan_replan':
      return 'planner';
    case 'plan_step':
      return 'executor';
    case 'step_summary':
      return 'summarizer';
    case 'plan_explore':
      return 'explorer';
    default:
      return 'run';
  }
}

/** Runs that do a user's work; whoever answers for the operator, or sums up, must not be told how by a project. */
const heedsInstructions = (kind: RunKind): boolean =>
  actsForOperator(kind) || kind === 'plan_new' || kind === 'plan_replan' || kind === 'plan_explore';

/** The files are looked for where the chain names their variables, and nowhere else (11 §4.3). */
async function instructionsOf(
  deps: PrepareDeps,
  run: Pick<PreparedRun, 'kind' | 'input' | 'chain' | 'loaded' | 'settings' | 'root' | 'confined' | 'tables'>,
): Promise<readonly Instructions[]> {
  const { kind, input, chain, loaded } = run;
  if (!heedsInstructions(kind)) return [];
  return deps.instructions({
    asksFor: (source) => asksFor(chain.text, source),
    loaded,
    host: (cwd) => hostsOf(deps, run, deps.environment('', run.settings.shell_env))(cwd),
    confinedTo: run.confined ? run.root : null,
    accepted: input.trust.map((hash) => hash.toLowerCase()),
    used: [chain.sha256, ...(loaded.identity.sha256 === null ? [] : [loaded.identity.sha256])],
  });
}

/** Whether the text of a chain names the variable; a macro may write it with `-` (04 §10). */
export const asksFor = (chainText: string, source: InstructionsSource): boolean =>
  chainText.replaceAll('-', '_').includes(instructionsVariable[source]);

/** The machine as the rules of a run see it, from a directory. */
const hostsOf = (
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

/** Runs that may use what the operator has registered: those that act for somebody. */
const actsForOperator = (kind: RunKind): boolean => kind === 'run' || kind === 'chat' || kind === 'plan_step';

function toolsOf(deps: PrepareDeps, kind: RunKind, input: StartRun): readonly Tool[] {
  const { shell } = input;
  switch (kind) {
    // Whoever answers for the operator looks, and acts on nothing (03 §7); a planner plans, a summariser sums up.
    case 'attention':
    case 'compact':
    case 'plan_new':
    case 'plan_replan':
    case 'step_summary':
      return [];
    case 'model_pull':
      return [deps.pullTool()];
    // Whatever its chain allows (07 §4.8).
    case 'plan_explore':
      return deps.tools({ shell: false, plans: false }).filter(({ spec }) => readsFiles(spec));
    default:
      // Only where a person sits in front of it.
      return deps.tools({ shell, plans: kind === 'chat' && input.on_ask === 'ask' });
  }
}

/** What a chain has to name is not there for one that does not. */
const isThere = (chain: RunnableChain, tools: string): boolean => !onlyByName.has(tools) || chain.mayUse(tools);

const chainWanted = (use: ChainUse, { chain_path, chain_name, chain_text, trust }: StartRun) => ({
  use,
  path: chain_path,
  name: chain_name,
  text: chain_text,
  trust,
});

/**
 * Names that the model tasks give themselves, when none of them uses the default alone: then one of those must be ready
 * (08 §12.3). A name with a macro is the default's business.
 */
function namedByTasks(chainText: string, defaults: RunDefaults): Pick<ReadyWanted, 'models' | 'providers'> {
  // Normalised and vetted text of our own reader.
  const { tasks } = JSON.parse(chainText) as { tasks: readonly { execute_config?: ExecuteConfig }[] };
  const models = new Set<string>();
  const providers = new Set<string>();
  const isLiteral = (name: string): boolean => !name.includes('{{');
  const namesOf = (first: string | undefined, more: readonly string[] | undefined): readonly string[] =>
    [first ?? '', ...(more ?? [])].filter((name) => name !== '');
  for (const { execute_config: config } of tasks) {
    if (config === undefined) continue;
    const wanted = namesOf(config.model, config.models);
    if (wanted.length > 0 && !wanted.some(isLiteral)) return {};
    for (const name of wanted) models.add(isLiteral(name) ? name : defaults.model);
    const types = namesOf(config.provider, config.providers);
    if (types.some(isLiteral)) for (const type of types) providers.add(isLiteral(type) ? type : defaults.provider);
  }
  providers.delete('');
  return {
    ...(models.size === 0 ? {} : { models: [...models] }),
    ...(providers.size === 0 ? {} : { providers: [...providers] }),
  };
}

/** 05 §2.7: resolved to its real path once; it comes from the operator only. */
function rootOf(deps: PrepareDeps, allowedDir: string | null): { root: string; confined: boolean } {
  const given = allowedDir ?? deps.workspace.root;
  try {
    const root = realpathSync(given);
    if (statSync(root).isDirectory()) return { root, confined: allowedDir !== null };
  } catch {
    // Said below in one sentence for a missing one and for a file alike.
  }
  const flag = allowedDir === null ? 'the workspace root' : '--local-exec-allowed-dir';
  throw new RuntimeError('usage', `${flag} ${given} is not a directory`);
}

function wideRoot(deps: PrepareDeps, root: string): string[] {
  const home = deps.workspace.home;
  if (root !== '/' && root !== home && !home.startsWith(`${root}/`)) return [];
  return [`the root of this run is ${root}: tools reach everything below it`];
}

/** What the events and rows of a run name it by. */
export const refOf = ({ tenant }: PrepareDeps, { chain }: PreparedRun, ids: RunIds): GateRun['ref'] => ({
  run_id: ids.runId,
  session_id: ids.session?.id ?? null,
  mission_id: ids.missionId,
  chain_id: chain.id,
  tenant_id: tenant,
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
