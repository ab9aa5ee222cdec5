import { isObject } from '../text/json-object.ts';
import { messageOf } from '../text/thrown.ts';
import { bearer, type Client, createClient, type Incoming } from './connection.ts';
import { discoverWith, listOf, maxModels, noList, type Reader, targetOf, tokensOr } from './discover.ts';
import type { Body, Target } from './exchange.ts';
import { failure, httpFailure, streamFailure } from './failure.ts';
import type { Capability, DiscoveredModel, DiscoverTarget, Discovery, ModelFailure } from './model.ts';
import { count, textOr } from './shape.ts';
import { createFramer, readFrames, readText } from './stream.ts';

/** Lists the models of an Ollama server with what `POST /api/show` says of each, four at a time (08 §4). */
export function discoverOllama(target: DiscoverTarget, signal: AbortSignal): Promise<Discovery> {
  return discoverWith(
    target,
    bearer,
    async (reader) => {
      const answer = await reader.json('/api/tags');
      if (answer.kind === 'failure') return answer;
      const list = listOf(answer.value, 'models');
      if (list === null) return noList(reader.origin, answer.value);
      const listed = list
        .slice(0, maxModels)
        .map(readTag)
        .filter((model) => model.name !== '');
      return { kind: 'models', models: await describeAll(reader, listed, target.known ?? []) };
    },
    signal,
  );
}

function readTag(entry: Readonly<Record<string, unknown>>): DiscoveredModel {
  const size = tokensOr(entry['size']);
  const digest = textOr(entry['digest'], '');
  return {
    name: textOr(entry['name'], textOr(entry['model'], '')),
    context: null,
    max_output: null,
    capabilities: {},
    ...(digest === '' ? {} : { digest }),
    ...(size === null ? {} : { size_bytes: size }),
  };
}

/** A digest names the content: what was found of it before still holds. A model that cannot be shown stays unknown. */
async function describeAll(
  reader: Reader,
  listed: readonly DiscoveredModel[],
  known: readonly DiscoveredModel[],
): Promise<readonly DiscoveredModel[]> {
  const before = new Map(known.map((model) => [`${model.name} ${model.digest}`, model]));
  const described = [...listed];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < listed.length; index = next++) {
      const model = listed[index];
      if (model === undefined) return;
      const found = model.digest === undefined ? undefined : before.get(`${model.name} ${model.digest}`);
      described[index] = found ?? (await describe(reader, model));
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  return described;
}

async function describe(reader: Reader, model: DiscoveredModel): Promise<DiscoveredModel> {
  const answer = await reader.json('/api/show', { model: model.name });
  if (answer.kind === 'failure') return model;
  const { capabilities, model_info: info } = answer.value;
  return {
    ...model,
    context: isObject(info) ? contextOf(info) : null,
    capabilities: Array.isArray(capabilities) ? readCapabilities(capabilities) : {},
  };
}

function contextOf(info: Readonly<Record<string, unknown>>): number | null {
  for (const [key, value] of Object.entries(info)) if (key.endsWith('.context_length')) return tokensOr(value);
  return null;
}

const readCapabilities = (words: readonly unknown[]): Readonly<Record<Capability, boolean>> => ({
  chat: words.includes('completion'),
  tools: words.includes('tools'),
  think: words.includes('thinking'),
  vision: words.includes('vision'),
  embed: words.includes('embedding'),
});

export type PullProgress = {
  /** What the server says it is doing. */
  readonly status: string;
  /** Of all layers seen so far. */
  readonly completed_bytes: number;
  readonly total_bytes: number;
};

export type Pulled =
  /** `downloaded`: false when everything was there already. */
  { readonly ok: true; readonly size_bytes: number; readonly downloaded: boolean } | Failure;

type Failure = { readonly ok: false; readonly failure: ModelFailure };

/** A server that verifies a large download says nothing for minutes. */
const pullIdleMs = 600_000;

/**
 * Lets an Ollama server download a model. Never throws; on abort the connection closes, upon which the server stops,
 * and the failure is `cancelled`. `target.timeout_ms` limits the connecting only.
 */
