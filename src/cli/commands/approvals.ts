import type { RuntimeClient } from '../../client/operations.ts';
import type { Ask } from '../../schema/ask.ts';
import { RuntimeError, usage } from '../../schema/errors.ts';
import { askCard, cardLines, idsOf } from '../../view/ask-card.ts';
import { auditLine } from '../../view/audit-line.ts';
import { askFlags } from '../../view/card-warnings.ts';
import { escapeText } from '../../view/escape.ts';
import { formatRemaining, formatShort, measure } from '../../view/format.ts';
import type { Context, Handler } from '../context.ts';
import { explainAsk } from '../explain-ask.ts';
import { followRun } from '../follow.ts';
import { shownIds } from '../ids.ts';
import { readStdinText } from '../input.ts';
import { shownWhat } from '../shown-what.ts';
import { when } from '../times.ts';
import { resolveOnAsk, resolveTimeout } from '../start-run.ts';

const list: Handler = async (context) => {
  const { flags } = context.invocation;
  const client = await context.client();
  const found = await client.listAsks({
    // Nobody has answered a pending one yet: who asks for answers of somebody means all of them.
    state: flags.text('state') ?? (flags.has('by') ? 'all' : 'pending'),
    kind: flags.text('kind'),
    session: flags.text('session'),
    mission: flags.text('mission'),
    by: flags.text('by'),
    limit: flags.number('limit') ?? 50,
  });
  if (found.expired > 0) context.hint(`expired ${found.expired} ask${found.expired === 1 ? '' : 's'}`);
  if (context.globals.format !== 'text') {
    await context.printJson({ asks: found.asks, total: found.total });
    return 0;
  }
  if (found.asks.length === 0) {
    // Others may wait where only some were asked for.
    const some = ['state', 'kind', 'session', 'mission', 'by'].some((name) => flags.has(name));
    context.hint(some ? 'no such asks' : 'no pending asks');
    return 0;
  }
  const id = await shownIds(
    context,
    client,
    'out',
    found.asks.map((ask) => ask.id),
  );
  await context.printTable(
    [
      { title: 'ID' },
      { title: 'KIND' },
      { title: 'TOOL' },
      { title: 'SUMMARY', flexible: true },
      { title: 'FROM' },
      { title: 'AGE' },
      { title: 'EXPIRES' },
      { title: 'FLAGS' },
    ],
    found.asks.map((ask) => [
      id(ask.id),
      ask.kind,
      `${ask.tools}.${ask.tool}`,
      shownWhat(context.terminal.stdoutIsTerminal, ask),
      ask.session_name ?? (ask.plan_name === null ? 'run' : `${ask.plan_name} ${ask.step_no ?? ''}`.trimEnd()),
      ...times(context, ask),
      [...(ask.verdict === null ? [] : [ask.verdict.by]), ...askFlags(ask)].join(','),
    ]),
  );
  if (found.total > found.asks.length) context.hint(`${found.total - found.asks.length} more; --limit shows them`);
  return 0;
};

/** Relative on a terminal, ISO 8601 elsewhere (06 §2.4.3); what is over has the state that it ended in for a deadline. */
function times(context: Context, ask: Ask): readonly [string, string] {
  const over = ask.state === 'pending' ? null : ask.state;
  if (!context.terminal.stdoutIsTerminal) return [ask.created_at, over ?? ask.expires_at ?? 'never'];
  const now = context.process.now();
  const left = ask.expires_at === null ? 'never' : formatRemaining(Date.parse(ask.expires_at) - now);
  return [formatShort(Math.max(0, now - Date.parse(ask.created_at))), over ?? left];
}

