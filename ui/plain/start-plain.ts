import { createInterface } from 'node:readline';
import { toWire } from '../../src/schema/errors.ts';
import type { Glyphs } from '../../src/view/escape.ts';
import { plural } from '../../src/view/format.ts';
import { labelled, type PlainLook } from '../../src/view/plain-lines.ts';
import { createHistoryFile, historyOf } from '../composer/history-file.ts';
import { deferred } from '../deferred.ts';
import { farewell, lastLook } from '../farewell.ts';
import { readKeysFile } from '../keys/keys-file.ts';
import type { TuiOptions } from '../options.ts';
import { createRooms } from '../rooms.ts';
import { createNotifier, type NotifyWay } from '../notify.ts';
import { settingsOf } from '../settings.ts';
import { firstFacts, firstState, type State } from '../state.ts';
import { createStore } from '../store.ts';
import { createLineCache } from '../transcript/line-cache.ts';
import { echoDeleted } from './echo-deleted.ts';
import { noScreen, plainQuestions, withoutScreen } from './no-screen.ts';
import { watchPastes } from './pasting.ts';
import { createPlainAsks } from './plain-asks.ts';
import { createPlainOverlays } from './plain-overlays.ts';
import { createPromptLine } from './prompt-line.ts';
import { quitAtSecond } from './quit-key.ts';
import { createLineReader } from './read-line.ts';
import { putBehindStop, stopWithKey } from './stopping.ts';
import { createTelling } from './telling.ts';

export type PlainOptions = TuiOptions & {
  /** Why the screen reader mode is on; null = plain mode. */
  readonly reader: 'flag' | 'environment' | 'config' | null;
};

/** A second Ctrl+C within this time quits. */
const quitMs = 2000;
/** What no event tells of the session is looked for so often: that it was deleted, or that the process of its turn is gone. */
const lookMs = 5000;
/** Who listens hears where they are before a prompt comes (10 §10.2). */
const firstPromptMs = 1000;

/**
 * The same program as lines that are only ever appended (10 §10): one client, one state, no screen.
 * @returns the exit code
 */
