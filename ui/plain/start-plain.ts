import { createInterface } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import type { Ask } from '../../src/schema/ask.ts';
import { toWire } from '../../src/schema/errors.ts';
import { explanationLines } from '../../src/view/explanation.ts';
import { escapeText } from '../../src/view/escape.ts';
import { formatSpan } from '../../src/view/format.ts';
import { labelled } from '../../src/view/plain-lines.ts';
import { createEffects } from '../effects.ts';
import { readKeysFile } from '../keys/keys-file.ts';
import { viewOf } from '../overlays/views.ts';
import type { TuiOptions } from '../options.ts';
import { firstState, type State } from '../state.ts';
import { shortCount } from '../status-lines.ts';
import { createStore } from '../store.ts';
import { createLineCache } from '../transcript/line-cache.ts';
import { createClientLink } from '../use-client.ts';
import { textOf } from '../../src/view/line.ts';
import { askLines, choicesOf, type PlainChoice } from './ask-lines.ts';
import type { Overlay } from '../overlays/overlay.ts';
import { createSlashEffects } from '../slash-effects.ts';
import { createPlanEffects } from '../plan/plan-effects.ts';
import { planLines } from '../../src/view/plan-lines.ts';
import { createPrinter } from './printer.ts';

export type PlainOptions = TuiOptions & {
  /** Why the screen reader mode is on; null = plain mode. */
  readonly reader: 'flag' | 'environment' | 'config' | null;
};

/** The question that the next line answers. */
type Asked = { readonly ask: Ask; readonly choices: readonly PlainChoice[]; hidden: number; words: boolean };

/**
 * The same program as lines that are only ever appended (10 §10): one client, one state, no screen.
 * @returns the exit code
 */