const show: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const client = await context.client();
  const ask = await client.showAsk({ id: words[0] ?? '' });
  if (context.globals.format !== 'text') {
    await context.printJson({ ...ask, history: await client.askHistory({ id: ask.id }) });
    return 0;
  }
  const ids = [...idsOf(ask), ...(ask.superseded_by === null ? [] : [ask.superseded_by])];
  const shown = await shownIds(context, client, 'out', ids);
  const card = askCard(ask, context.process.now(), shown);
  const { terminal } = context;
  const width = await measure(cardLines(card, Number.POSITIVE_INFINITY).lines);
  const { lines, hidden } = cardLines(
    card,
    flags.bool('full') === true ? Number.POSITIVE_INFINITY : 40,
    terminal.stdoutIsTerminal ? { columns: terminal.columns, width } : null,
  );
  const verdict = ask.verdict === null ? [] : [`  ${ask.state} by ${ask.verdict.by} at ${ask.verdict.at}`];
  const edited = ask.verdict?.edited;
  const next = ask.superseded_by === null ? '' : `; the new call: ${shown(ask.superseded_by)}`;
  const changed = edited === undefined ? [] : [`  its arguments were edited by ${edited.by}${next}`];
  const feedback =
    ask.verdict?.feedback === undefined ? [] : [`  feedback: ${escapeText(ask.verdict.feedback, { mode: 'line' })}`];
  const history = (await client.askHistory({ id: ask.id })).map((row) => {
    const { summary, actor } = auditLine(row, shown);
    const at = when(context, new Date(row.at).toISOString());
    const by = actor === '' ? '' : ` by ${actor}`;
    return `  audit    ${at}  ${escapeText(`${row.type}: ${summary}${by}`, { mode: 'line' })}`;
  });
  const why = flags.bool('explain') === true ? await explainAsk(context, client, ask) : [];
  // Every line was made visible when the card was built.
  await terminal.out(`${[...lines, ...verdict, ...changed, ...feedback, ...history, ...why].join('\n')}\n`);
  if (hidden > 0) context.hint(`${hidden} lines hidden; --full shows them`);
  return 0;
};

type Answer = {
  readonly outcome: 'approve' | 'deny' | 'answer' | 'cancel';
  readonly feedback: string | null;
  readonly text: string | null;
  readonly remember: 'session' | null;
  readonly treat_as?: 'run_again' | 'done' | 'skip';
};

/** Exactly one verdict flag (03 §12). @throws RuntimeError usage */
async function readAnswer(context: Context): Promise<Answer> {
  const { flags } = context.invocation;
  const given = [
    ...(['approve', 'deny', 'cancel'] as const).filter((name) => flags.bool(name) === true),
    ...(flags.has('answer') ? (['answer'] as const) : []),
    ...(flags.has('treat-as') ? (['treat-as'] as const) : []),
  ];
  const [outcome, second] = given;
  if (outcome === undefined || second !== undefined) {
    throw usage('give exactly one of --approve, --deny, --answer, --treat-as, --cancel', [
      'reins approvals respond <id> --approve',
      'reins approvals respond <id> --deny --feedback <text>',
    ]);
  }
  const feedback = flags.text('feedback');
  if (feedback !== null && outcome !== 'deny') throw usage('--feedback belongs to --deny');
  if (feedback !== null && feedback.length > 4000) throw usage('--feedback is longer than 4000 characters');
  if (outcome === 'treat-as') return readTreatment(context);
  if (flags.has('text')) throw usage('--text belongs to --treat-as done');
  const remember = flags.has('remember') ? 'session' : null;
  if (remember !== null && outcome !== 'approve') throw usage('--remember belongs to --approve');
  const text = flags.text('answer');
  return { outcome, feedback, text: text === '-' ? await readStdinText(context, '--answer') : text, remember };
}

