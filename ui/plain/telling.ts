import { formatSpan, plural } from '../../src/view/format.ts';
import { labelled, type PlainLook } from '../../src/view/plain-lines.ts';
import { textOfItem } from '../item-text.ts';
import type { Search, State } from '../state.ts';
import { shortCount } from '../status-lines.ts';
import { createPrinter, type Printer } from './printer.ts';

export type TellingDeps = {
  readonly write: (line: string) => void;
  readonly look: () => PlainLook;
  /** With the reasoning. */
  readonly think: boolean;
  readonly bell: () => void;
  readonly now: () => number;
};

/** Who cannot look at the screen is told by a bell that a tool which took longer has ended (10 §10.2). */
const longMs = 5000;
/** Hits of a search that are told. */
const mostHits = 20;

/** Says what has changed since the state before, in lines (10 §10.1): what came, what was said, and how a turn ended. */
export function createTelling({ write, look, think, bell, now }: TellingDeps): (state: State) => void {
  const printerOf = (): Printer =>
    createPrinter({
      line: write,
      think: () => think,
      look,
      ended: ({ ms }) => {
        if ((ms ?? 0) > longMs) bell();
      },
    });
  let before: State | null = null;
  /** Tokens of the turns before: those are counted for as long as the program runs. */
  let counted: Pick<State['facts']['tokens'], 'in' | 'out'> = { in: 0, out: 0 };
  let chat = printerOf();
  let step = { run: '', printer: printerOf() };

  const say = (text: string, bad = false): void => {
    for (const line of labelled(bad ? 'warning: ' : 'note: ', text, look())) write(line);
  };

  /** What the step that runs here does; a step that is only looked at is told by `/plan`. */
  const tellStep = ({ plan }: State): void => {
    const runs = plan.driving?.run_id ?? null;
    if (runs !== null && runs !== step.run) step = { run: runs, printer: printerOf() };
    // What the step was told stands in the plan.
    const items = plan.items.filter(({ kind }) => kind !== 'user');
    if (plan.run === step.run) step.printer.items(items, runs);
  };

  const tellEnd = ({ facts: { context, tokens } }: State, since: number): void => {
    const used =
      context === null
        ? ''
        : `, context ${about(context.estimated)}${shortCount(context.used)} of ${limitOf(context.limit)}`;
    const took = formatSpan(now() - since);
    const [read, written] = [tokens.in - counted.in, tokens.out - counted.out];
    say(`${took}, ${about(tokens.estimated)}${shortCount(read)} tokens in, ${shortCount(written)} out${used}`);
    bell();
  };

  const tellHits = ({ items }: State, { query, hits }: Search): void => {
    say(`${plural(hits.length, 'hit')} for "${query}"`);
    const wanted = query.toLowerCase();
    for (const [index, { id }] of hits.slice(-mostHits).entries()) {
      const item = items.find((one) => one.id === id);
      const lines = item === undefined ? [] : textOfItem(item).split('\n');
      const hit = lines.find((line) => line.toLowerCase().includes(wanted)) ?? lines[0] ?? '';
      if (item !== undefined) for (const line of labelled(`${index + 1}. ${item.kind}: `, hit, look())) write(line);
    }
  };

  return (state) => {
    const known = before?.session?.id;
    // Another session is told by its last turns, as it is when it is opened.
    if (known !== undefined && state.session !== null && state.session.id !== known) {
      chat = printerOf();
      say(`session ${state.session.name}`);
    }
    chat.items(state.items, state.turn?.run_id ?? null);
    tellStep(state);
    if (state.composer.problems !== before?.composer.problems)
      for (const problem of state.composer.problems) say(problem, true);
    const { held, queue } = state.composer;
    if (!held && queue.length > (before?.composer.queue.length ?? 0))
      say(`queued: ${queue.length === 1 ? 'it is' : `${queue.length} messages are`} sent when this turn is over`);
    if (held && before?.composer.held !== true)
      say(`${plural(queue.length, 'queued message')} held: Enter sends the next, /queue clear drops all`);
    if (state.said !== null && state.said !== before?.said) say(state.said.text, state.said.bad);
    const { said } = state.plan;
    if (said !== null && said !== before?.plan.said) say(said.text, said.bad);
    if (state.search !== null && state.search.hits !== before?.search?.hits) tellHits(state, state.search);
    if (before?.turn != null && state.turn === null) {
      // Only a turn that is still in view has ended.
      if (known === undefined || known === state.session?.id) tellEnd(state, before.turn.started_at);
      else say(`the turn of ${before.session?.name ?? ''} goes on there`);
    }
    if (state.turn === null) counted = state.facts.tokens;
    const inView = before?.turn != null && state.turn === null;
    // What was open at the start has rung when it was opened.
    const opened = before?.phase === 'ready' && isAskedElsewhere(before, state);
    if (opened || (!inView && state.over !== (before?.over ?? null))) bell();
    before = state;
  };
}

/** A question of the run in view rings when it is put. */
function isAskedElsewhere(before: State, { asks, turn, plan }: State): boolean {
  const known = new Set(before.asks.map(({ id }) => id));
  const own = [turn?.run_id, plan.driving?.run_id];
  return asks.some(({ id, run_id }) => !known.has(id) && (run_id === null || !own.includes(run_id)));
}

const about = (estimated: boolean): string => (estimated ? 'about ' : '');
const limitOf = (limit: number | null): string => (limit === null ? '?' : shortCount(limit));
