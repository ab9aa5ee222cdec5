import type { Route } from '../schema/protocol.ts';
import { isDeeperThan, mostLevels } from '../text/json-depth.ts';
import { isObject } from '../text/json-object.ts';
import { parseUrl } from '../text/parse-url.ts';
import { messageOf } from '../text/thrown.ts';
import { brokenFailure } from './broken.ts';
import { type Auth, type Client, createClient, type Incoming } from './connection.ts';
import { excerpt, failure, httpFailure } from './failure.ts';
import type { Model, ModelFailure, ModelPart, ModelRequest } from './model.ts';
import { createParts, failMalformed, type Parts } from './parts.ts';
import { createFramer, type Framing, readFrames, readText } from './stream.ts';

export type WireDeps = {
  /** What a backend refused, for the life of a process (08 §5.3, §8): give the same set to every model. */
  readonly refused: Set<string>;
  /** Milliseconds since the epoch, for a `Retry-After` date. */
  now(): number;
  /** After this long without a byte a notice says that a local server may be loading the model (08 §5.1.6). */
  readonly loading_note_ms: number;
};

export const defaultDeps = (): WireDeps => ({ refused: new Set(), now: Date.now, loading_note_ms: 5000 });

/** Reads the payloads of one reply. */
export type Decoder = {
  /** Reads one payload, an object. `done`: the wire's own end mark; `again`: the request is to be sent once more. */
  read(payload: Readonly<Record<string, unknown>>, parts: Parts): 'more' | 'done' | 'again';
  /**
   * The body has ended cleanly: closes the parts, with an error when something is missing.
   * @param marked whether the wire's own end mark came, or one JSON text that is complete
   * @param heard the beginning of the body
   */
  end(parts: Parts, marked: boolean, heard: string): void;
  /** Whether the server has said why the answer ends: what is lost behind that is none of it. Absent: it never tells. */
  readonly settled?: boolean;
};

/** Something that a server may refuse with a 400 or 422 naming it; the request is then repeated once without it. */
export type Repair = {
  readonly field: string;
  /** In the message; a test of the failure where its class says more. */
  readonly named: RegExp | ((failed: ModelFailure) => boolean);
  /** Other statuses that it is refused with, whatever the class. */
  readonly statuses?: readonly number[];
  /** What the user is told of the repeat; absent where nothing that anybody asked for is lost. */
  readonly told?: { readonly code: string; readonly what: string };
  /** Servers that find the fault while they fill in a model's template answer it with status 500. */
  readonly at500?: boolean;
};

/** Said when a server refuses the think parameter (08 §8). */
export const levelRefused = { code: 'think_unsupported', what: 'a reasoning level' } as const;

/** Some reasoning models take no temperature but their own, though the engine has to send one (04 §5). */
export const temperatureRepair: Repair = {
  field: 'temperature',
  named: /\btemperature\b/i,
  told: { code: 'parameter_ignored', what: 'this temperature' },
};

/** A few services let nobody read along whom they do not know. */
export const streamRepair: Repair = {
  field: 'stream',
  named:
    /verified to stream|\bstream(ing)?\b.{0,40}not (yet )?supported|not support stream(ing)?\b|'stream' does not support/i,
  told: { code: 'parameter_ignored', what: 'streaming' },
};

/** What a server refuses for all of its models (08 §5.3). Everything else is remembered per model. */
const ofBackend: ReadonlySet<string> = new Set(['stream_options', 'max_tokens', 'seed', 'responses']);

export type Prepared = {
  readonly path: string;
  readonly body: unknown;
  readonly notices: readonly { readonly code: string; readonly message: string }[];
  readonly decoder: Decoder;
  /** Fields of this very request that may be refused. */
  readonly repairs: readonly Repair[];
};

/** One wire format: how a request is written and a reply is read. */
export type Wire = {
  readonly framing: Framing;
  auth(key: string): Auth;
  /** `refused` tells which fields are to be left out. */
  prepare(request: ModelRequest, refused: (field: string) => boolean): Promise<Prepared>;
  /** Message of the note while nothing has come; null when this type has none. */
  readonly loadingNote: string | null;
};

