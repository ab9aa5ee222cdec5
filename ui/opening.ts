import type { RuntimeClient } from '../src/client/operations.ts';
import { plural } from '../src/view/format.ts';
import { instructionsLine } from '../src/view/instructions-line.ts';
import type { Action } from './actions.ts';
import { restingRuns } from './runs-at-hand.ts';
import { missing, welcomeOf } from './welcome.ts';

export type OpeningDeps = {
  readonly client: RuntimeClient;
  readonly dispatch: (action: Action) => void;
  /** As `--policy` says; null = the one that is configured. */
  readonly policy: string | null;
  /** The model that was named for this program; null = the configured one. */
  readonly model: string | null;
  /** The key of a command; null where it has none, as among lines. */
  readonly key: (id: string) => string | null;
  /** The name of the session in view; null = there is none. */
  readonly session: () => string | null;
  /** Says what tools have changed; asked only where hooks or tool servers are registered. */
  readonly definitions: () => Promise<void>;
};

/** The config keys that are of the screen, and whether there is a shell, by their names. */
export async function readSettings(client: RuntimeClient): Promise<ReadonlyMap<string, string>> {
  const entries = await client.listConfig({});
  return new Map(
    entries.filter(({ key }) => key.startsWith('tui-') || key === 'shell').map(({ key, value }) => [key, value]),
  );
}

/** Looks at what the status line and the banner show, in the order in which it is missed (10 §1.4). Never throws. */
export async function lookAround(deps: OpeningDeps): Promise<void> {
  // A look that fails leaves its place empty; the turn that needs it says why.
  for (const look of [lookAtPolicy, showModel, showResting, lookForServer, showReadiness])
    await look(deps).catch(() => undefined);
}

/** Looks at what may have been mended or broken since, here or elsewhere. Never throws. */
export async function lookAgain(deps: OpeningDeps): Promise<void> {
  for (const look of [lookAtPolicy, showReadiness]) await look(deps).catch(() => undefined);
}

const policyBanner = 'policy';

/**
 * The policy as it is now: its name, whether an agent may answer under it, and in the banner what is wrong with it.
 * @returns whether it can be used
 * @throws where it cannot be read at all
 */
export async function lookAtPolicy({
  client,
  dispatch,
  policy,
}: Pick<OpeningDeps, 'client' | 'dispatch' | 'policy'>): Promise<boolean> {
  const { name, sha256, state, path, agent_answers } = await client.showPolicy({ policy });
  const invalid = state === 'invalid';
  dispatch({ type: 'facts', facts: { policy: { name, sha256, invalid }, agentAnswers: agent_answers } });
  if (!invalid) {
    dispatch({ type: 'no-banner', id: policyBanner });
    return true;
  }
  const [file] = await client.vetPolicies({ policies: [path ?? name] });
  const first = file?.findings.find((finding) => finding.severity === 'error');
  const at = first === undefined || first.path === '' || first.path === '$' ? '' : `${first.path}: `;
  const problem = `${at}${first?.message ?? 'invalid'}`;
  // The line stands behind the file, where it is not cut off.
  const [place = '', line] = / \(line (\d+), column \d+\)/.exec(problem) ?? [];
  const text = `policy ${path ?? name}${line === undefined ? '' : `:${line}`}: ${problem.replace(place, '')}`;
  dispatch({ type: 'banner', banner: { rank: 0, id: policyBanner, text, mend: 'everything asks', fixed: true } });
  return false;
}

/** A server of this database in which asks can be answered too. */
export async function lookForServer({ client, dispatch }: Pick<OpeningDeps, 'client' | 'dispatch'>): Promise<void> {
  const [server] = await client.listServers({});
  dispatch({ type: 'facts', facts: { server: server?.port ?? null } });
}

async function showModel({ client, dispatch, model, definitions }: OpeningDeps): Promise<void> {
  const { status, toolSources, database, instructions } = await client.doctor({ probe: false });
  dispatch({ type: 'facts', facts: { model: model ?? (status.defaultModel || null), database: database.path } });
  for (const file of instructions.filter(({ source }) => source === 'project')) {
    const mend = file.mend === null ? '' : `: ${file.mend}`;
    const text = file.withheld === null ? `${instructionsLine(file)} is given to the model` : instructionsLine(file);
    dispatch({ type: 'notice', level: 'info', text: `${text}${mend}` });
  }
  if (toolSources.length > 0) await definitions();
}

async function showResting({ client, dispatch, key, session }: OpeningDeps): Promise<void> {
  const resting = await restingRuns(client);
  if (resting.length === 0) return;
  const pressed = key('app.run-details');
  // The key shows the run of the session in view: it leads to none of the others.
  const isOwn = resting.some((run) => run.session === session());
  const how = pressed === null || !isOwn ? '/runs' : `${pressed}, or /runs`;
  dispatch({ type: 'notice', level: 'info', text: `${plural(resting.length, 'run')} can go on: ${how}` });
}

/** The provider in use: asked last, since it may take seconds. Tool servers start when a run needs them (10 §1.4). */
async function showReadiness({ client, dispatch, model }: OpeningDeps): Promise<void> {
  const report = await client.doctor({ probe: true, sources: false, ...(model === null ? {} : { model }) });
  const [issue] = missing(report.status.issues);
  dispatch({ type: 'no-banner', id: 'setup' });
  // Also what a first start was told may be mended by now.
  if (issue === undefined) return dispatch({ type: 'welcome', lines: null });
  const { code, message: text, cliCommand: mend } = issue;
  dispatch({ type: 'banner', banner: { rank: 1, id: `setup:${code}`, text, mend, fixed: false } });
  const isNew = (await client.sessionNames({})).length === 0;
  if (isNew) dispatch({ type: 'welcome', lines: welcomeOf(report) });
}