/** `--treat-as`: the only verdict on a call whose outcome is unknown. @throws RuntimeError usage */
async function readTreatment(context: Context): Promise<Answer> {
  const { flags } = context.invocation;
  const word = flags.text('treat-as');
  const treat_as = word === 'done' || word === 'skip' ? word : 'run_again';
  const given = flags.text('text');
  if ((treat_as === 'done') !== (given !== null)) {
    throw usage('--treat-as done takes --text with the result, and nothing else does', [
      'reins approvals respond <id> --treat-as done --text "3 rows were inserted"',
    ]);
  }
  const text = given === '-' ? await readStdinText(context, '--text') : given;
  return { outcome: 'answer', feedback: null, text, remember: null, treat_as };
}

const respond: Handler = async (context) => {
  const { words, flags } = context.invocation;
  const answer = await readAnswer(context);
  const bindings = readBindings(flags.list('binding'), words);
  if (words.length > 1 && answer.outcome === 'approve' && !words.every((id) => bindings.has(id))) {
    throw usage('several asks are approved at once only with --binding <id>=<hex> for each');
  }
  const only = flags.bool('resume') === false;
  // A run that rests would stay at rest, and be waited for without end.
  if (only && flags.bool('wait') === true) throw usage('--wait and --no-resume exclude each other');
  if (words.length > 1 && answer.outcome === 'answer') throw usage('--answer and --treat-as take one ask');
  const client = await context.client();
  // A word that names no ask, as a reason without --feedback, is told before any other is answered.
  if (words.length > 1) for (const id of words) await client.showAsk({ id });
  const accept = flags.bool('accept-changed-chain') === true;
  const recorded: Ask[] = [];
  const resting = new Set<string>();
  let refusal: unknown = null;
  for (const id of words) {
    try {
      const binding = await wholeBinding(client, id, bindings.get(id) ?? null);
      const { ask, rests } = await client.answerAsk({
        id,
        ...answer,
        binding,
        no_resume: only,
        accept_changed_chain: accept,
      });
      recorded.push(ask);
      if (rests && ask.run_id !== null) resting.add(ask.run_id);
      if (answer.outcome === 'cancel' && ask.run_id !== null) await sayRests(context, client, ask.run_id);
      await confirm(context, client, ask, resting.size > 0);
    } catch (error) {
      // Those before it stand, so their runs go on before it is said.
      refusal = error;
      break;
    }
  }
  const own = await goOn(context, client, [...resting], accept);
  if (refusal !== null) throw refusal;
  if (own !== null) return own;
  if (context.globals.format !== 'text') await context.printJson(recorded);
  return flags.bool('wait') === true ? waitForRuns(context, client, recorded) : 0;
};

/** A question that is withdrawn takes no run up that rested for it. */
async function sayRests(context: Context, client: RuntimeClient, run_id: string): Promise<void> {
  if ((await client.showRun({ run_id })).status !== 'suspended') return;
  const id = (await shownIds(context, client, 'err', [run_id]))(run_id);
  context.hint(`its run rests: reins state resume ${id} goes on without the call, reins state cancel ${id} ends it`);
}

/** At once: a later one may be refused, and this verdict stands all the same. stdout is the output of a run that goes on. */
async function confirm(context: Context, client: RuntimeClient, ask: Ask, goesOn: boolean): Promise<void> {
  if (context.globals.format !== 'text' && !goesOn) return;
  const shown = await shownIds(context, client, goesOn ? 'err' : 'out', [ask.id]);
  const line = `${ask.state} ${shown(ask.id)}`;
  if (goesOn) context.terminal.err(`${line}\n`);
  else await context.print(line);
}

/**
 * Goes on with the runs that rested for these asks, one after another.
 * @returns the exit code of the last that failed; null when none went on here
 */
async function goOn(
  context: Context,
  client: RuntimeClient,
  runIds: readonly string[],
  accept: boolean,
): Promise<number | null> {
  let exit: number | null = null;
  for (const run_id of runIds) {
    const onAsk = await resolveOnAsk(context, context.client);
    const timeout_ms = await resolveTimeout(context, client);
    const resume = { run_id, accept_changed_chain: accept, on_ask: onAsk, timeout_ms };
    const started = await client.resumeRun(resume).catch((error: unknown) => {
      if (!isTakenUp(error)) throw error;
      // Somebody who answered in the same moment was quicker; the verdict is recorded all the same (03 §11.1).
      context.hint(error.message);
      return null;
    });
    if (started !== null) exit = (await followRun(context, client, started, { onAsk })) || (exit ?? 0);
  }
  return exit;
}