export async function startPlain(options: PlainOptions): Promise<number> {
  const { now, reader, input, output, editsLines } = options;
  const history = createHistoryFile(historyOf(options), () => options.mostHistory, now);
  const lines = createInterface({
    input,
    output,
    terminal: editsLines,
    prompt: '> ',
    historySize: options.mostHistory,
    history: (await history.read()).filter((text) => !text.includes('\n')).reverse(),
  });
  const bottom = createPromptLine({ lines, output, edits: editsLines, holds: reader !== null });
  const { write } = bottom;
  let glyphs: Glyphs = options.theme({ theme: null, glyphs: null }).glyphs;
  const columns = (): number => output.columns || 80;
  // Signs that a voice leaves out would hide what they stand for.
  const look = (): PlainLook => ({
    glyphs: reader === null ? glyphs : 'ascii',
    columns: columns(),
    spoken: reader !== null,
  });
  const noted = (label: string, text: string, atOnce?: true): void => {
    for (const line of labelled(label, text, look())) write(line, atOnce);
  };
  const left = deferred<number>();
  // Who has each thing read out is told of all of them by the bell.
  let notify: NotifyWay = 'auto';
  const notifier = createNotifier({
    now,
    way: () => (reader !== null || notify === 'off' ? 'off' : editsLines ? notify : 'bell'),
    program: options.terminalProgram,
    inTmux: options.inTmux,
    signal: (bytes) => output.write(bytes),
  });
  const bell = (): void => {
    if (reader !== null) output.write('\u0007');
  };
  let begun = reader === null;
  /** A prompt stands only where something is waited for: what runs is told above it. */
  const prompt = (): void => {
    const { phase, turn, plan } = store.state();
    const runs = turn !== null || plan.driving !== null;
    const rests = phase === 'ready' && begun && (!runs || asks.isLeft(store.state()));
    bottom.show(asks.prompt() ?? overlays.prompt() ?? (rests ? typed.prompt() : null));
  };

  const rooms = createRooms({
    ...withoutScreen,
    options,
    state: () => store.state(),
    dispatch: (action) => store.dispatch(action),
    say: (text, bad) => store.dispatch({ type: 'say', text, bad, now: now() }),
    screen: noScreen(() => ({ columns: columns(), rows: output.rows || 24 })),
    leave: (how) => left.resolve(typeof how === 'number' ? how : 0),
    edit: () => write('note: the external editor belongs to the full-screen mode'),
    // Among lines that can pose as others.
    printed: look,
    async print(given) {
      for (const line of given) write(line);
    },
    setNotify(way) {
      notify = way;
    },
    settings(given) {
      const settings = settingsOf(given);
      notify = settings.notify;
      try {
        glyphs = options.theme(settings).glyphs;
      } catch (error) {
        noted('warning: ', toWire(error).message);
      }
      store.dispatch({ type: 'collapse', lines: settings.collapse, guardMs: settings.guardMs });
    },
    history,
    mostHistory: () => options.mostHistory,
    questions: () => plainQuestions((text) => noted('note: ', text)),
  });
  const asks = createPlainAsks({
    client: options.client,
    write,
    judgedUnder: rooms.judgedUnder,
    look,
    bell,
    now,
    guardMs: () => store.state().guardMs,
    drop: bottom.drop,
    later: (ms, call) => {
      const timer = setTimeout(call, ms);
      return () => clearTimeout(timer);
    },
    goOn: (ask) => rooms.link.goOn(ask),
  });
  const overlays = createPlainOverlays({
    write,
    look,
    dispatch: (action) => store.dispatch(action),
    perform: rooms.effects.perform,
    now,
  });
  const typed = createLineReader({
    asks,
    overlays,
    spoken: reader !== null,
    pasting: () => pastes?.now() === true,
    state: () => store.state(),
    dispatch: (action) => store.dispatch(action),
    noted,
    prompt,
    failed: (error) => noted('error: ', toWire(error).message),
    now,
  });
  const tell = createTelling({ write, look, think: options.thinkOpen, bell, now });
  const draw = (state: State): void => {
    tell(state);
    notifier.look(state);
    overlays.look(state);
    asks.look(state);
    prompt();
  };
  const store = createStore(
    firstState({
      size: { columns: Math.max(60, columns()), rows: Math.max(24, output.rows || 24) },
      now: now(),
      keys: readKeysFile(null).map,
      thinkOpen: options.thinkOpen,
      facts: firstFacts(options),
    }),
    {
      cache: createLineCache(),
      get glyphs() {
        return look().glyphs;
      },
    },
    rooms.effects.perform,
    draw,
  );

  let interrupted = Number.NEGATIVE_INFINITY;
  const isAsked = (): boolean => (asks.prompt() ?? overlays.prompt()) !== null;
  // What answers a question is no message to be taken back.
  lines.on('history', (entries) => {
    if (isAsked()) entries.shift();
  });
  lines.on('line', (line) => {
    notifier.key();
    bottom.taken();
    typed.take(line);
  });
  const interrupt = (): void => {
    // What is open is closed before anything is interrupted (10 §12.4): a turn would take its question with it.
    if (asks.back() || overlays.back()) {
      typed.drop();
      bottom.drop();
      prompt();
      return;
    }
    const { turn, plan } = store.state();
    const runId = turn?.run_id ?? plan.driving?.run_id ?? null;
    // A message that is on its way is a run in a moment: the next press is for that.
    if (turn !== null && runId === null) return;
    if (runId !== null) {
      rooms.effects.perform({ do: 'interrupt', run_id: runId });
    } else if (lines.line !== '' || typed.pending() !== '') {
      typed.drop();
      bottom.drop();
      prompt();
    } else if (now() - interrupted < quitMs) {
      left.resolve(0);
    } else {
      interrupted = now();
      write('note: press Ctrl+C again to quit');
      prompt();
    }
  };
  const pressed = (): void => notifier.key();
  input.on('keypress', pressed);
  lines.on('SIGINT', interrupt);
  lines.on('close', () => left.resolve(0));
  let ending = false;
  const ended = (): void => {
    ending = true;
    left.resolve(143);
  };
  const stopped = async (): Promise<void> => {
    await rooms.effects.cancelAll().catch(() => undefined);
    left.resolve(130);
  };
  const ways = {
    SIGTERM: ended,
    SIGHUP: ended,
    // Where the terminal edits the lines, its key comes as a signal.
    SIGINT: editsLines ? stopped : interrupt,
  };
  const signals = Object.entries(ways).map(([signal, listener]) => {
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
  const pasted = (): void => {
    const text = typed.pending();
    const told = isAsked()
      ? 'a paste answers nothing'
      : `pasted ${plural(text.split('\n').length - 1, 'line')}: Enter sends`;
    if (text !== '') noted('note: ', told, true);
    if (isAsked()) {
      typed.drop();
      bottom.drop();
    }
    prompt();
  };
  const pastes = editsLines ? watchPastes(input, output, pasted) : null;
  const stops =
    pastes === null
      ? putBehindStop(bottom.again)
      : stopWithKey({ input, lines, pastes, shown: bottom.again, ending: () => ending });
  const stay = editsLines
    ? quitAtSecond({ input, lines, now, asked: isAsked, again: () => noted('note: ', 'press Ctrl+D again to quit') })
    : () => undefined;
  const silent =
    reader === null ? () => undefined : echoDeleted(input, lines, (text) => noted('note: ', `deleted "${text}"`, true));
  let looking: NodeJS.Timeout | undefined;
  try {
    if (reader !== null) {
      write(`screen reader mode: on via ${reader}`);
      listens();
    }
    rooms.link.open(options.session).catch(left.reject);
    looking = setInterval(() => void rooms.link.lookAtSession(), lookMs);
    const code = await left.promise;
    const last = await lastLook(options.client, rooms.effects.ownRuns, store.state());
    // The last line is a prompt.
    bottom.close();
    lines.close();
    for (const line of farewell(store.state(), last)) options.say(line);
    return code;
  } finally {
    clearInterval(looking);
    for (const stop of signals) stop();
    input.off('keypress', pressed);
    silent();
    stops();
    stay();
    bottom.close();
    pastes?.close();
    asks.close();
    await rooms.composer.close();
    rooms.close();
    store.close();
    lines.close();
  }
}
