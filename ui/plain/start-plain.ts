import { createInterface } from 'node:readline';
import { toWire } from '../../src/schema/errors.ts';
import { escapeText } from '../../src/view/escape.ts';
import { createHistoryFile, historyPath } from '../composer/history-file.ts';
import { deferred } from '../deferred.ts';
import { farewell, lastLook } from '../farewell.ts';
import { readKeysFile } from '../keys/keys-file.ts';
import type { TuiOptions } from '../options.ts';
import { createRooms } from '../rooms.ts';
import { firstFacts, firstState, type State } from '../state.ts';
import { createStore } from '../store.ts';
import { createLineCache } from '../transcript/line-cache.ts';
import { noScreen, plainQuestions, withoutScreen } from './no-screen.ts';
import { createPlainAsks } from './plain-asks.ts';
import { createLineReader } from './read-line.ts';
import { createTeller } from './told.ts';

export type PlainOptions = TuiOptions & {
  /** Why the screen reader mode is on; null = plain mode. */
  readonly reader: 'flag' | 'environment' | 'config' | null;
};

/** A second Ctrl+C within this time quits. */
const quitMs = 2000;

/**
 * The same program as lines that are only ever appended (10 §10): one client, one state, no screen.
 * @returns the exit code
 */
export async function startPlain(options: PlainOptions): Promise<number> {
  const { now, reader, input, output } = options;
  const history = createHistoryFile(historyPath(options.home, options.root), () => options.mostHistory, now);
  const lines = createInterface({
    input,
    output,
    terminal: options.editsLines,
    prompt: '> ',
    historySize: options.mostHistory,
    history: (await history.read()).filter((text) => !text.includes('\n')).reverse(),
  });
  const left = deferred<number>();
  const columns = (): number => output.columns || 80;
  const write = (text: string): void => void output.write(`${text}\n`);
  const bell = (): void => {
    if (reader !== null) output.write('\u0007');
  };
  const prompt = (): void => {
    lines.setPrompt(asks.prompt() ?? '> ');
    lines.prompt(true);
  };
  const failed = (error: unknown): void => write(`error: ${escapeText(toWire(error).message, { mode: 'line' })}`);

  const rooms = createRooms({
    ...withoutScreen,
    options,
    state: () => store.state(),
    dispatch: (action) => store.dispatch(action),
    say: (text, bad) => store.dispatch({ type: 'say', text, bad, now: now() }),
    screen: noScreen(() => ({ columns: columns(), rows: output.rows || 24 })),
    leave: (how) => left.resolve(typeof how === 'number' ? how : 0),
    edit: () => write('note: the external editor belongs to the full-screen mode'),
    print: async (given) => given.forEach(write),
    history,
    mostHistory: () => options.mostHistory,
    questions: () => plainQuestions(write),
  });
  const asks = createPlainAsks({
    client: options.client,
    write,
    reader: reader !== null,
    columns,
    bell,
    now,
    goOn: (ask) => rooms.link.goOn(ask),
  });
  const typed = createLineReader({
    asks,
    state: () => store.state(),
    dispatch: (action) => store.dispatch(action),
    perform: rooms.effects.perform,
    write,
    prompt,
    failed,
    now,
  });
  const teller = createTeller({ write, thinkOpen: options.thinkOpen, columns, now, bell, asked: typed.ask });
  const draw = (state: State): void => {
    const { turned, showed } = teller.tell(state);
    // Lines have no layers.
    if (showed) queueMicrotask(() => store.dispatch({ type: 'no-overlays' }));
    asks.look(state);
    if (state.phase === 'ready' && (asks.prompt() !== null || state.turn === null || turned)) prompt();
  };
  const store = createStore(
    firstState({
      size: { columns: Math.max(60, columns()), rows: Math.max(24, output.rows || 24) },
      now: now(),
      keys: readKeysFile(null).map,
      thinkOpen: options.thinkOpen,
      facts: firstFacts(options),
    }),
    { cache: createLineCache(), glyphs: 'unicode' },
    rooms.effects.perform,
    draw,
  );

  let interrupted = Number.NEGATIVE_INFINITY;
  // What answers a question is no message to be taken back.
  lines.on('history', (entries) => {
    if (asks.prompt() !== null) entries.shift();
  });
  lines.on('line', typed.take);
  lines.on('SIGINT', () => {
    const { turn, plan } = store.state();
    const runId = turn?.run_id ?? plan.driving?.run_id ?? null;
    if (runId !== null) return rooms.effects.perform({ do: 'interrupt', run_id: runId, at_once: false });
    if (now() - interrupted < quitMs) return left.resolve(0);
    interrupted = now();
    write('note: press Ctrl+C again to quit');
    prompt();
  });
  lines.on('close', () => left.resolve(0));
  const stops = (['SIGTERM', 'SIGHUP'] as const).map((signal) => {
    const listener = (): void => left.resolve(143);
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  try {
    if (reader !== null) write(`screen reader mode: on via ${reader}`);
    rooms.link.open(options.session).catch(left.reject);
    const code = await left.promise;
    const last = await lastLook(options.client, rooms.effects.ownRuns, store.state());
    // The last line is a prompt.
    lines.close();
    output.write('\n');
    for (const line of farewell(store.state(), last)) options.say(line);
    return code;
  } finally {
    for (const stop of stops) stop();
    await rooms.composer.close();
    rooms.close();
    store.close();
    lines.close();
  }
}