/** Somebody else goes on with the run, or has brought it to its end. */
const isTakenUp = (error: unknown): error is RuntimeError =>
  error instanceof RuntimeError && error.code === 'run_not_resumable';

/** Waits until the runs, which another process drives, have ended or rest again. */
async function waitForRuns(context: Context, client: RuntimeClient, asks: readonly Ask[]): Promise<number> {
  let exit = 0;
  for (const { id, run_id } of asks) {
    if (run_id === null) continue;
    let after = 0;
    let answered = false;
    let over = false;
    const lost = whenLost(client, run_id);
    try {
      // A run may have rested before, and a watch ends there: what counts comes behind the verdict.
      while (!over && !lost.signal.aborted) {
        for await (const batch of client.watch({ run_id, after, signal: lost.signal })) {
          for (const event of batch) {
            after = Math.max(after, event.seq);
            answered ||= event.kind === 'verdict' && event.ask_id === id;
            if (!answered || !ends.has(event.kind)) continue;
            over = true;
            exit = ('exit_code' in event ? Number(event.exit_code) : event.kind === 'chain_suspended' ? 4 : 1) || exit;
          }
        }
      }
    } finally {
      lost.stop();
    }
    if (over) context.hint(`${run_id} has ended or rests`);
    else {
      exit = 4;
      context.warn(`the process that drove ${run_id} is gone; reins state resume ${run_id} goes on with it`);
    }
  }
  return exit;
}

const lookEveryMs = 2_000;

/** Aborts when the process that drives the run is gone: then nobody writes how it ends. */
function whenLost(client: RuntimeClient, run_id: string): { readonly signal: AbortSignal; stop(): void } {
  const lost = new AbortController();
  const look = async (): Promise<void> => {
    const run = await client.showRun({ run_id });
    if (run.status === 'interrupted') lost.abort();
  };
  // What cannot be read now is read the next time.
  const timer = setInterval(() => void look().catch(() => {}), lookEveryMs);
  return { signal: lost.signal, stop: () => clearInterval(timer) };
}

const ends: ReadonlySet<string> = new Set(['chain_completed', 'chain_failed', 'chain_cancelled', 'chain_suspended']);

/** `--binding <hex>` for one ask, `--binding <id>=<hex>` for each of several. */
function readBindings(given: readonly string[], ids: readonly string[]): ReadonlyMap<string, string> {
  const bindings = new Map<string, string>();
  for (const text of given) {
    const [left = '', right] = text.split('=');
    const id = right === undefined ? ids[0] : left;
    const hex = right ?? left;
    if (id === undefined || !ids.includes(id) || (right === undefined && ids.length > 1)) {
      throw usage(`--binding: "${text}" names none of the asks`);
    }
    if (!/^[0-9a-f]{12,64}$/.test(hex)) throw usage(`--binding: "${hex}" is not 12 to 64 hex digits`);
    bindings.set(id, hex);
  }
  return bindings;
}

/** Cards print the first 12 digits: a beginning stands for the binding that the ask has now. */
async function wholeBinding(client: RuntimeClient, id: string, given: string | null): Promise<string | null> {
  if (given === null) return null;
  const { binding } = await client.showAsk({ id });
  if (binding.startsWith(given)) return binding;
  throw new RuntimeError('binding_changed', `${id} binds to ${binding.slice(0, 12)} now: what you saw has changed`, {
    hints: [`reins approvals show ${id}`],
  });
}

export const handlers = { list, show, respond };
