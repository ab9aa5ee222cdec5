import { realpathSync, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { isInside, realPath } from '../gate/real-path.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { Notice } from '../schema/event.ts';
import { type Instructions, type InstructionsSource, instructionsVariable } from '../schema/instructions.ts';
import { readsFiles } from '../schema/message.ts';
import type { RouteName } from '../schema/protocol.ts';
import type { OnAsk, RunKind, StartRun } from '../schema/run.ts';
import { onlyByName } from '../schema/tool-names.ts';
import { createCatalog } from '../tools/catalog.ts';
import { noSources } from '../tools/source.ts';
import { readImages } from './images.ts';
import { hostsOf } from './parts.ts';
import type { PreparedRun } from './prepared-run.ts';
import type { PrepareDeps } from './ports.ts';
import type { Tool } from '../tools/tool.ts';
import type { RunnableChain } from '../workspace/chains.ts';
import type { ChainUse } from '../workspace/find-chain.ts';

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
    /** How a run that goes on was to ask when it began: what it was offered then is still there, wherever it goes on. */
    readonly began?: OnAsk;
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
  deps.knowSecrets();
  const { root, confined } = rootOf(deps, input.allowed_dir);
  if (given.stored === undefined) checkAllowedDirs(chain, root);
  const defaults = await deps.defaults({ model: input.model, provider: input.provider });
  let first: RouteName | null = null;
  const named = chain.has_model_task ? chain.modelNames(input.variables, defaults) : null;
  if (named !== null) {
    const found = await deps.preRun({ ...defaults, ...named }, loaded);
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
    ...(given.tools ??
      toolsOf(deps, kind, input, given.began ?? input.on_ask).filter(({ spec: { tools } }) => isThere(chain, tools))),
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
    notices: [
      ...warnings('chain_warnings', chain.warnings),
      ...warnings(loaded.identity.state === 'ok' ? 'policy_warnings' : 'policy_fallback', policy.warnings),
      ...warnings('command_tables_ignored', tables.warnings),
      ...warnings('settings_ignored', unread === null ? [] : [unread]),
      ...warnings('wide_root', wideRoot(deps, root)),
    ],
  };
}

/** Each face shows a warning in its own way, and whoever looks at the run later reads it there (04 §18). */
function warnings(code: string, messages: readonly string[]): readonly Notice[] {
  return messages.map((message) => ({ kind: 'notice', level: 'warn', code, message }));
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
  isAsked: (source: InstructionsSource) => boolean = (source) => asksFor(run.chain.text, source),
): Promise<readonly Instructions[]> {
  const { kind, input, chain, loaded } = run;
  if (!heedsInstructions(kind)) return [];
  return deps.instructions({
    asksFor: isAsked,
    loaded,
    host: (cwd) => hostsOf(deps, run, deps.environment('', run.settings.shell_env))(cwd),
    confinedTo: run.confined ? run.root : null,
    accepted: input.trust.map((hash) => hash.toLowerCase()),
    used: [chain.sha256, ...(loaded.identity.sha256 === null ? [] : [loaded.identity.sha256])],
  });
}

/**
 * What a run with this request would get of them, and what it would not because its chain does not ask.
 * @throws RuntimeError as starting it would, for chain, policy and root
 */
export async function foretoldInstructions(
  deps: PrepareDeps,
  kind: RunKind,
  input: StartRun,
): Promise<readonly Instructions[]> {
  const chain = await deps.loadChain(chainWanted(chainOfKind(kind), input));
  const policy = await deps.openPolicy({
    name: input.policy,
    trust: input.trust,
    skipProject: input.skip_project_policy === true,
  });
  const [loaded, { tables }] = [await policy.refresh(), await deps.commandTables()];
  const { root, confined } = rootOf(deps, input.allowed_dir);
  const run = { kind, input, chain, loaded, settings: deps.settings(), root, confined, tables };
  return (await instructionsOf(deps, run, () => true)).map((file) => {
    if (file.withheld !== null || asksFor(chain.text, file.source)) return file;
    const why = `the chain ${chain.id} does not ask for it with {{var:${instructionsVariable[file.source]}|}}`;
    return { ...file, withheld: why, text: '' };
  });
}

/** Whether the text of a chain names the variable; a macro may write it with `-` (04 §10). */
export const asksFor = (chainText: string, source: InstructionsSource): boolean =>
  chainText.replaceAll('-', '_').includes(instructionsVariable[source]);

/** Runs that may use what the operator has registered: those that act for somebody. */
const actsForOperator = (kind: RunKind): boolean => kind === 'run' || kind === 'chat' || kind === 'plan_step';

function toolsOf(deps: PrepareDeps, kind: RunKind, { shell }: StartRun, began: OnAsk): readonly Tool[] {
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
      return deps.tools({ shell, plans: kind === 'chat' && began === 'ask' });
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

/** A chain narrows the root and never leaves it (05 §2.7). What is not there yet may be made by the run. */
function checkAllowedDirs({ id, path, allowed_dirs }: RunnableChain, root: string): void {
  for (const { at, directory } of allowed_dirs) {
    if (isInside(realPath(isAbsolute(directory) ? directory : `${root}/${directory}`), root)) continue;
    const where = `${path ?? id}:${at}`;
    const message = `The chain is not valid: ${JSON.stringify(directory)} is outside the root ${root} at ${where}`;
    throw new RuntimeError('chain_invalid', message, { data: { path: at, root } });
  }
}

function wideRoot(deps: PrepareDeps, root: string): string[] {
  const home = deps.workspace.home;
  if (root !== '/' && root !== home && !home.startsWith(`${root}/`)) return [];
  return [`the root of this run is ${root}: tools reach everything below it`];
}
