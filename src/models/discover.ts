import { countParts } from '../text/exact-json.ts';
import { isObject } from '../text/json-object.ts';
import { parseUrl } from '../text/parse-url.ts';
import { messageOf } from '../text/thrown.ts';
import { brokenFailure } from './broken.ts';
import { type Auth, type Client, createClient } from './connection.ts';
import type { Target } from './exchange.ts';
import { failure, httpFailure, type Origin, streamFailure } from './failure.ts';
import type { DiscoveredModel, DiscoverTarget, Discovery, ModelFailure } from './model.ts';
import { count } from './shape.ts';
import { readText } from './stream.ts';

/** Reads JSON of a backend; every failure is a value. */
export type Reader = {
  readonly origin: Origin;
  /** @param body sent by POST when present */
  json(path: string, body?: unknown): Promise<ReadJson>;
};

export type ReadJson =
  | { readonly kind: 'value'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: 'failure'; readonly failure: ModelFailure };

/** What a list function returns: the models, or why they cannot be listed. */
export type Listed =
  | { readonly kind: 'models'; readonly models: readonly DiscoveredModel[] }
  | { readonly kind: 'failure'; readonly failure: ModelFailure };

/** Longest answer to a list or show request, in characters. */
const maxAnswer = 16 * 1024 * 1024;

/** Answers of a server that has models and no list of them (08 §4.3). */
const cannotList: ReadonlySet<number | undefined> = new Set([404, 405, 501]);

/** Makes what a connection needs out of a discovery target; every limit is the one of the discovery. */
export const targetOf = (target: DiscoverTarget, idle_ms = target.timeout_ms): Target => ({
  backend: target.backend ?? parseUrl(target.base_url)?.host ?? target.base_url,
  base_url: target.base_url,
  key: target.key,
  headers: target.headers,
  proxy: target.proxy,
  timeouts: { connect_ms: target.timeout_ms, first_byte_ms: idle_ms, idle_ms },
});

/**
 * Runs one discovery within its limit (08 §9.4) and closes its connections. Never throws; on abort the failure is
 * `cancelled`. A list call that is answered 404, 405 or 501 makes the list incomplete, not the backend unusable (08 §4.3).
 */
export async function discoverWith(
  given: DiscoverTarget,
  auth: (key: string) => Auth,
  list: (reader: Reader) => Promise<Listed>,
  signal: AbortSignal,
): Promise<Discovery> {
  const target = targetOf(given);
  const stop = new AbortController();
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    stop.abort();
  }, given.timeout_ms);
  const onAbort = (): void => stop.abort();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) stop.abort();
  let client: Client | null = null;
  try {
    client = await createClient(target, given.key === null ? null : auth(given.key));
    const listed = await list(createReader(client, target, stop.signal));
    if (listed.kind === 'models') return { ok: true, models: eachOnce(listed.models), complete: true };
    const { failure: failed } = listed;
    if (cannotList.has(failed.status)) return { ok: true, models: [], complete: false };
    if (failed.class !== 'cancelled' || !timedOut) return { ok: false, failure: failed };
    return { ok: false, failure: brokenFailure(target, { kind: 'timeout', limit: 'discovery', ms: given.timeout_ms }) };
  } catch (error) {
    const reason = messageOf(error);
    return { ok: false, failure: failure(target, 'invalid_request', `backend "${target.backend}": ${reason}`) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    client?.close();
  }
}

function createReader(client: Client, target: Target, signal: AbortSignal): Reader {
  return {
    origin: target,
    async json(path, body) {
      const outgoing = { path, accept: 'application/json' };
      const opened = await client.open(
        body === undefined ? { method: 'GET', ...outgoing } : { method: 'POST', body, ...outgoing },
        signal,
      );
      if (opened.kind === 'failure') return opened;
      const { status, headers } = opened.reply;
      const read = await readText(opened.reply.body, maxAnswer);
      opened.reply.body.release(true);
      if (read.failure !== null) return { kind: 'failure', failure: read.failure };
      if (status < 200 || status > 299) {
        return { kind: 'failure', failure: httpFailure(target, { status, headers, body: read.text, now: Date.now() }) };
      }
      return parse(read.text, target);
    },
  };
}

/** Objects and lists of one answer: many times what ten thousand models are described in. */
const maxParts = 500_000;

function parse(text: string, origin: Origin): ReadJson {
  try {
    const value: unknown = text.length > maxParts && countParts(text, maxParts) > maxParts ? null : JSON.parse(text);
    if (isObject(value)) return { kind: 'value', value };
    // Some services leave the object around their list out.
    if (Array.isArray(value)) return { kind: 'value', value: { data: value } };
  } catch {
    // Told below: whatever this is, it is not a list of models.
  }
  return { kind: 'failure', failure: otherThanList(origin) };
}

/** The objects of a list member, which some servers write as null while it is empty; null when there is no such list. */
export function listOf(
  value: Readonly<Record<string, unknown>>,
  member: string,
): readonly Readonly<Record<string, unknown>>[] | null {
  const list = value[member] === null ? [] : value[member];
  return Array.isArray(list) ? list.filter(isObject) : null;
}

/** Why an answer holds no list: what the server itself says of it, which proxies do under status 200, too. */
export function noList(origin: Origin, { error, message, detail }: Readonly<Record<string, unknown>>): Listed {
  const said = error ?? message ?? detail ?? '';
  return { kind: 'failure', failure: said === '' ? otherThanList(origin) : streamFailure(origin, { error: said }) };
}

const otherThanList = (origin: Origin): ModelFailure =>
  failure(origin, 'malformed', `backend "${origin.backend}" answered with something that is no list of models`);

/** The first of each name: a list may hold one twice, and a page may come again. */
function eachOnce(models: readonly DiscoveredModel[]): readonly DiscoveredModel[] {
  const named = new Map<string, DiscoveredModel>();
  for (const model of models) if (!named.has(model.name)) named.set(model.name, model);
  return [...named.values()];
}

/** A positive whole number that somebody can mean, or null. */
export function tokensOr(value: unknown): number | null {
  const counted = count(value);
  return counted > 0 && counted === value ? counted : null;
}

/** A server cannot make us hold more than this many names; one page of them may be as long as an answer can be. */
export const maxModels = 10_000;
/** A server may say after every page that there is another one. */
export const maxPages = 100;
