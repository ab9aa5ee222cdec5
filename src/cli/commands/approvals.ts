import type { RuntimeClient } from '../../client/operations.ts';
import type { Ask } from '../../schema/ask.ts';
import { RuntimeError } from '../../schema/errors.ts';
import { askCard, cardLines, idsOf } from '../../view/ask-card.ts';
import { escapeText, hiddenCharacters } from '../../view/escape.ts';
import { formatRemaining, formatShort, measure } from '../../view/format.ts';
import { explain } from '../ask-prompt.ts';
import type { Context, Handler } from '../context.ts';
import { shownIds } from '../ids.ts';
import { readStdinText } from '../input.ts';

const usage = (message: string, hints: readonly string[] = []) => new RuntimeError('usage', message, { hints });

const list: Handler = async (context) => {
  const { flags } = context.invocation;
  const client = await context.client();
  const found = await client.listAsks({
    state: flags.text('state') ?? 'pending',
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
    context.hint(flags.text('state') === null ? 'no pending asks' : 'no such asks');
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
      ask.summary,
      ask.session_name ?? 'run',
      ...times(context, ask),
      shownFlags(ask),
    ]),
  );
  if (found.total > found.asks.length) context.hint(`${found.total - found.asks.length} more; --limit shows them`);
  return 0;
};

/** Relative on a terminal, ISO 8601 elsewhere (06 §2.4.3). */
function times(context: Context, ask: Ask): readonly [string, string] {
  if (!context.terminal.stdoutIsTerminal) return [ask.created_at, ask.expires_at ?? 'never'];
  const now = context.process.now();
  const left = ask.expires_at === null ? 'never' : formatRemaining(Date.parse(ask.expires_at) - now);
  return [formatShort(Math.max(0, now - Date.parse(ask.created_at))), ask.state === 'pending' ? left : ask.state];
}

function shownFlags(ask: Ask): string {
  return [
    ...(hiddenCharacters(JSON.stringify(ask.args)).length > 0 ? ['hidden_characters'] : []),
    ...((ask.preview.paths ?? []).some((path) => !path.inside) ? ['outside_workspace'] : []),
    ...(ask.preview.url === undefined ? [] : ['network']),
    ...(ask.policy.state === 'invalid' ? ['policy_invalid'] : []),
    ...(ask.verdict?.by.startsWith('agent:') === true ? ['adjudicated'] : []),
  ].join(',');
}

const show: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const client = await context.client();
  const ask = await client.showAsk({ id: words[0] ?? '' });
  if (context.globals.format !== 'text') {
    await context.printJson(ask);
    return 0;
  }
  const card = askCard(ask, context.process.now(), await shownIds(context, client, 'out', idsOf(ask)));
  const { terminal } = context;
  const width = await measure(cardLines(card, Number.POSITIVE_INFINITY).lines);
  const { lines, hidden } = cardLines(
    card,
    flags.bool('full') === true ? Number.POSITIVE_INFINITY : 40,
    terminal.stdoutIsTerminal ? { columns: terminal.columns, width } : null,
  );
  const verdict = ask.verdict === null ? [] : [`  ${ask.state} by ${ask.verdict.by} at ${ask.verdict.at}`];
  const feedback =
    ask.verdict?.feedback === undefined ? [] : [`  feedback: ${escapeText(ask.verdict.feedback, { mode: 'line' })}`];
  const why = flags.bool('explain') === true ? await explain(context, client, ask) : [];
  // Every line was made visible when the card was built.
  await terminal.out(`${[...lines, ...verdict, ...feedback, ...why].join('\n')}\n`);
  if (hidden > 0) context.hint(`${hidden} lines hidden; --full shows them`);
  return 0;
};

type Answer = {
  readonly outcome: 'approve' | 'deny' | 'answer' | 'cancel';
  readonly feedback: string | null;
  readonly text: string | null;
  readonly remember: null;
};

/** Exactly one verdict flag (03 §12). @throws RuntimeError usage, not_built */
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
  if (outcome === 'treat-as' || flags.bool('wait') === true) {
    const flag = outcome === 'treat-as' ? '--treat-as' : '--wait';
    throw new RuntimeError('not_built', `"approvals respond ${flag}" is not built yet`);
  }
  const feedback = flags.text('feedback');
  if (feedback !== null && outcome !== 'deny') throw usage('--feedback belongs to --deny');
  if (feedback !== null && feedback.length > 4000) throw usage('--feedback is longer than 4000 characters');
  if (flags.has('text')) throw usage('--text belongs to --treat-as done');
  if (flags.has('remember')) throw new RuntimeError('not_built', '"approvals respond --remember" is not built yet');
  const text = flags.text('answer');
  return { outcome, feedback, text: text === '-' ? await readStdinText(context, '--answer') : text, remember: null };
}

const respond: Handler = async (context) => {
  const { words, flags } = context.invocation;
  const answer = await readAnswer(context);
  const bindings = readBindings(flags.list('binding'), words);
  if (words.length > 1 && answer.outcome === 'approve' && !words.every((id) => bindings.has(id))) {
    throw usage('several asks are approved at once only with --binding <id>=<hex> for each');
  }
  if (words.length > 1 && answer.outcome === 'answer') throw usage('--answer takes one ask');
  const client = await context.client();
  const text = context.globals.format === 'text';
  const recorded: Ask[] = [];
  for (const id of words) {
    const binding = await wholeBinding(client, id, bindings.get(id) ?? null);
    const { ask } = await client.answerAsk({ id, ...answer, binding, no_resume: flags.bool('resume') === false });
    recorded.push(ask);
    // At once: a later one may be refused, and this verdict stands all the same.
    if (!text) continue;
    const shown = await shownIds(context, client, 'out', [ask.id]);
    await context.print(`${ask.state} ${shown(ask.id)}`);
  }
  if (!text) await context.printJson(recorded);
  return 0;
};

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