export function pullOllama(
  given: DiscoverTarget,
  name: string,
  onProgress: (progress: PullProgress) => void,
  signal: AbortSignal,
): Promise<Pulled> {
  const target = targetOf(given, pullIdleMs);
  return withClient<Pulled>(target, async (client) => {
    const outgoing = { method: 'POST', path: '/api/pull', accept: 'application/x-ndjson' } as const;
    const opened = await client.open({ ...outgoing, body: { model: name, stream: true } }, signal);
    if (opened.kind === 'failure') return failed(opened.failure);
    const { reply } = opened;
    if (reply.status < 200 || reply.status > 299) return failed(await readFailure(target, reply));
    return followPull(target, reply.body, onProgress);
  });
}

async function followPull(target: Target, body: Body, onProgress: (progress: PullProgress) => void): Promise<Pulled> {
  const malformed = (what: string): Failure =>
    failed(failure(target, 'malformed', `backend "${target.backend}" ${what}`));
  const frames = readFrames(body, createFramer('ndjson'));
  const layers = createLayers();
  for (;;) {
    const next = await frames();
    if (next.kind === 'failure') return failed(next.failure);
    if (next.kind === 'too_long') return malformed(`sent ${next.what}`);
    if (next.kind === 'page') return malformed('sent a web page, not its progress');
    for (const payload of next.payloads) {
      const line = parseLine(payload);
      if (line === null) return malformed('sent undecodable progress');
      if (line['error'] !== undefined) return failed(streamFailure(target, line));
      const status = textOr(line['status'], '');
      if (status === 'success')
        return { ok: true, size_bytes: layers.sum().total_bytes, downloaded: layers.downloaded };
      layers.note(line);
      onProgress({ status, ...layers.sum() });
    }
    if (next.last) return malformed('ended the download without success');
  }
}

/** Deletes a model on an Ollama server. Never throws; an unknown name is class `model_not_found`. */
export function deleteOllama(
  given: DiscoverTarget,
  name: string,
  signal: AbortSignal,
): Promise<{ readonly ok: true } | Failure> {
  const target = targetOf(given);
  return withClient<{ readonly ok: true }>(target, async (client) => {
    const outgoing = { method: 'DELETE', path: '/api/delete', accept: 'application/json' } as const;
    const opened = await client.open({ ...outgoing, body: { model: name } }, signal);
    if (opened.kind === 'failure') return failed(opened.failure);
    const { status } = opened.reply;
    return status >= 200 && status < 300 ? { ok: true } : failed(await readFailure(target, opened.reply));
  });
}

const failed = (reason: ModelFailure): Failure => ({ ok: false, failure: reason });

/** Opens a client for one request and closes it with everything that it still holds. */
async function withClient<Result>(
  target: Target,
  use: (client: Client) => Promise<Result | Failure>,
): Promise<Result | Failure> {
  let client: Client | null = null;
  try {
    client = await createClient(target, target.key === null ? null : bearer(target.key));
    return await use(client);
  } catch (error) {
    const reason = messageOf(error);
    return failed(failure(target, 'invalid_request', `backend "${target.backend}": ${reason}`));
  } finally {
    client?.close();
  }
}

async function readFailure(target: Target, reply: Incoming): Promise<ModelFailure> {
  const { text } = await readText(reply.body, 64 * 1024);
  return httpFailure(target, { status: reply.status, headers: reply.headers, body: text, now: Date.now() });
}

function parseLine(payload: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(payload);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Sums the layers of a download; a layer that is complete when it first shows was there already. */
function createLayers() {
  const layers = new Map<string, { total: number; completed: number }>();
  let downloaded = false;
  return {
    note(line: Readonly<Record<string, unknown>>): void {
      const digest = textOr(line['digest'], '');
      if (digest === '') return;
      const layer = { total: count(line['total']), completed: count(line['completed']) };
      if (layer.completed < layer.total) downloaded = true;
      layers.set(digest, layer);
    },
    sum(): { completed_bytes: number; total_bytes: number } {
      let completed_bytes = 0;
      let total_bytes = 0;
      for (const layer of layers.values()) {
        completed_bytes += layer.completed;
        total_bytes += layer.total;
      }
      return { completed_bytes, total_bytes };
    },
    get downloaded(): boolean {
      return downloaded;
    },
  };
}