export async function startPlain(options: PlainOptions): Promise<number> {
  const { now, reader } = options;
  const output: WriteStream = options.output;
  const input: ReadStream = options.input;
  const cache = createLineCache();
  const dumb = !options.editsLines;
  const lines = createInterface({ input, output, terminal: !dumb, prompt: '> ', historySize: 100 });
  const write = (text: string): void => {
    output.write(`${text}\n`);
  };
  const printer = createPrinter(write, () => options.thinkOpen);
  let asked: Asked | null = null;
  const settled = new Set<string>();
  let announced: State | null = null;
  /** What the next line may choose from, where a question was put. */
  let choosing: Extract<Overlay, { kind: 'question' }> | null = null;
  let leave: (code: number) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const left = new Promise<number>((resolve, reject) => {
    leave = resolve;
    fail = reject;
  });
  const bell = (): void => {
    if (reader !== null) output.write('\u0007');
  };

  const prompt = (): void => {
    if (asked === null) lines.setPrompt('> ');
    else if (asked.words) lines.setPrompt('words: ');
    else if (reader !== null) lines.setPrompt(`Enter a number, 1 to ${asked.choices.length}: `);
    else lines.setPrompt(`ask_${asked.ask.id.slice(-6)}: ${asked.choices.map(({ letter }) => letter).join(' ')}> `);
    lines.prompt(true);
  };

  const put = (ask: Ask, whole: boolean): void => {
    const shown = askLines(ask, now(), output.columns || 80, whole);
    for (const each of shown.lines) write(each);
    asked = { ask, choices: choicesOf(ask, now()), hidden: shown.hidden, words: false };
    if (shown.hidden > 0) write(`note: ${shown.hidden} lines are hidden: v shows all, and nothing unseen is approved`);
    if (reader !== null) {
      for (const [index, { words }] of asked.choices.entries()) write(`${index + 1}. ${words}`);
      if (ask.expires_at !== null)
        write(`note: it can be answered for ${formatSpan(Date.parse(ask.expires_at) - now())}`);
    }
    bell();
  };

  const draw = (state: State): void => {
    printer.items(state.items, state.turn?.run_id ?? null);
    for (const overlay of state.overlays) {
      if ('rows' in overlay && overlay.rows === null) continue;
      const view = viewOf(overlay, state, Math.max(40, (output.columns || 80) - 6));
      write(`note: ${view.title}`);
      for (const line of view.body) write(`note: ${textOf(line)}`.trimEnd());
      if (overlay.kind === 'question') {
        choosing = overlay;
        for (const { key, words } of overlay.choices)
          write(`note: ${key} and Enter: ${words}; anything else does nothing`);
      }
      queueMicrotask(() => store.dispatch({ type: 'no-overlays' }));
    }
    if (state.said !== null && state.said !== announced?.said)
      for (const each of labelled(state.said.bad ? 'warning: ' : 'note: ', state.said.text)) write(each);
    if (state.plan.said !== null && state.plan.said !== announced?.plan.said)
      for (const each of labelled(state.plan.said.bad ? 'warning: ' : 'note: ', state.plan.said.text)) write(each);
    if (announced?.turn != null && state.turn === null) {
      const { context, tokens } = state.facts;
      const took = formatSpan(now() - announced.turn.started_at);
      const used =
        context === null
          ? ''
          : `, context ${shortCount(context.used)} of ${context.limit === null ? '?' : shortCount(context.limit)}`;
      write(`note: ${took}, ${shortCount(tokens.in)} tokens in, ${shortCount(tokens.out)} out${used}`);
      bell();
    }
    if (asked !== null && !state.asks.some(({ id }) => id === asked?.ask.id)) {
      if (!settled.has(asked.ask.id)) write('note: it was answered elsewhere');
      asked = null;
    }
    const mine = state.asks.find(
      ({ run_id, id }) =>
        run_id !== null && (run_id === state.turn?.run_id || run_id === state.plan.driving?.run_id) && !settled.has(id),
    );
    if (asked === null && mine !== undefined) put(mine, false);
    const wasBusy = announced?.turn != null;
    announced = state;
    if (state.phase === 'ready' && (asked !== null || state.turn === null || wasBusy !== (state.turn !== null)))
      prompt();
  };

  const link = createClientLink({
    client: options.client,
    request: options.request,
    now,
    session: () => store.state().session,
    policy: options.policy,
    model: options.model,
    settings: () => undefined,
    planChanged: () => plans.changed(),
    goOnWithPlan: (plan) => plans.perform({ do: 'steps', plan, auto: false }),
    // A line that was not finished is in the prompt, not in a draft.
    opened: async () => undefined,
    dispatch: (action) => store.dispatch(action),
  });
  const plans = createPlanEffects({
    client: options.client,
    state: () => store.state(),
    dispatch: (action) => store.dispatch(action),
    now,
    options: options.planOptions,
    shell: options.shell,
  });
  const slash = createSlashEffects({
    client: options.client,
    link,
    state: () => store.state(),
    dispatch: (action) => store.dispatch(action),
    say: (text, bad) => store.dispatch({ type: 'say', text, bad, now: now() }),
    // Lines have no colours, and a bell of their own.
    setTheme: () => false,
    setNotify: () => undefined,
    writeFile: options.writeFile,
  });
  const nothing = {
    size: () => ({ columns: output.columns || 80, rows: output.rows || 24 }),
    enter: () => undefined,
    leave: () => undefined,
    held: () => false,
    paint: () => undefined,
    forget: () => undefined,
    title: () => undefined,
    protocol: () => undefined,
    signal: () => undefined,
  };
  const effects = createEffects({
    link,
    client: options.client,
    screen: nothing,
    state: () => store.state(),
    dispatch: (action) => store.dispatch(action),
    leave: (how) => leave(typeof how === 'number' ? how : 0),
    now,
    // Cards, lists and fields of the screen have no place among lines: questions are put above.
    asks: { perform: () => undefined },
    plans,
    slash,
    // The question with its whole text belongs to the screen; here the commands are named.
    trust: {
      review: async () => write('note: reins trust list shows what waits, reins trust add trusts it'),
      answer: async () => undefined,
    },
    composer: { perform: () => undefined },
    edit: () => write('note: the external editor belongs to the full-screen mode'),
    inTmux: false,
    clipboard: () => 'file',
    judgedUnder: async () => {
      const { policy, trust, allowed_dir } = await options.request(await options.client());
      return { policy, trust, allowed_dir };
    },
    print: async (given) => {
      for (const each of given) write(each);
    },
  });
  const store = createStore(
    firstState({
      size: { columns: Math.max(60, output.columns || 80), rows: Math.max(24, output.rows || 24) },
      now: now(),
      keys: readKeysFile(null).map,
      thinkOpen: options.thinkOpen,
      facts: {
        policy: null,
        model: null,
        backend: null,
        context: null,
        tokens: { in: 0, out: 0, estimated: false },
        cwd: options.cwd,
        shell: options.shell,
      },
    }),
    { cache, glyphs: 'unicode' },
    effects.perform,
    draw,
  );

  /** A line while a question stands there: one letter, or a number for a screen reader. */
  const answer = async (question: Asked, text: string): Promise<void> => {
    const client = await options.client();
    const { ask } = question;
    const given = { id: ask.id, feedback: null, text: null, remember: null, binding: ask.binding } as const;
    const send = async (over: Partial<Parameters<typeof client.answerAsk>[0]>): Promise<void> => {
      settled.add(ask.id);
      const { ask: now, rests } = await client.answerAsk({ ...given, outcome: 'approve', ...over });
      write(`note: ${now.state} ask_${ask.id.slice(-6)}`);
      asked = null;
      if (rests) await link.goOn(ask);
    };
    if (question.words) {
      const outcome = ask.kind === 'question' ? 'answer' : ask.kind === 'unknown_outcome' ? 'answer' : 'deny';
      return send({
        outcome,
        ...(outcome === 'deny' ? { feedback: text } : { text }),
        ...(ask.kind === 'unknown_outcome' ? { treat_as: 'done' as const } : {}),
      });
    }
    const chosen =
      reader === null
        ? question.choices.find(({ letter }) => letter === text.trim())
        : question.choices[Number(text.trim()) - 1];
    const approves = chosen !== undefined && ['once', 'session', 'run_again'].includes(chosen.choice);
    if (approves && question.hidden > 0) return write('note: not everything was shown: v shows all');
    switch (chosen?.choice) {
      case 'once':
        return send({});
      case 'session':
        return send({ remember: 'session' });
      case 'deny':
        return send({ outcome: 'deny' });
      case 'deny_feedback':
      case 'answer':
      case 'done':
        question.words = true;
        return;
      case 'run_again':
      case 'skip':
        return send({ outcome: 'answer', treat_as: chosen.choice });
      case 'full':
        return put(ask, true);
      case 'explain': {
        const why = await client.explainCall({
          call: null,
          ask: ask.id,
          as_asked: true,
          cwd: null,
          policy: null,
          trust: [],
          allowed_dir: null,
        });
        for (const each of explanationLines(why)) write(`note: ${escapeText(each, { mode: 'line' })}`);
        return;
      }
      case 'later':
        settled.add(ask.id);
        write(`note: it stays open: reins approvals respond ask_${ask.id.slice(-6)} --approve|--deny`);
        asked = null;
        return;
      default:
        return;
    }
  };

  let interrupted = Number.NEGATIVE_INFINITY;
  let pending = '';
  lines.on('line', (line) => {
    if (asked !== null) {
      const question = asked;
      answer(question, line)
        .catch((error: unknown) => write(`error: ${escapeText(toWire(error).message, { mode: 'line' })}`))
        .finally(prompt);
      return;
    }
    if (choosing !== null) {
      const choice = choosing.choices.find(({ key }) => key === line.trim());
      const { otherwise } = choosing;
      choosing = null;
      for (const effect of choice?.effects ?? otherwise ?? []) effects.perform(effect);
      return prompt();
    }
    if (line.endsWith('\\')) {
      pending += `${line.slice(0, -1)}\n`;
      return;
    }
    const text = pending + line;
    pending = '';
    if (text.trim() === '') return prompt();
    if (/^\/plan(?:\s+show)?\s*$/.test(text)) {
      const { plan } = store.state().plan;
      for (const each of plan === null ? ['there is no plan: /plan new <goal>'] : planLines(plan))
        for (const part of labelled('note: ', each)) write(part);
      return prompt();
    }
    store.dispatch({ type: 'submit', text, now: now() });
  });
  lines.on('SIGINT', () => {
    const { turn, plan } = store.state();
    const runId = turn?.run_id ?? plan.driving?.run_id ?? null;
    if (runId !== null) return effects.perform({ do: 'interrupt', run_id: runId, at_once: false });
    if (now() - interrupted < 2000) return leave(0);
    interrupted = now();
    write('note: press Ctrl+C again to quit');
    prompt();
  });
  lines.on('close', () => leave(0));
  const stops = (['SIGTERM', 'SIGHUP'] as const).map((signal) => {
    const listener = (): void => leave(143);
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  try {
    if (reader !== null) write(`screen reader mode: on via ${reader}`);
    link.open(options.session).catch(fail);
    return await left;
  } finally {
    for (const stop of stops) stop();
    link.close();
    plans.close();
    store.close();
    lines.close();
  }
}
