import type { RuntimeClient } from '../../client/operations.ts';
import type { Ask } from '../../schema/ask.ts';
import { everyAsk } from '../../schema/ask.ts';
import { RuntimeError } from '../../schema/errors.ts';
import type { FeedEntry } from '../../schema/feed.ts';
import { escapeText } from '../../view/escape.ts';
import { formatRemaining } from '../../view/format.ts';
import { type FeedShown, feedLine, feedTime, idsOfEntry, pendingLine } from '../../view/feed-line.ts';
import type { Context, Handler } from '../context.ts';
import { shownIds } from '../ids.ts';
import type { Signal } from '../process.ts';
import { watchReader } from '../reader-left.ts';
import { shownWhat } from '../shown-what.ts';

/** What ends a watch, with the exit code of the invocation (06 §2.2). */
const signals: readonly (readonly [Signal, number])[] = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 143],
];

const lookEveryMs = 1_000;

/**
 * The feed across runs (03 §12, §13): the pending asks, then one line per change until a signal or a closed stdout ends
 * it. Each line has the cursor from which `--since` goes on.
 */
const watch: Handler = async (context) => {
  const client = await context.client();
  const ending = new AbortController();
  let exit = 0;
  const ignore = signals.map(([signal, code]) =>
    context.process.onSignal(signal, () => {
      exit = code;
      ending.abort();
    }),
  );
  // A reader that left is noticed when something is written, by a socket itself, and of a pipe by looking.
  context.terminal.stream('out').once('close', () => ending.abort());
  const hasLeft = watchReader(1);
  const looking = setInterval(() => {
    if (hasLeft()) ending.abort();
  }, lookEveryMs);
  try {
    const { after, known } = await begin(context, client);
    if (context.terminal.stdoutClosed()) return 0;
    for await (const entries of client.watchFeed({ after, signal: ending.signal })) {
      const fresh = entries.filter(({ kind, ask_id }) => kind !== 'ask' || !known.has(ask_id ?? ''));
      await print(context, client, fresh);
      if (context.terminal.stdoutClosed()) return 0;
    }
    return exit;
  } finally {
    clearInterval(looking);
    for (const stop of ignore) stop();
  }
};

/**
 * Prints the asks that are open. Where the feed stands is read before them, so that nothing falls between; an ask that is
 * seen in both is not told twice. @returns where the changes go on, and the asks that have been told
 */
async function begin(
  context: Context,
  client: RuntimeClient,
): Promise<{ readonly after: number; readonly known: ReadonlySet<string> }> {
  const since = context.invocation.flags.number('since');
  const { oldest, newest } = await client.feedRange({});
  if (since !== null && since > newest) {
    throw new RuntimeError('usage', `--since ${since}: the newest cursor is ${newest}`, {
      hints: ['reins approvals watch'],
    });
  }
  if (since !== null && since > 0 && since + 1 < oldest)
    context.warn(`nothing before cursor ${oldest} is kept any more`);
  const after = since ?? newest;
  const { asks } = await client.listAsks({ ...everyAsk, state: 'pending', limit: 1000 });
  if (context.globals.format !== 'text') await printLine(context, { cursor: after, pending: asks.map(pendingEntry) });
  else if (asks.length === 0) context.hint('no pending asks; changes follow');
  else {
    const shown = await shownFor(
      context,
      client,
      asks.flatMap(({ id, run_id }) => [id, run_id ?? '']),
    );
    for (const ask of asks) await put(context, after, ask.created_at, 'pending', pendingLine(ask, shown));
  }
  // Whoever names a cursor has not seen what came behind it.
  return { after, known: new Set(since === null ? asks.map(({ id }) => id) : []) };
}

/** An ask without what is big; `reins approvals show` has it all. */
const pendingEntry = (ask: Ask) => ({
  ask_id: ask.id,
  ask_kind: ask.kind,
  run_id: ask.run_id,
  session_id: ask.session_id,
  mission_id: ask.mission_id,
  call_id: ask.call_id,
  tools: ask.tools,
  tool: ask.tool,
  summary: ask.summary,
  created_at: ask.created_at,
  expires_at: ask.expires_at,
});

async function print(context: Context, client: RuntimeClient, entries: readonly FeedEntry[]): Promise<void> {
  if (context.globals.format !== 'text') {
    for (const entry of entries) await printLine(context, entry);
    return;
  }
  const shown = await shownFor(context, client, entries.flatMap(idsOfEntry));
  for (const entry of entries) await put(context, entry.cursor, entry.timestamp, entry.kind, feedLine(entry, shown));
}

/** Short ids and the time that is left on a terminal, whole ones and a time elsewhere (06 §2.4). */
async function shownFor(context: Context, client: RuntimeClient, ids: readonly string[]): Promise<FeedShown> {
  const { process, terminal } = context;
  const left = (at: string): string => formatRemaining(Date.parse(at) - process.now());
  return {
    id: await shownIds(context, client, 'out', ids),
    until: (at) => (terminal.stdoutIsTerminal ? `${left(at)} left` : `until ${at}`),
    what: (ask) => shownWhat(terminal.stdoutIsTerminal, ask),
  };
}

/** A JSON line is one line, also on a terminal. */
const printLine = ({ terminal }: Context, value: unknown): Promise<void> => {
  const line = JSON.stringify(value);
  return terminal.out(`${terminal.stdoutIsTerminal ? escapeText(line, { mode: 'line' }) : line}\n`);
};

/** Longer kinds push the rest of their line to the right: what is streamed cannot be measured before. */
const kindWidth = 17;

const put = (context: Context, cursor: number, at: string, kind: string, text: string): Promise<void> => {
  const { stdoutIsTerminal } = context.terminal;
  const time = stdoutIsTerminal ? feedTime(at) : at;
  const line = stdoutIsTerminal ? escapeText(text, { mode: 'line' }) : text.replaceAll(/[\r\n]+/g, ' ');
  return context.terminal.out(`${String(cursor).padStart(6)}  ${time}  ${kind.padEnd(kindWidth)}  ${line}\n`);
};

export const handlers = { watch };
