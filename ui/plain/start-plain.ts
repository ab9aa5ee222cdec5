import { createInterface } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import { RuntimeError, toWire } from '../../src/schema/errors.ts';
import { escapeText } from '../../src/view/escape.ts';
import { formatSpan } from '../../src/view/format.ts';
import { labelled } from '../../src/view/plain-lines.ts';
import { createEffects } from '../effects.ts';
import { readKeysFile } from '../keys/keys-file.ts';
import { viewOf } from '../overlays/views.ts';
import { whyText } from '../overlays/why-view.ts';
import type { TuiOptions } from '../options.ts';
import { firstState, type State } from '../state.ts';
import { shortCount } from '../status-lines.ts';
import { createStore } from '../store.ts';
import { createJudgedUnder } from '../judged-under.ts';
import { createLineCache } from '../transcript/line-cache.ts';
import { createClientLink } from '../use-client.ts';
import { textOf } from '../../src/view/line.ts';
import { createComposerEffects } from '../composer/composer-effects.ts';
import { createHistoryFile, historyPath } from '../composer/history-file.ts';
import { createPlainAsks } from './plain-asks.ts';
import type { Overlay } from '../overlays/overlay.ts';
import { createSlashEffects } from '../slash-effects.ts';
import { createPlanEffects } from '../plan/plan-effects.ts';
import { planLines } from '../../src/view/plan-lines.ts';
import { createPrinter } from './printer.ts';

export type PlainOptions = TuiOptions & {
  /** Why the screen reader mode is on; null = plain mode. */
  readonly reader: 'flag' | 'environment' | 'config' | null;
};

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
  const history = createHistoryFile(historyPath(options.home, options.root), () => options.mostHistory, now);
  const lines = createInterface({
    input,
    output,
    terminal: !dumb,
    prompt: '> ',
    historySize: options.mostHistory,
    history: (await history.read()).filter((text) => !text.includes('\n')).reverse(),
  });
  const write = (text: string): void => {
    output.write(`${text}\n`);
  };
  const printer = createPrinter(write, () => options.thinkOpen);
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
    lines.setPrompt(asks.prompt() ?? '> ');
    lines.prompt(true);
  };

  const draw = (state: State): void => {
    printer.items(state.items, state.turn?.run_id ?? null);
    for (const overlay of state.overlays) {
      if ('rows' in overlay && overlay.rows === null) continue;
      const view = viewOf(inLines(overlay), state, columnsFor(overlay, output.columns || 80));
      write(`note: ${view.title}`);
      for (const line of view.body) write(`note: ${textOf(line)}`.trimEnd());
      if (overlay.kind === 'question') {
        choosing = overlay;
        for (const { key, words } of overlay.choices)
          write(`note: ${key} and Enter: ${words}; anything else does nothing`);
      }
      queueMicrotask(() => store.dispatch({ type: 'no-overlays' }));
    }
    if (state.composer.problems !== announced?.composer.problems)
      for (const problem of state.composer.problems) for (const each of labelled('warning: ', problem)) write(each);
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
    asks.look(state);
    const wasBusy = announced?.turn != null;
    announced = state;
    if (state.phase === 'ready' && (asks.prompt() !== null || state.turn === null || wasBusy !== (state.turn !== null)))
      prompt();
  };

  const asks = createPlainAsks({
    client: options.client,
    write,
    reader: reader !== null,
    columns: () => output.columns || 80,
    bell,
    now,
    goOn: (ask) => link.goOn(ask),
  });
  const link = createClientLink({
    client: options.client,
    request: options.request,
    now,
    session: () => store.state().session,
    policy: options.policy,
    model: options.model,
    settings: () => undefined,
    planChanged: () => plans.changed(),
    // The notice of a run names the command that shows them.
    definitions: async () => undefined,
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
  const said = (text: string, bad: boolean): void => store.dispatch({ type: 'say', text, bad, now: now() });
  const judged = createJudgedUnder(options);
  const composer = createComposerEffects({
    client: options.client,
    dispatch: (action) => store.dispatch({ type: 'compose', action, now: now() }),
    session: () => store.state().session,
    history,
    mostHistory: () => options.mostHistory,
    root: judged.root,
    // Nothing is offered among lines: what is written is judged when it is sent.
    readable: async () => false,
    calls: { client: options.client, request: options.request, home: options.home, watch: (id) => link.watch(id) },
    shell: options.shell,
    attached: (message, read) => store.dispatch({ type: 'attached', message, read, now: now() }),
    say: said,
    openAsks: () => [],
    themes: () => [],
    now,
  });
  const slash = createSlashEffects({
    client: options.client,
    link,
    state: () => store.state(),
    dispatch: (action) => store.dispatch(action),
    say: said,
    // Lines have no colours, and a bell of their own.
    setTheme: () => {
      throw new RuntimeError('usage', 'lines have no colours: themes belong to the full-screen mode');
    },
    keys: () => null,
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
    wheel: () => undefined,
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
      review: async () => {
        write('note: reins trust list shows what waits, reins trust add trusts it');
        write('note: reins mcp accept <name> and reins hook accept <name> show tools that have changed');
      },
      answer: async () => undefined,
    },
    definitions: { look: async () => undefined, review: async () => false, answer: async () => undefined },
    composer,
    edit: () => write('note: the external editor belongs to the full-screen mode'),
    inTmux: false,
    clipboard: () => 'file',
    judgedUnder: judged.under,
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

  let interrupted = Number.NEGATIVE_INFINITY;
  let pending = '';
  // What answers a question is no message to be taken back.
  lines.on('history', (entries) => {
    if (asks.prompt() !== null) entries.shift();
  });
  lines.on('line', (line) => {
    if (asks.prompt() !== null) {
      asks
        .answer(line)
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
    await composer.close();
    link.close();
    plans.close();
    store.close();
    lines.close();
  }
}

/** Tables are for a screen: here the same is told in sentences. */
const inLines = (overlay: Overlay): Overlay =>
  overlay.kind === 'why'
    ? { kind: 'explain', title: overlay.title, lines: whyText(overlay).split('\n'), at: 0 }
    : overlay;

/** Behind the label; the overview of the keys is one column. */
const columnsFor = (overlay: Overlay, columns: number): number =>
  overlay.kind === 'help' ? 60 : Math.max(40, columns - 6);
