import type { ReadStream, WriteStream } from 'node:tty';
import { type Instance, render } from 'ink';
import type { RuntimeClient } from '../src/client/operations.ts';
import type { StartRun } from '../src/schema/run.ts';
import { ulid } from '../src/text/ids.ts';
import type { Action } from './actions.ts';
import { App } from './app.tsx';
import { createAskEffects } from './approvals/ask-effects.ts';
import { createComposerEffects } from './composer/composer-effects.ts';
import { createHistoryFile, historyPath } from './composer/history-file.ts';
import { type EditedText, editWith } from './lend.ts';
import { divert } from './divert.ts';
import { createEffects } from './effects.ts';
import { createTimedDecoder } from './keys/input-decoder.ts';
import { readKeysFile } from './keys/keys-file.ts';
import { createScreen } from './screen.ts';
import { handleSignals } from './signals.ts';
import { firstState, type State } from './state.ts';
import { createStore } from './store.ts';
import type { Theme } from './theme.ts';
import { createLineCache } from './transcript/line-cache.ts';
import { createClientLink } from './use-client.ts';

export type TuiOptions = {
  readonly input: ReadStream;
  readonly output: WriteStream;
  readonly errors: WriteStream;
  /** Opens the program at the first call. */
  readonly client: () => Promise<RuntimeClient>;
  /** The request of a turn, but for its text. */
  readonly request: (client: RuntimeClient) => Promise<Omit<StartRun, 'input'>>;
  readonly session: string | null;
  readonly theme: Theme;
  /** Text of `keys.json`; null = there is none. */
  readonly keys: string | null;
  readonly cwd: string;
  readonly shell: boolean;
  readonly thinkOpen: boolean;
  /** Gives a text to the editor of the operator, who has the terminal meanwhile. */
  readonly edit: (name: string, text: string) => Promise<EditedText>;
  /** The operator's own directory: the history of the workspace is in it. */
  readonly home: string;
  /** Entries of the history that are kept. */
  readonly mostHistory: number;
  /** Root of the workspace: what lies below it can be mentioned. */
  readonly root: string;
  readonly wheel: boolean;
  readonly inTmux: boolean;
  readonly clipboard: 'osc52' | 'file';
  readonly now: () => number;
  /** What is written while the screen is held goes here. */
  readonly trace: (text: string) => void;
  /** Ends the process at once. */
  readonly exit: (code: number) => void;
  /** A line on stderr, once the terminal is free again. */
  readonly say: (line: string) => void;
};

/**
 * The full-screen terminal until it is left; the terminal is then as it was.
 * @returns the exit code (10 §1.5). @throws what kept the program from opening
 */
export async function startTui(options: TuiOptions): Promise<number> {
  const { input, output, errors, theme, now } = options;
  const cache = createLineCache();
  const ruler = { cache, glyphs: theme.glyphs };
  const diverted = divert([output, errors], options.trace);
  const keys = readKeysFile(options.keys);
  let leave: (code: number) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const left = new Promise<number>((resolve, reject) => {
    leave = resolve;
    fail = reject;
  });

  const decoder = createTimedDecoder(
    (events) => {
      for (const event of events) {
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
    wheel: options.wheel,
    write: (text) => diverted.write(output, text),
    holds: (held) => (held ? diverted.on() : diverted.off()),
    bytes: (chunk) => decoder.push(chunk),
    resized: (size) => store.dispatch({ type: 'resize', size, now: now() }),
    gone: () => leave(143),
  });

  let instance: Instance | null = null;
  const draw = (state: State): void => {
    const node = <App state={state} theme={theme} cache={cache} />;
    screen.title(titleOf(state));
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
    options.say(`internal error ${id}: ${error instanceof Error ? error.message : String(error)}`);
    options.exit(1);
  };

  const link = createClientLink({
    client: options.client,
    request: options.request,
    now,
    session: () => store.state().session,
    dispatch: (action) => store.dispatch(action),
    opened: (id) => composer.restore(id),
  });
  const dispatch = (action: Action): void => store.dispatch(action);
  const said = (text: string, bad: boolean): void => dispatch({ type: 'say', text, bad, now: now() });
  const judgedUnder = async () => {
    const { policy, trust, allowed_dir } = await options.request(await options.client());
    return { policy, trust, allowed_dir };
  };
  const asks = createAskEffects({
    client: options.client,
    dispatch: (action) => dispatch({ type: 'approve', action, now: now() }),
    goOn: (ask) => link.goOn(ask),
    explain: (id) => effects.perform({ do: 'explain-ask', ask_id: id }),
    editText: (ask, text) => effects.perform({ do: 'edit-text', ask, text }),
    say: said,
    now,
    judgedUnder,
  });
  const composer = createComposerEffects({
    client: options.client,
    dispatch: (action) => dispatch({ type: 'compose', action, now: now() }),
    session: () => store.state().session,
    history: createHistoryFile(historyPath(options.home, options.root), options.mostHistory, now),
    mostHistory: options.mostHistory,
    root: options.root,
    readable: async (path) => {
      const call = { tools: 'local_fs', tool: 'read_file', args: { path } };
      const under = await judgedUnder();
      const client = await options.client();
      const { record, refused } = await client.explainCall({ call, ask: null, as_asked: false, cwd: null, ...under });
      return refused === null && record.action !== 'deny';
    },
    shell: () => said('shell lines cannot be run here yet', true),
    say: said,
    now,
  });
  const effects = createEffects({
    asks,
    composer,
    edit: (text, ask) => void editWith({ screen, edit: options.edit, dispatch, now })(text, ask).catch(crash),
    link,
    client: options.client,
    screen,
    state: () => store.state(),
    dispatch: (action) => store.dispatch(action),
    leave: (code) => leave(code),
    now,
    inTmux: options.inTmux,
    clipboard: () => options.clipboard,
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
  const clock = setInterval(() => effects.tick(), 1000);
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

/** Chrome only, at most 60 characters (10 §3). */
function titleOf(state: State): string {
  if (state.asks.length > 0 && state.turn?.waiting_since != null)
    return `(${state.asks.length}) reins: waiting for you`;
  if (state.turn !== null) return 'reins: working';
  return `reins${state.session === null ? '' : `: ${state.session.name.replaceAll(/[^\w .-]/g, '')}`}`.slice(0, 60);
}

/**
 * Where Ink writes: each frame whole, which the screen compares with the one before by itself. Ink's own way of writing
 * moves the cursor from where it thinks that it is, and clears the screen when a frame is as high as the terminal.
 */
function frameSink(size: () => State['size'], paint: (frame: string) => void) {
  const nothing = () => sink;
  const sink = {
    get columns() {
      return size().columns;
    },
    get rows() {
      return size().rows;
    },
    isTTY: false,
    write: (frame: string) => {
      paint(frame);
      return true;
    },
    on: nothing,
    off: nothing,
    once: nothing,
    removeListener: nothing,
    addListener: nothing,
  };
  // Ink uses no more of a stream than this.
  const stdout = sink as unknown as NodeJS.WriteStream;
  const stdin = { ...sink, setRawMode: nothing, ref: nothing, unref: nothing, setEncoding: nothing, read: () => null };
  return {
    stdout,
    stderr: stdout,
    stdin: stdin as unknown as NodeJS.ReadStream,
    debug: true,
    exitOnCtrlC: false,
    patchConsole: false,
  };
}