/** A model that answers every request with the same failure. */
export const failingModel = (failed: ModelFailure): Model => ({
  async *stream() {
    yield { kind: 'error', error: failed };
  },
  close: () => {},
});

const accept = { sse: 'text/event-stream', ndjson: 'application/x-ndjson' } as const;

/** Puts a wire format, a route and a connection together: the one place where a model call happens. */
export async function createWireModel(route: Route, wire: Wire, deps: WireDeps): Promise<Model> {
  if (parseUrl(route.base_url) === null) {
    const message = `the URL of backend "${route.backend}" cannot be read; correct it with reins backend update`;
    return failingModel(failure(route, 'invalid_request', message));
  }
  const client = await createClient(route, route.key === null ? null : wire.auth(route.key));
  return {
    stream: (request, signal) => streamReply({ route, wire, deps, client }, request, signal),
    close: () => client.close(),
  };
}

type Call = { readonly route: Route; readonly wire: Wire; readonly deps: WireDeps; readonly client: Client };

async function* streamReply(call: Call, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
  const { route } = call;
  try {
    yield* callModel(call, request, signal);
  } catch (error) {
    // A bug of ours: the contract says that failures are parts.
    const message = `the call of backend "${route.backend}" failed: ${messageOf(error)}`;
    yield { kind: 'error', error: failure(route, 'permanent', message) };
  }
}

async function* callModel(call: Call, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
  const { route, wire } = call;
  const refused = refusedFields(call, request.model);
  const told = new Set<string>();
  let mayRepeat = true;
  for (;;) {
    const prepared = await wire.prepare(request, refused.has);
    for (const notice of prepared.notices) {
      if (!told.has(notice.message)) yield { kind: 'notice', ...notice };
      told.add(notice.message);
    }
    const opened = yield* openReply(call, prepared, request, signal);
    if (opened.kind === 'failure') {
      yield { kind: 'error', error: opened.failure };
      return;
    }
    const { reply } = opened;
    if (reply.status < 200 || reply.status > 299) {
      const failed = await readFailure(call, reply);
      const repair = prepared.repairs.find((one) => refuses(failed, one) && !refused.has(one.field));
      if (repair === undefined) {
        yield { kind: 'error', error: failed };
        return;
      }
      refused.add(repair.field);
      if (repair.told !== undefined) yield leftOut(route, request, repair.told);
      continue;
    }
    const ended = yield* readReply(call, { decoder: prepared.decoder, reply, mayRepeat, signal });
    if (ended === 'ended') return;
    mayRepeat = false;
  }
}

/** Fields that this server was found to refuse, for all of its models or for one: they are left out from then on. */
function refusedFields({ route, deps }: Call, model: string) {
  const scope = `${route.type} ${route.backend} ${route.base_url}`;
  const keyOf = (field: string): string => `${scope} ${ofBackend.has(field) ? field : `${field} ${model}`}`;
  return {
    has: (field: string): boolean => deps.refused.has(keyOf(field)),
    add: (field: string): void => void deps.refused.add(keyOf(field)),
  };
}

/** Sends the request. Says that the model may be loading when nothing comes for a while. */
async function* openReply(
  { wire, deps, client }: Call,
  prepared: Prepared,
  request: ModelRequest,
  signal: AbortSignal,
) {
  let left = (): void => {};
  const leaving = new Promise<void>((resolve) => {
    left = resolve;
  });
  const outgoing = {
    method: 'POST',
    path: prepared.path,
    accept: accept[wire.framing],
    body: prepared.body,
    leave: async () => {
      await request.leave?.();
      left();
    },
  } as const;
  const opening = client.open(outgoing, signal);
  // A request that waits for its place is not with the server yet.
  if (wire.loadingNote !== null) await Promise.race([leaving, opening]);
  if (wire.loadingNote !== null && (await isSlow(opening, deps.loading_note_ms))) {
    yield { kind: 'notice', code: 'model_loading', message: wire.loadingNote } as const;
  }
  return opening;
}

const leftOut = (route: Route, { model }: ModelRequest, { code, what }: NonNullable<Repair['told']>): ModelPart => ({
  kind: 'notice',
  code,
  message: `backend "${route.backend}" refuses ${what} for model "${model}"; it is left out`,
});

