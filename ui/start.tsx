import { type Instance, render } from 'ink';
import { toWire } from '../src/schema/errors.ts';
import { ulid } from '../src/text/ids.ts';
import type { Action } from './actions.ts';
import { escapeText } from '../src/view/escape.ts';
import { App } from './app.tsx';
import { shownIdOf } from './approvals/approvals-state.ts';
import { createAskEffects } from './approvals/ask-effects.ts';
import { createComposerEffects } from './composer/composer-effects.ts';
import { createHistoryFile, historyPath } from './composer/history-file.ts';
import { createHeap } from './heap.ts';
import { editWith } from './lend.ts';
import { divert } from './divert.ts';
import { createDefinitionEffects } from './definition-effects.ts';
import { createEffects } from './effects.ts';
import { farewell } from './farewell.ts';
import { createTimedDecoder } from './keys/input-decoder.ts';
import { readKeysFile } from './keys/keys-file.ts';
import { createPlanEffects } from './plan/plan-effects.ts';
import { createTrustEffects } from './trust-effects.ts';
import { createSlashEffects } from './slash-effects.ts';
import { createScreen } from './screen.ts';
import { createNotifier } from './notify.ts';
import { isOffered } from './composer/offered.ts';
import { frameSink } from './frame-sink.ts';
import { settingsOf, type Settings } from './settings.ts';
import { titleOf } from './title.ts';
import type { TuiOptions } from './options.ts';
import { handleSignals } from './signals.ts';
import { firstState, type State } from './state.ts';
import { createRest } from './rest.ts';
import { createStore } from './store.ts';
import { createJudgedUnder } from './judged-under.ts';
import { createLineCache } from './transcript/line-cache.ts';
import { createClientLink } from './use-client.ts';

/** An exit code, or the mode in which the program goes on. */
export type Left = number | 'plain' | 'screen-reader';

/**
 * The full-screen terminal until it is left; the terminal is then as it was.
 * @returns the exit code (10 §1.5), or how it is to go on without the screen. @throws what kept the program from opening
 */
