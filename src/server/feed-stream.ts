import { everyAsk } from '../schema/ask.ts';
import { type FeedEntry, type FeedKind, topics } from '../schema/feed.ts';
import { refuse } from './error-body.ts';
import { frame } from './frames.ts';
import type { Call } from './route.ts';
import { endWith, gap, onlyParameters, type StreamSources, startOf } from './stream-parts.ts';

/**
 * What happens in all runs, and beside them, by the cursor of the feed (09 §7), until the client goes.
 * @throws RuntimeError invalid_parameter
 */
export async function streamFeed({ client, open }: StreamSources, call: Call): Promise<void> {
  onlyParameters(call, 'after', 'topics');
  const kinds = kindsOf(call.query.get('topics'));
  const wanted = startOf(call);
  const range = await client.feedRange({});
  const after = Math.min(wanted ?? range.newest, range.newest);
  const asks = await client.listAsks({ ...everyAsk, state: 'pending', limit: 1 });
  let running = 0;
  for (const status of ['running', 'waiting', 'queued']) {
    running += (await client.listRuns({ status, session: null, limit: 1 })).total;
  }
  const frames = open(call);
  frames.send(frame('hello', null, JSON.stringify({ pending_asks: asks.total, active_runs: running, cursor: after })));
  if (wanted !== null && after + 1 < range.oldest) {
    frames.send(gap(after + 1, range.oldest - 1));
  }
  for await (const batch of client.watchFeed({ after, signal: call.signal() })) {
    for (const entry of batch) {
      if (kinds.has(entry.kind) && !frames.send(entryText(entry))) return;
    }
    // The next ones are read when they are wanted.
    if (!(await frames.room(call.signal()))) break;
  }
  endWith(frames, call);
}

const entryText = (entry: FeedEntry): string => frame(entry.kind, entry.cursor, JSON.stringify(entry));

/** The kinds of the topics that are wanted; all of them when none is named. @throws RuntimeError invalid_parameter */
function kindsOf(wanted: string | null): ReadonlySet<FeedKind> {
  const names = wanted === null ? Object.keys(topics) : wanted.split(',').map((name) => name.trim());
  return new Set(
    names.flatMap((name) => {
      if (Object.hasOwn(topics, name)) return topics[name as keyof typeof topics];
      throw refuse('invalid_parameter', `The topics are ${Object.keys(topics).join(', ')}.`, { param: 'topics' });
    }),
  );
}