type Reading = {
  readonly decoder: Decoder;
  readonly reply: Incoming;
  readonly mayRepeat: boolean;
  readonly signal: AbortSignal;
};

/** Reads one reply to its end. `again`: the wire asks for the request once more, and nothing was yielded. */
async function* readReply(
  { route, wire }: Call,
  { decoder, reply, mayRepeat, signal }: Reading,
): AsyncGenerator<ModelPart, 'again' | 'ended'> {
  const framer = createFramer(wire.framing);
  const frames = readFrames(reply.body, framer);
  const parts = createParts();
  let complete = false;
  try {
    while (!parts.closed) {
      const next = await frames();
      if (next.kind === 'failure') {
        if (decoder.settled === true && next.failure.class !== 'cancelled') decoder.end(parts, true, '');
        else parts.fail(next.failure);
      } else if (next.kind === 'page') parts.fail(pageFailure(route));
      else if (next.kind === 'too_long') failMalformed(parts, route, next.what);
      else {
        for (const payload of next.payloads) {
          const state = readPayload(payload, decoder, parts, route);
          complete = state !== 'more';
          if (state === 'again' && mayRepeat) return 'again';
          if (complete || parts.closed) break;
        }
        if ((complete || next.last) && !parts.closed) decoder.end(parts, complete || framer.whole, next.heard);
        if (next.last && !parts.closed) failMalformed(parts, route, 'an incomplete reply');
      }
      for (const part of parts.take()) {
        if (signal.aborted) {
          yield { kind: 'error', error: brokenFailure(route, { kind: 'cancelled' }) };
          return 'ended';
        }
        yield part;
      }
    }
    return 'ended';
  } finally {
    reply.body.release(complete);
  }
}

/** A wrong URL is often answered with a web page and status 200. */
function pageFailure(route: Route): ModelFailure {
  const { backend } = route;
  const message = `backend "${backend}" sent a web page, not a reply; check its URL: reins backend show ${backend}`;
  return failure(route, 'malformed', message);
}

function readPayload(payload: string, decoder: Decoder, parts: Parts, route: Route): 'more' | 'done' | 'again' {
  if (payload === '[DONE]') return 'done';
  // Arguments that come as a value are written as text again, which takes a call of the stack for each level.
  if (payload.length > mostLevels && isDeeperThan(payload, mostLevels)) {
    failMalformed(parts, route, `data nested deeper than ${mostLevels} levels`);
    return 'more';
  }
  let value: unknown;
  try {
    value = JSON.parse(payload);
  } catch {
    value = undefined;
  }
  if (isObject(value)) return decoder.read(value, parts);
  // A whole answer may be the list of what would have been the events of a stream.
  if (Array.isArray(value) && value.length > 0 && value.every(isObject)) {
    for (const one of value) if (decoder.read(one, parts) !== 'more') break;
    return 'more';
  }
  failMalformed(parts, route, `undecodable data: ${excerpt(route, payload, 80)}`);
  return 'more';
}

async function readFailure({ route, deps }: Call, reply: Incoming): Promise<ModelFailure> {
  const { text, failure: broken } = await readText(reply.body, 64 * 1024);
  reply.body.release(true);
  if (broken !== null && broken.class === 'cancelled') return broken;
  return httpFailure(route, { status: reply.status, headers: reply.headers, body: text, now: deps.now() });
}

/** What a refused field may look like: a 400 that says that tools do not go with something is about tools, too. */
const refusable: ReadonlySet<string> = new Set(['invalid_request', 'unsupported', 'no_tool_support']);

/** Whether the server refused this field: a 400 or 422 that names it and is no other known failure. */
const refuses = (failed: ModelFailure, { named, at500, statuses }: Repair): boolean =>
  (statuses === undefined
    ? ((failed.status === 400 || failed.status === 422) && refusable.has(failed.class)) ||
      (at500 === true && failed.status === 500 && failed.class === 'server_error')
    : statuses.includes(failed.status ?? 0)) &&
  (typeof named === 'function' ? named(failed) : named.test(failed.message));

/** Whether a promise is still open after `ms`. Leaves no timer behind. */
function isSlow(waiting: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), ms);
    void waiting.then(() => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}
