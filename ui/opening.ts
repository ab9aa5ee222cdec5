import type { RuntimeClient } from '../src/client/operations.ts';
import { plural } from '../src/view/format.ts';
import type { SetupIssue } from '../src/schema/registry.ts';
import type { Action } from './actions.ts';

export type OpeningDeps = {
  readonly client: RuntimeClient;
  readonly dispatch: (action: Action) => void;
  /** As `--policy` says; null = the one that is configured. */
  readonly policy: string | null;
  /** The model that was named for this program; null = the configured one. */
  readonly model: string | null;
  /** Says what tools have changed; asked only where hooks or tool servers are registered. */
  readonly definitions: () => Promise<void>;
};

/** The config keys that are of the screen, by their names. */
export async function readSettings(client: RuntimeClient): Promise<ReadonlyMap<string, string>> {
  const entries = await client.listConfig({});
  return new Map(entries.filter(({ key }) => key.startsWith('tui-')).map(({ key, value }) => [key, value]));
}

/** Looks at what the status line and the banner show, in the order in which it is missed (10 §1.4). Never throws. */
export async function lookAround(deps: OpeningDeps): Promise<void> {
  // A look that fails leaves its place empty; the turn that needs it says why.
  for (const look of [lookAtPolicy, showModel, showResting, showReadiness, showFirstSteps])
    await look(deps).catch(() => undefined);
}

/** Looks at what may have been mended or broken since, here or elsewhere. Never throws. */
export async function lookAgain(deps: OpeningDeps): Promise<void> {
  for (const look of [lookAtPolicy, showReadiness]) await look(deps).catch(() => undefined);
}

/** Says which policy is in use, and in the banner what is wrong with it. @throws where it cannot be read at all */
export async function lookAtPolicy({ client, dispatch, policy }: OpeningDeps): Promise<void> {
  const { name, sha256, state, path } = await client.showPolicy({ policy });
  const invalid = state === 'invalid';
  dispatch({ type: 'facts', facts: { policy: { name, sha256, invalid } } });
  if (!invalid) return dispatch({ type: 'no-banner', id: 'policy' });
  const [file] = await client.vetPolicies({ policies: [path ?? name] });
  const problem = file?.findings.find((finding) => finding.severity === 'error')?.message ?? 'invalid';
  // The line stands behind the file, where it is not cut off.
  const [place = '', line] = / \(line (\d+), column \d+\)/.exec(problem) ?? [];
  const text = `policy ${path ?? name}${line === undefined ? '' : `:${line}`}: ${problem.replace(place, '')}`;
  dispatch({ type: 'banner', banner: { rank: 0, id: 'policy', text, mend: 'everything asks', fixed: true } });
}

async function showModel({ client, dispatch, model, definitions }: OpeningDeps): Promise<void> {
  const { status, toolSources } = await client.doctor({ probe: false });
  dispatch({ type: 'facts', facts: { model: model ?? status.defaultModel, backend: status.defaultProvider } });
  if (toolSources.length > 0) await definitions();
}

async function showResting({ client, dispatch }: OpeningDeps): Promise<void> {
  const { runs } = await client.listRuns({ status: null, session: null, limit: 50 });
  const resting = runs.filter(({ status }) => status === 'suspended' || status === 'interrupted').length;
  if (resting > 0)
    dispatch({ type: 'notice', level: 'info', text: `${plural(resting, 'run')} can go on: Ctrl+X r, or /runs` });
}

/** The provider in use: asked last, since it may take seconds. Tool servers start when a run needs them (10 §1.4). */
async function showReadiness({ client, dispatch, model }: OpeningDeps): Promise<void> {
  const { status } = await client.doctor({ probe: true, sources: false, ...(model === null ? {} : { model }) });
  const [issue] = missing(status.issues);
  dispatch({ type: 'no-banner', id: 'setup' });
  if (issue === undefined) return;
  const { code, message: text, cliCommand: mend } = issue;
  dispatch({ type: 'banner', banner: { rank: 1, id: `setup:${code}`, text, mend, fixed: false } });
}

/** What keeps a turn from being answered, in the order in which it is mended: a model is chosen of those that are served. */
function missing(issues: readonly SetupIssue[]): readonly SetupIssue[] {
  const errors = issues.filter(({ severity }) => severity === 'error');
  const chosen = errors.filter(({ code }) => code === 'missing_default_model');
  const others = errors.filter((issue) => !chosen.includes(issue));
  // One command may mend both.
  return [...others, ...chosen.filter(({ cliCommand }) => others.every((each) => each.cliCommand !== cliCommand))];
}

/** Somebody who has never had an answer is told how to get one (10 §1.4). */
async function showFirstSteps({ client, dispatch, model }: OpeningDeps): Promise<void> {
  const { status, keys } = await client.doctor({ probe: false, ...(model === null ? {} : { model }) });
  const errors = missing(status.issues);
  if (errors.length === 0 || (await client.listSessions({})).length > 0) return;
  const project = status.issues.filter(({ code }) => code === 'no_project');
  const tell = (text: string): void => dispatch({ type: 'notice', level: 'info', text });
  tell('Nothing can answer here yet. What is missing, in this order:');
  for (const [index, { message, cliCommand }] of [...project, ...errors].entries())
    tell(`${index + 1}. ${message}${cliCommand === null ? '' : `\n     ${cliCommand}`}`);
  for (const { variable, cliCommand } of keys) tell(`${variable} is set:\n     ${cliCommand}`);
  if (status.reachableBackendCount > 0) tell('Ctrl+X m chooses a model here.');
  tell('Without a model, "reins demo" shows what the program does.');
  const again = project.length > 0 ? ', and start reins again there' : '';
  tell(`Type these in another terminal, or leave with Ctrl+D twice${again}.`);
}
