import { ulid } from '../src/text/ids.ts';
import { escapeText } from '../src/view/escape.ts';
import { plainLook } from '../src/view/plain-lines.ts';
import type { Action } from './actions.ts';
import { createHistoryFile, historyOf } from './composer/history-file.ts';
import { isOffered } from './composer/offered.ts';
import { deferred } from './deferred.ts';
import { createHeap } from './heap.ts';
import { divert } from './divert.ts';
import { createDrawing } from './drawing.tsx';
import { farewell, lastLook, lastWords } from './farewell.ts';
import { incoming } from './incoming.ts';
import { createTimedDecoder } from './keys/input-decoder.ts';
import { keyOf } from './keys/key-map.ts';
import { loadKeys } from './keys/keys-file.ts';
import { editWith, printWith } from './lend.ts';
import { createLook } from './look.ts';
import { createNotifier } from './notify.ts';
import type { TuiOptions } from './options.ts';
import { createRooms } from './rooms.ts';
import { createScreen } from './screen.ts';
import { screenQuestions } from './screen-questions.ts';
import { handleSignals } from './signals.ts';
import { createRest } from './rest.ts';
import { firstFacts, firstState } from './state.ts';
import { createStore } from './store.ts';
import { titleOf } from './title.ts';
import { createLineCache } from './transcript/line-cache.ts';

/** An exit code, or the mode in which the program goes on. */
export type Left = number | 'plain' | 'screen-reader';

/**
 * The full-screen terminal until it is left; the terminal is then as it was.
 * @returns the exit code (10 §1.5), or how it is to go on without the screen. @throws what kept the program from opening
 */
export async function startTui(options: TuiOptions): Promise<Left> {
  const { input, output, errors, now } = options;
  const look = createLook(options);
  const cache = createLineCache();
  const keys = loadKeys(options.keys);
  const left = deferred<Left>();
  const dispatch = (action: Action): void => store.dispatch(action);
  const say = (text: string, bad: boolean): void => dispatch({ type: 'say', text, bad, now: now() });
  const resized = (): void => dispatch({ type: 'resize', size: screen.size(), now: now() });

  const notifier = createNotifier({
    now,
    way: () => look.settings().notify,
    program: options.terminalProgram,
    inTmux: options.inTmux,
    signal: (bytes) => screen.signal(bytes),
  });
  const decoder = createTimedDecoder(incoming({ screen: () => screen, notifier, dispatch, now }), () =>
    performance.now(),
  );
  const diverted = divert([output, errors], options.trace);
  const screen = createScreen({
    input,
    output,
    focus: true,
    write: (text) => diverted.write(output, text),
    holds: (held) => (held ? diverted.on() : diverted.off()),
    bytes: (chunk) => decoder.push(chunk),
    resized: (size) => dispatch({ type: 'resize', size, now: now() }),
    gone: () => left.resolve(143),
  });
  const crash = (error: unknown): void => {
    screen.leave();
    const id = ulid(now()).slice(-8);
    const [message, stack] = error instanceof Error ? [error.message, error.stack ?? error.message] : [String(error)];
    options.trace(`${id} ${stack ?? message}\n`);
    options.say(`reins: internal error ${id}: ${escapeText(message, { mode: 'line' })}`);
    options.exit(1);
  };
  const drawing = createDrawing({
    theme: look.theme,
    cache,
    size: () => store.state().size,
    paint: screen.paint,
    crash,
  });

  const configured = (given: ReadonlyMap<string, string>): void => {
    const { rereads, problem } = look.configure(given);
    if (problem !== null) dispatch({ type: 'notice', level: 'warn', text: problem });
    const { wheel, calm, mode, collapse, guardMs } = look.settings();
    screen.forget();
    screen.wheel(wheel);
    store.calm(calm);
    if (options.modeIsOpen && mode !== null) left.resolve(mode);
    dispatch({ type: 'collapse', lines: collapse, guardMs });
    if (rereads) void rooms.composer.start().catch(() => undefined);
    void rooms.trust.review(false).catch(() => undefined);
  };

  const lent = { screen, resized };
  let closeQuestions: () => void = () => undefined;
  const rooms = createRooms({
    options,
    state: () => store.state(),
    dispatch,
    say,
    screen,
    leave: left.resolve,
    clipboard: () => look.settings().clipboard,
    edit: (text, ask) => void editWith({ ...lent, edit: options.edit, dispatch, now }, text, ask).catch(crash),
    // What is copied from there has the line ends of its author.
    printed: () => plainLook,
    print: (lines) => printWith({ ...lent, input, output }, lines),
    setTheme(name) {
      look.takeTheme(name);
      screen.forget();
    },
    setNotify: look.notifyBy,
    keys: options.keys,
    key: (id) => keyOf(store.state().keys, id),
    settings: configured,
    inTmux: options.inTmux,
    history: createHistoryFile(historyOf(options), look.mostHistory, now),
    mostHistory: look.mostHistory,
    async readable(path, under) {
      const tool = path.endsWith('/') ? 'list_dir' : 'read_file';
      const call = { tools: 'local_fs', tool, args: { path } };
      const judged = await under();
      const client = await options.client();
      const told = await client.explainCall({ call, ask: null, as_asked: false, cwd: null, ...judged });
      return told.refused === null && isOffered(told);
    },
    themes: options.themeNames,
    drafts: true,
    questions(asked) {
      const questions = screenQuestions(asked);
      closeQuestions = questions.closed;
      return questions;
    },
  });
  const store = createStore(
    firstState({
      size: screen.size(),
      glyphs: look.theme().glyphs,
      now: now(),
      keys: keys.map,
      thinkOpen: options.thinkOpen,
      facts: firstFacts(options),
    }),
    {
      cache,
      get glyphs() {
        return look.theme().glyphs;
      },
    },
    rooms.effects.perform,
    (state) => {
      screen.title(titleOf(state));
      notifier.look(state);
      drawing.draw(state);
    },
  );
  const restore = (): void => screen.leave();
  const stopSignals = handleSignals({
    screen,
    leave: left.resolve,
    exit: options.exit,
    crash,
    cancel: rooms.effects.cancelAll,
    shown() {
      screen.forget();
      resized();
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
  const stopClock = everySecond((seconds) => {
    rest(store.state(), now());
    if (!look.settings().calm || seconds % calmSeconds === 0) rooms.effects.tick();
  });
  try {
    screen.enter();
    store.flush();
    void rooms.composer.start().catch(() => undefined);
    rooms.link
      .open(options.session)
      // Behind the history of the session, which would take their place.
      .then(() => {
        for (const notice of keys.notices) dispatch({ type: 'notice', level: 'warn', text: `keys.json: ${notice}` });
      })
      .catch(left.reject);
    const code = await left.promise;
    await rooms.composer.close();
    const last = typeof code === 'number' ? await lastLook(options.client, rooms.effects.ownRuns, store.state()) : null;
    rooms.close();
    screen.leave();
    if (last !== null) {
      for await (const line of lastWords(store.state(), look.settings().dump, options.client)) options.say(line);
      for (const line of farewell(store.state(), last)) options.say(line);
    }
    return code;
  } finally {
    stopClock();
    stopSignals();
    decoder.end();
    store.close();
    closeQuestions();
    screen.leave();
    process.off('exit', restore);
    drawing.end();
  }
}

/** With reduced motion: how often a time that is shown goes on. */
const calmSeconds = 10;

function everySecond(tick: (seconds: number) => void): () => void {
  let seconds = 0;
  const clock = setInterval(() => {
    seconds += 1;
    tick(seconds);
  }, 1000);
  clock.unref();
  return () => clearInterval(clock);
}
