import type { Struct } from 'superstruct';
import type { FeedEntry } from '../schema/feed.ts';
import { checkOutput } from './check-output.ts';
import { type EventSourceDeps, type FeedInput, type Streams, watchFeedOver, watchRunOver } from './http-events.ts';
import { refusalOf } from './http-refusal.ts';
import type { Routed } from './operation.ts';
import type { RuntimeClient } from './operations.ts';
import { type AccountClient, answered, type RouteClient } from './routes.ts';

/** The operations of a server somewhere else, and what happens there. */
export type HttpClient = RouteClient &
  AccountClient &
  Pick<RuntimeClient, 'watch'> & {
    /** As in the server's own process; null = from now on, wherever that is. */
    watchFeed(input: FeedInput): AsyncIterable<readonly FeedEntry[]>;
  };

export type HttpClientOptions = EventSourceDeps;

type AnyRouted = Routed<Readonly<Record<string, unknown>>, unknown>;

/**
 * The table of routes over HTTP: each operation takes and gives what it does in the server's own process. A refusal is a
 * RuntimeError with the code of the reply; `data` holds `param`, `findings` and `status`. Needs `fetch` alone.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  // Entries differ in the types of their structs alone, and each call is made with its own.
  const table = Object.entries(answered as unknown as Readonly<Record<string, AnyRouted>>);
  const calls = Object.fromEntries(
    table.map(([name, entry]) => [name, (input: unknown) => callRoute(options, entry, recordOf(input))]),
  );
  const streams: Streams = { ...options, asleep: new Set() };
  return {
    ...(calls as unknown as RouteClient & AccountClient),
    watch: (input) => watchRunOver(streams, input),
    watchFeed: (input) => watchFeedOver(streams, input),
  };
}

const recordOf = (input: unknown): Readonly<Record<string, unknown>> => ({ ...Object(input) });

async function callRoute(
  { base, fetch, headers }: HttpClientOptions,
  { method, path, output, route }: AnyRouted,
  input: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const left = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const take = (name: string): string => {
    const value = String(left.get(name) ?? '');
    left.delete(name);
    return value;
  };
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(take(name)));
  const sent = new Headers(headers());
  for (const [name, header] of conditions) if (left.has(name)) sent.set(header, take(name));
  const bodied = method !== 'GET' && method !== 'DELETE';
  const inQuery = [...left.keys()].filter((name) => !bodied || route.query.includes(name));
  const query = new URLSearchParams(inQuery.map((name): [string, string] => [name, take(name)]));
  if (bodied && left.size > 0) sent.set('content-type', 'application/json');
  const response = await fetch(`${base}${address}${query.size === 0 ? '' : `?${query}`}`, {
    method,
    headers: sent,
    ...(bodied && left.size > 0 ? { body: JSON.stringify(Object.fromEntries(left)) } : {}),
  });
  if (!response.ok) throw await refusalOf(response);
  const value = await bodyOf(response, route);
  return output.struct === null ? value : checkOutput(value, output.struct as Struct<unknown, unknown>);
}

const conditions = [
  ['if_match', 'if-match'],
  ['if_none_match', 'if-none-match'],
] as const;

async function bodyOf(response: Response, route: AnyRouted['route']): Promise<unknown> {
  if (response.status === 204) return route.fromHeaders?.((name) => response.headers.get(name)) ?? null;
  if (route.form === 'attachment') return attachmentOf(response);
  const value: unknown = await response.json();
  return route.form === 'items' ? Reflect.get(Object(value), 'items') : value;
}

async function attachmentOf(response: Response) {
  const named = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get('content-disposition') ?? '')?.[1];
  return {
    file: named === undefined ? 'file' : decodeURIComponent(named),
    content_type: response.headers.get('content-type') ?? '',
    pieces: piecesOf(response),
  };
}

/** The text of a reply as it comes. @throws what cut it off */
async function* piecesOf({ body }: Response): AsyncGenerator<string> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      yield decoder.decode(value, { stream: true });
    }
    yield decoder.decode();
  } finally {
    // Nothing more is sent where nobody reads on.
    await reader.cancel().catch(() => undefined);
  }
}
