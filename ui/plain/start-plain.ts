import { createInterface } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import { RuntimeError, toWire } from '../../src/schema/errors.ts';
import type { Glyphs } from '../../src/view/escape.ts';
import { labelled, type PlainLook } from '../../src/view/plain-lines.ts';
import { createEffects } from '../effects.ts';
import { readKeysFile } from '../keys/keys-file.ts';
import type { TuiOptions } from '../options.ts';
import { settingsOf } from '../settings.ts';
import { firstState, type State } from '../state.ts';
import { createStore } from '../store.ts';
import { createJudgedUnder } from '../judged-under.ts';
import { createLineCache } from '../transcript/line-cache.ts';
import { createClientLink } from '../use-client.ts';
import { createComposerEffects } from '../composer/composer-effects.ts';
import { createHistoryFile, historyPath } from '../composer/history-file.ts';
import { createPlainAsks } from './plain-asks.ts';
import { createPlainOverlays } from './plain-overlays.ts';
import { watchPastes } from './pasting.ts';
import { quitAtSecond } from './quit-key.ts';
import { plural } from '../../src/view/format.ts';
import { createPromptLine } from './prompt-line.ts';
import { echoDeleted } from './echo-deleted.ts';
import { createSlashEffects } from '../slash-effects.ts';
import { createPlanEffects } from '../plan/plan-effects.ts';
import { planLines, spokenPlan } from '../../src/view/plan-lines.ts';
import { createTelling } from './telling.ts';

export type PlainOptions = TuiOptions & {
  /** Why the screen reader mode is on; null = plain mode. */
  readonly reader: 'flag' | 'environment' | 'config' | null;
};

/** Who listens hears where they are before a prompt comes (10 §10.2). */
const firstPromptMs = 1000;

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
  const bottom = createPromptLine({ lines, output, edits: !dumb, holds: reader !== null });
  const { write } = bottom;
  let glyphs: Glyphs = options.theme({ theme: null, glyphs: null }).glyphs;
  // Signs that a voice leaves out would hide what they stand for.
  const look = (): PlainLook => ({
    glyphs: reader === null ? glyphs : 'ascii',
    columns: output.columns || 80,
    spoken: reader !== null,
  });
  const noted = (label: string, text: string, atOnce?: true): void => {
    for (const line of labelled(label, text, look())) write(line, atOnce);
  };
  /** Lines that were continued. */
  let pending = '';
  /** Who listens is told where they are before a prompt comes (10 §10.2). */
  let begun = reader === null;
  let leave: (code: number) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const left = new Promise<number>((resolve, reject) => {
    leave = resolve;
    fail = reject;
  });
  const bell = (): void => {
    if (reader !== null) output.write('\u0007');
  };

  /** A prompt stands only where something is waited for: what runs is told above it. */
  const prompt = (): void => {
    const { phase, turn, plan } = store.state();
    const rests = phase === 'ready' && turn === null && plan.driving === null && begun;
    bottom.show(asks.prompt() ?? overlays.prompt() ?? (rests ? (pending === '' ? '> ' : '| ') : null));
  };

  const tell = createTelling({ write, look, think: options.thinkOpen, bell, now });
  const draw = (state: State): void => {
    tell(state);
    overlays.look(state);
    asks.look(state);
    prompt();
  };

  const asks = createPlainAsks({
    client: options.client,
    write,
    judgedUnder: () => judged.under(),
    look,
    bell,
    now,
    guardMs: () => store.state().guardMs,
    drop: bottom.drop,
    later: (ms, call) => {
      const timer = setTimeout(call, ms);
      return () => clearTimeout(timer);
    },
    goOn: (ask) => link.goOn(ask),
  });
  const overlays = createPlainOverlays({
    write,
    look,
    dispatch: (action) => store.dispatch(action),
    perform: (effect) => effects.perform(effect),
    now,
  });
  const link = createClientLink({
    client: options.client,
    request: options.request,
    now,
    session: () => store.state().session,
    policy: options.policy,
    model: options.model,
    settings: (given) => {
      const settings = settingsOf(given);
      glyphs = options.theme(settings).glyphs;
      store.dispatch({ type: 'collapse', lines: settings.collapse, guardMs: settings.guardMs });
    },
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
    {
      cache,
      get glyphs() {
        return look().glyphs;
      },
    },
    effects.perform,
    draw,
  );

  let interrupted = Number.NEGATIVE_INFINITY;
  // What answers a question is no message to be taken back.
  lines.on('history', (entries) => {
    if (asks.prompt() !== null || overlays.prompt() !== null) entries.shift();
  });
  lines.on('line', (line) => {
    bottom.taken();
    if (pastes?.now() === true) {
      pending += `${line}\n`;
      return;
    }
    if (asks.prompt() !== null) {
      asks
        .answer(line)
        .catch((error: unknown) => noted('error: ', toWire(error).message))
        .finally(prompt);
      return;
    }
    if (overlays.prompt() !== null) {
      overlays.answer(line);
      return prompt();
    }
    if (line.endsWith('\\')) {
      pending += `${line.slice(0, -1)}\n`;
      return prompt();
    }
    const text = pending + line;
    pending = '';
    if (text.trim() === '') return prompt();
    if (/^\/plan(?:\s+show)?\s*$/.test(text)) {
      const { plan } = store.state().plan;
      for (const each of plan === null
        ? ['there is no plan: /plan new <goal>']
        : reader === null
          ? planLines(plan)
          : spokenPlan(plan))
        noted('note: ', each);
      return prompt();
    }
    if (text.trim() === '/') return store.dispatch({ type: 'submit', text: '/help', now: now() });
    store.dispatch({ type: 'submit', text, now: now() });
  });
  lines.on('SIGINT', () => {
    const { turn, plan } = store.state();
    const runId = turn?.run_id ?? plan.driving?.run_id ?? null;
    if (runId !== null) return effects.perform({ do: 'interrupt', run_id: runId, at_once: false });
    if (lines.line !== '' || pending !== '') {
      pending = '';
      bottom.drop();
      return prompt();
    }
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
  const listens = (): void => {
    const begin = (): void => {
      clearTimeout(timer);
      begun = true;
      prompt();
    };
    const timer = setTimeout(begin, firstPromptMs);
    input.once('keypress', begin);
  };
  const pastes = dumb
    ? null
    : watchPastes(input, output, () => {
        const asked = (asks.prompt() ?? overlays.prompt()) !== null;
        if (pending !== '')
          noted(
            'note: ',
            asked ? 'a paste answers nothing' : `pasted ${plural(pending.split('\n').length - 1, 'line')}: Enter sends`,
            true,
          );
        if (asked) {
          pending = '';
          bottom.drop();
        }
        prompt();
      });
  const stay = dumb
    ? () => undefined
    : quitAtSecond({
        input,
        lines,
        now,
        asked: () => (asks.prompt() ?? overlays.prompt()) !== null,
        again: () => noted('note: ', 'press Ctrl+D again to quit'),
      });
  const silent =
    reader === null ? () => undefined : echoDeleted(input, lines, (text) => noted('note: ', `deleted "${text}"`, true));
  try {
    if (reader !== null) write(`screen reader mode: on via ${reader}`);
    if (reader !== null) listens();
    link.open(options.session).catch(fail);
    return await left;
  } finally {
    for (const stop of stops) stop();
    silent();
    stay();
    bottom.close();
    pastes?.close();
    asks.close();
    await composer.close();
    link.close();
    plans.close();
    store.close();
    lines.close();
  }
}
