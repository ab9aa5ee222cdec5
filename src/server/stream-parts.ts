import type { IncomingHttpHeaders } from 'node:http';
import type { RuntimeClient } from '../client/operations.ts';
import type { RouteClient } from '../client/routes.ts';
import { refuse } from './error-body.ts';
import { type Frames, frame } from './frames.ts';
import type { Call } from './route.ts';

/** What a stream reads, and what opens its response. */
export type StreamSources = {
  readonly client: RuntimeClient;
  readonly operations: RouteClient;
  readonly open: (call: Call) => Frames;
};

/**
 * Where a stream begins: `Last-Event-ID`, or `after` in the query; null when nothing is said.
 * @throws RuntimeError invalid_parameter
 */
export function startOf(call: Call): number | null {
  const header: IncomingHttpHeaders[string] = call.request.headers['last-event-id'];
  const given = header ?? call.query.get('after');
  if (given === null || given === undefined) return null;
  if (typeof given === 'string' && /^\d{1,15}$/.test(given)) return Number(given);
  throw refuse('invalid_parameter', 'The number of an event is a whole number.', {
    param: header === undefined ? 'after' : 'Last-Event-ID',
  });
}

/** @throws RuntimeError invalid_parameter for one that the stream does not know */
export function onlyParameters(call: Call, ...names: readonly string[]): void {
  for (const name of call.query.keys()) {
    if (!names.includes(name))
      throw refuse('invalid_parameter', `There is no parameter ${name} here.`, { param: name });
  }
}

/**
 * Says that events were pruned.
 * @param to null = to the end
 */
export const gap = (from: number, to: number | null): string => frame('gap', null, JSON.stringify({ from, to }));

/** The last frame of a stream that did not end by itself: the server stops, or the client or its login is gone. */
export function endWith(frames: Frames, { signal }: Call): void {
  if (signal().reason === 'stop') frames.end('server-stop', {});
  else frames.end('end', { status: 'closed' });
}