export async function startTui(options: TuiOptions): Promise<Left> {
  const { input, output, errors, now } = options;
  let theme = options.theme({ theme: null, glyphs: null });
  const cache = createLineCache();
  const ruler = {
    cache,
    get glyphs() {
      return theme.glyphs;
    },
  };
  const diverted = divert([output, errors], options.trace);
  const keys = readKeysFile(options.keys());
  let settings: Settings = { ...settingsOf(new Map()), history: options.mostHistory };
  let leave: (how: Left) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const left = new Promise<Left>((resolve, reject) => {
    leave = resolve;
    fail = reject;
  });

  const decoder = createTimedDecoder(
    (events) => {
      for (const event of events) {
        if (event.type === 'key') notifier.key();
        if (event.type === 'focus' || event.type === 'blur') notifier.focus(event.type === 'focus');
        if (event.type === 'key') store.dispatch({ type: 'key', key: event, now: now() });
        else if (event.type === 'paste') store.dispatch({ type: 'paste', text: event.text, now: now() });
        else if (event.type === 'mouse') store.dispatch({ type: 'wheel', delta: event.wheel === 'up' ? -3 : 3 });
        else if (event.type === 'protocol') screen.protocol();
      }
    },
    () => performance.now(),
  );
  const screen = createScreen({
    input,
    output,
    focus: true,
    write: (text) => diverted.write(output, text),
    holds: (held) => (held ? diverted.on() : diverted.off()),
    bytes: (chunk) => decoder.push(chunk),
    resized: (size) => store.dispatch({ type: 'resize', size, now: now() }),
    gone: () => leave(143),
  });

  const notifier = createNotifier({
    now,
    way: () => settings.notify,
    program: options.terminalProgram,
    inTmux: options.inTmux,
    signal: (bytes) => screen.signal(bytes),
  });
  let instance: Instance | null = null;
  const draw = (state: State): void => {
    const node = <App state={state} theme={theme} cache={cache} />;
    screen.title(titleOf(state));
    notifier.look(state);
    if (instance === null) {
      instance = render(
        node,
        frameSink(() => store.state().size, screen.paint),
      );
      instance.waitUntilExit().catch(crash);
    } else instance.rerender(node);
  };
  const printed = async (lines: readonly string[]): Promise<void> => {
    screen.leave();
    output.write(`${lines.join('\n')}\n\nEnter goes back. `);
    await new Promise<void>((resolve) => {
      input.once('data', () => resolve());
      input.resume();
    });
    screen.enter();
    store.dispatch({ type: 'resize', size: screen.size(), now: now() });
  };
  const crash = (error: unknown): void => {
    screen.leave();
    const id = ulid(now()).slice(-8);
    options.trace(`${id} ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    options.say(
      `reins: internal error ${id}: ${escapeText(error instanceof Error ? error.message : String(error), { mode: 'line' })}`,
    );
    options.exit(1);
  };

  const mostHistory = (): number => settings.history ?? options.mostHistory;
  const dispatch = (action: Action): void => store.dispatch(action);
  const link = createClientLink({
    client: options.client,
    request: options.request,
    now,
    session: () => store.state().session,
    policy: options.policy,
    model: options.model,
    settings: (given) => {
      const next = settingsOf(given);
      const kept = next.history ?? settings.history;
      const rereads = kept !== settings.history;
      settings = { ...next, history: kept };
      try {
        theme = options.theme(settings);
      } catch (error) {
        dispatch({ type: 'notice', level: 'warn', text: toWire(error).message });
      }
      screen.forget();
      screen.wheel(settings.wheel);
      store.calm(settings.calm);
      if (options.modeIsOpen && settings.mode !== null) leave(settings.mode);
      dispatch({ type: 'collapse', lines: settings.collapse, guardMs: settings.guardMs });
      if (rereads) void composer.start().catch(() => undefined);
      void trust.review(false).catch(() => undefined);
    },
    dispatch,
    opened: (id) => composer.restore(id),
    planChanged: () => plans.changed(),
    definitions: () => definitions.look(),
    goOnWithPlan: (plan) => plans.perform({ do: 'steps', plan, auto: false }),
  });
  const said = (text: string, bad: boolean): void => dispatch({ type: 'say', text, bad, now: now() });
  const judged = createJudgedUnder(options);
  const asks = createAskEffects({
    client: options.client,
    dispatch: (action) => dispatch({ type: 'approve', action, now: now() }),
    goOn: (ask) => link.goOn(ask),
    explain: (id) => effects.perform({ do: 'explain-ask', ask_id: id }),
    editText: (ask, text) => effects.perform({ do: 'edit-text', ask, text }),
    say: said,
    now,
    judgedUnder: judged.under,
  });
  const plans = createPlanEffects({
    client: options.client,
    state: () => store.state(),
    dispatch,
    now,
    options: options.planOptions,
    shell: options.shell,
  });
  const composer = createComposerEffects({
    client: options.client,
    dispatch: (action) => dispatch({ type: 'compose', action, now: now() }),
    session: () => store.state().session,
    history: createHistoryFile(historyPath(options.home, options.root), mostHistory, now),
    mostHistory,
    root: judged.root,
    readable: async (path) => {
      const call = { tools: 'local_fs', tool: 'read_file', args: { path } };
      const under = await judged.under();
      const client = await options.client();
      const told = await client.explainCall({ call, ask: null, as_asked: false, cwd: null, ...under });
      return told.refused === null && isOffered(told);
    },
    calls: {
      client: options.client,
      request: options.request,
      home: options.home,
      watch: (runId) => link.watch(runId),
    },
    shell: options.shell,
    openAsks: () => store.state().approvals.asks.map(({ id }) => shownIdOf(store.state().approvals)(id)),
    themes: options.themeNames,
    attached: (message, read) => dispatch({ type: 'attached', message, read, now: now() }),
    say: said,
    now,
  });
  const definitions = createDefinitionEffects({ client: options.client, dispatch, say: said, now });
  const trust = createTrustEffects({
    client: options.client,
    definitions: definitions.review,
    untrusted: options.untrusted,
    trustOnce: options.trustOnce,
    dispatch,
    say: said,
    now,
  });
  const slash = createSlashEffects({
    client: options.client,
    link,
    state: () => store.state(),
    dispatch,
    say: said,
    setTheme: (name) => {
      theme = options.themeNamed(name);
      screen.forget();
    },
    keys: options.keys,
    setNotify: (way) => {
      settings = { ...settings, notify: way };
    },
    writeFile: options.writeFile,
  });
  const effects = createEffects({
    trust,
    definitions,
    slash,
    asks,
    plans,
    composer,
    edit: (text, ask) => void editWith({ screen, edit: options.edit, dispatch, now })(text, ask).catch(crash),
    link,
    client: options.client,
    screen,
    state: () => store.state(),
    dispatch,
    leave: (how) => leave(how),
    now,
    inTmux: options.inTmux,
    clipboard: () => settings.clipboard,
    judgedUnder: judged.under,
    print: (lines) => printed(lines),
  });
  const store = createStore(
    firstState({
      size: screen.size(),
      now: now(),
      keys: keys.map,
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
    ruler,
    effects.perform,
    draw,
  );
  const restore = (): void => screen.leave();
  const stopSignals = handleSignals({
    screen,
    leave: (code) => leave(code),
    exit: options.exit,
    crash,
    cancel: effects.cancelAll,
    shown: () => {
      screen.forget();
      store.dispatch({ type: 'resize', size: screen.size(), now: now() });
    },
  });
  process.once('exit', restore);
  const heap = createHeap();
  const rest = createRest({
    used: heap.used,
    collect() {
      cache.shorten();
      heap.collect();
    },
  });
  let seconds = 0;
  const clock = setInterval(() => {
    seconds += 1;
    rest(store.state(), now());
    if (!settings.calm || seconds % calmSeconds === 0) effects.tick();
  }, 1000);
  clock.unref();
  try {
    screen.enter();
    draw(store.state());
    for (const notice of keys.notices) store.dispatch({ type: 'notice', level: 'warn', text: `keys.json: ${notice}` });
    void composer.start().catch(() => undefined);
    link.open(options.session).catch(fail);
    const code = await left;
    await composer.close();
    link.close();
    plans.close();
    screen.leave();
    if (typeof code === 'number')
      for await (const line of farewell(store.state(), settings.dump, options.client)) options.say(line);
    return code;
  } finally {
    clearInterval(clock);
    stopSignals();
    decoder.end();
    store.close();
    asks.close();
    screen.leave();
    process.off('exit', restore);
    // The tree is taken down for its handlers; its last frame goes nowhere.
    (instance as Instance | null)?.unmount();
  }
}

/** With reduced motion: how often a time that is shown goes on. */
const calmSeconds = 10;
