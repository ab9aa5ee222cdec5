import type { MessagePort } from 'node:worker_threads';
import type { RunHost } from '../src/engine/host.ts';
import { fromWire, RuntimeError } from '../src/schema/errors.ts';
import type { EngineEvent } from '../src/schema/event.ts';
import type { HostMessage, HostOp, RunEnd, WorkerMessage } from '../src/schema/protocol.ts';

/** Deltas of this many milliseconds travel together (architecture §5). */
const batchMs = 16;

type Waiting = { readonly resolve: (output: never) => void; readonly reject: (error: Error) => void };

export type PortHost = {
  readonly host: RunHost;
  /** Aborted by `cancel`, and when main closes the port. */
  readonly signal: AbortSignal;
  /** Sends the end, once, last, and closes the port. */
  end(end: RunEnd): void;
};

/**
 * Worker side of the run protocol: the engine's host over one port. Events keep their order with requests: whatever was
 * emitted goes out before the next request does.
 */
export function createPortHost(port: MessagePort): PortHost {
  const abort = new AbortController();
  const waiting = new Map<number, Waiting>();
  let queue: EngineEvent[] = [];
  let outbox: WorkerMessage[] = [];
  let timer: NodeJS.Timeout | undefined;
  let nextId = 1;

  /** Puts a message behind the events before it; it goes with the next `post`. */
  const put = (message: WorkerMessage): void => {
    if (queue.length > 0) outbox.push({ kind: 'events', events: queue });
    queue = [];
    outbox.push(message);
  };
  const post = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (queue.length > 0) outbox.push({ kind: 'events', events: queue });
    queue = [];
    if (outbox.length > 0) port.postMessage(outbox);
    outbox = [];
  };
  const stop = (code: 'cancelled' | 'timeout' | 'suspended', begun?: readonly string[]): void => {
    const reason = new RuntimeError(code, code, begun === undefined ? {} : { data: { begun } });
    abort.abort(reason);
    for (const one of waiting.values()) one.reject(reason);
    waiting.clear();
  };

  port.on('message', (message: HostMessage) => {
    if (message.kind === 'cancel') {
      return stop(message.reason === 'timeout' ? 'timeout' : 'cancelled', message.begun);
    }
    if (message.kind === 'suspend') return stop('suspended');
    const one = waiting.get(message.id);
    waiting.delete(message.id);
    // The supervisor replies with the output type of the operation that was requested under this id.
    if (message.ok) one?.resolve(message.output as never);
    else one?.reject(fromWire(message.error));
  });
  port.on('close', () => stop('cancelled'));

  const request = <T>(op: HostOp, input: unknown, goes: () => void = post): Promise<T> => {
    if (abort.signal.aborted) return Promise.reject(new RuntimeError('cancelled', 'cancelled'));
    const id = nextId;
    nextId += 1;
    return new Promise<T>((resolve, reject) => {
      waiting.set(id, { resolve: resolve as Waiting['resolve'], reject });
      put({ kind: 'request', id, op, input });
      goes();
    });
  };
  const soon = (): void => {
    timer ??= setTimeout(post, batchMs);
  };

  return {
    host: {
      emit(event) {
        const last = queue.at(-1);
        if (event.kind === 'step_chunk' && last?.kind === 'step_chunk' && merges(last, event)) {
          queue[queue.length - 1] = merged(last, event);
        } else {
          queue.push(event);
        }
        soon();
      },
      openTurn: (input) => request('openTurn', input),
      openRequest: (input) => request('openRequest', input),
      callTool: (input) => request('callTool', input),
      // It travels with the request that it goes ahead of. Main takes messages in order and starts no call behind a
      // checkpoint that failed, so ahead of one there is no reply. Nothing follows that of a run that rests.
      async checkpoint(input) {
        if (input.ahead_of === 'rest') return request('checkpoint', input);
        if (input.ahead_of === 'model') return request('checkpoint', input, soon);
        if (abort.signal.aborted) return;
        put({ kind: 'request', id: 0, op: 'checkpoint', input });
        soon();
      },
    },
    signal: abort.signal,
    end(end) {
      put({ kind: 'end', end });
      post();
      port.close();
    },
  };
}

type Chunk = Extract<EngineEvent, { kind: 'step_chunk' }>;

/** Neighbouring deltas of one kind and step are one: the cost of a message stays linear (04 §18.1). */
const merges = (a: Chunk, b: Chunk): boolean =>
  a.task_id === b.task_id && a.attempt === b.attempt && (a.content === undefined) === (b.content === undefined);

function merged(a: Chunk, b: Chunk): Chunk {
  return b.content === undefined
    ? { ...a, thinking: (a.thinking ?? '') + (b.thinking ?? ''), index: b.index }
    : { ...a, content: (a.content ?? '') + b.content, index: b.index };
}
