import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { is, StructError } from 'superstruct';
import { RuntimeError, toWire } from '../schema/errors.ts';
import { type EngineEvent, engineKinds, isEphemeral } from '../schema/event.ts';
import { Message, type Usage } from '../schema/message.ts';
import type { HostMessage, HostOp, RunEnd, WorkerMessage } from '../schema/protocol.ts';
import type { NumberedMessage } from '../schema/run-record.ts';
import { endCodes, keepTrying, unlessLocked } from '../store/keep-trying.ts';
import { takenOver } from '../store/run-leases.ts';
import { codeOf } from '../text/thrown.ts';
import { heedCancel } from './cancel-requests.ts';
import { leaseMs, renewMs } from './lease.ts';
import { isRecorded, type LiveRun } from './live-run.ts';
import type { Pools } from './pools.ts';
import { createRequestPlaces } from './request-places.ts';
import { createRunRequests, type RunRequestDeps } from './run-requests.ts';
import { createRunRows } from './run-rows.ts';
import { createStreamedText, type StreamedTextDeps } from './streamed-text.ts';
import { createWarmUp } from './warm-up.ts';

export type SupervisorDeps = Omit<RunRequestDeps, 'places'> & StreamedTextDeps & { readonly pools: Pools };

/** How the thread ended, or that it is gone. */
export type Supervised = {
  readonly end: RunEnd;
  readonly usage: Usage;
  /** The message that was stored last. */
  readonly last: NumberedMessage | null;
};

/** How long the pool may take to say why a thread is gone. */
const reasonMs = 1000;
/** How long a cancelled thread may take before it is terminated (architecture §5.5). */
const cancelGraceMs = 2_000;
/** How long calls that run at the end of their run may take to end as well: longer than a child from SIGTERM to SIGKILL. */
const callGraceMs = 2_500;

/** Main side of one run: serves its requests, writes its events, sees its end, kills its thread. */
export function createSupervisor(deps: SupervisorDeps) {
  const places = createRequestPlaces();
  return {
    /** Resolves when the run's thread has sent its end or is gone; never rejects. */
    supervise(live: LiveRun): Promise<Supervised> {
      return new Promise((resolve) => serve({ ...deps, places }, live, resolve));
    },
  };
}

function serve(deps: SupervisorDeps & RunRequestDeps, live: LiveRun, done: (result: Supervised) => void): void {
  const { port1: port, port2 } = new MessageChannel();
  const { gate } = live;
  const runId = gate.ref.run_id;
  const thread = new AbortController();
  let settled = false;

  const settle = (end: RunEnd): void => {
    if (settled) return;
    settled = true;
    clearTimeout(graceTimer);
    clearInterval(renewTimer);
    warmUp.stop();
    streamed.stop();
    stopHeeding();
    requests.endRequest();
    const flushed = keepTrying(() => rows.flush(), { codes: endCodes(end) }).then(
      () => end,
      (error: unknown): RunEnd => {
        const { code, message } = toWire(error);
        return { kind: 'failed', error: { class: code, message } };
      },
    );
    live.abort.signal.removeEventListener('abort', cancel);
    port.close();
    // A call that is still running has nobody to report to: its child is ended, its ask withdrawn, its outcome recorded.
    // Where another process has taken the run over, the ask is that one's too, and stays open.
    const code = isTaken() ? 'interrupted' : 'cancelled';
    if (!live.abort.signal.aborted) live.abort.abort(new RuntimeError(code, 'the run has ended'));
    void Promise.all([flushed, requests.callsEnded(callGraceMs)]).then(([final]) =>
      done({ end: final, usage: rows.usage(), last: rows.last() }),
    );
  };

  const isTaken = (): boolean => {
    try {
      return !deps.runs.holdsLease(runId, gate.owner);
    } catch {
      // Not to be read now: nobody else can tell either.
      return false;
    }
  };

  const rows = createRunRows(deps, live, (error) => fail(error));
  const streamed = createStreamedText(deps, live, (error) => fail(error));
  const requests = createRunRequests(deps, live, rows);
  const warmUp = createWarmUp(deps.pools, live.job.tools);

  const take = (event: EngineEvent): void => {
    if (!engineKinds.has(event.kind) || (event.kind === 'message' && !is(event.message, Message))) {
      throw unreadable(`an event of kind ${String(Reflect.get(event, 'kind'))}`);
    }
    if (event.kind === 'request_over') {
      requests.endRequest();
      return;
    }
    if (event.kind === 'step_started') {
      const { task_id, task_handler, attempt } = event;
      gate.ref.task = { task_id, task_handler, attempt };
    }
    if (!isEphemeral(event.kind)) {
      streamed.endBefore(event);
      rows.add(event);
      return;
    }
    // Deltas are published at once, behind what was emitted before them.
    rows.flush();
    if (event.kind !== 'step_chunk') return;
    warmUp.talked();
    streamed.take(event);
  };

  const fail = (error: unknown): void => {
    const wire = error instanceof StructError ? { code: 'internal' as const, message: error.message } : toWire(error);
    thread.abort();
    settle({ kind: 'failed', error: { class: wire.code, message: wire.message } });
  };

  const reply = (message: HostMessage): void => {
    // The port is gone once the run has settled.
    if (!settled) port.postMessage(message);
  };

  const serveRequest = (message: Extract<WorkerMessage, { kind: 'request' }>): void => {
    const { id, op, input } = message;
    if (!Number.isInteger(id) || !operations.has(op)) throw unreadable(`a request for ${String(op)}`);
    warmUp.stop();
    if (op === 'checkpoint') {
      requests.storeCheckpoint(input, () => reply({ kind: 'reply', id, ok: true, output: null }));
      return;
    }
    requests.answer(op, input).then(
      (output) => {
        if (op === 'openRequest' && !settled) warmUp.asked();
        reply({ kind: 'reply', id, ok: true, output });
        if (op === 'openTurn') guarded(() => rows.flush());
      },
      (error: unknown) => {
        if (error instanceof StructError) return fail(error);
        reply({ kind: 'reply', id, ok: false, error: toWire(error) });
      },
    );
  };

  port.on('message', (messages: readonly WorkerMessage[]) => {
    for (const message of messages) {
      if (settled) return;
      try {
        switch (message.kind) {
          case 'events':
            if (!isRecorded(live)) break;
            for (const event of message.events) take(event);
            rows.flushSoon();
            break;
          case 'request':
            serveRequest(message);
            break;
          case 'end':
            settle(message.end);
        }
      } catch (error) {
        fail(error);
      }
    }
  });
  const guarded = (body: () => void): void => {
    try {
      body();
    } catch (error) {
      fail(error);
    }
  };

  // The port closes before the pool says why the thread ended; without a word from it, this is all that is known.
  port.on('close', () => {
    if (settled) return;
    const error = { class: 'worker_crash', message: 'the thread of this run ended unexpectedly' } as const;
    setTimeout(() => settle({ kind: 'failed', error }), reasonMs).unref();
  });

  let graceTimer: NodeJS.Timeout | undefined;
  const cancel = (): void => {
    const message: HostMessage =
      live.stopped?.kind === 'rest'
        ? { kind: 'suspend' }
        : { kind: 'cancel', reason: live.stopped?.kind ?? 'cancel', begun: [...gate.begun] };
    port.postMessage(message);
    graceTimer = setTimeout(() => {
      thread.abort();
      settle({ kind: 'cancelled' });
    }, cancelGraceMs);
  };
  if (live.abort.signal.aborted) cancel();
  else live.abort.signal.addEventListener('abort', cancel, { once: true });

  const stopHeeding = heedCancel(deps, live);

  const renewTimer = setInterval(() => {
    guarded(() => {
      // Behind a lock of another process the lease may run out, but nobody can take it: it is renewed when the lock is gone.
      const held = unlessLocked(() =>
        deps.feed.commit('normal', () => deps.runs.renewLease(runId, gate.owner, deps.now() + leaseMs)),
      );
      if (held === false) throw takenOver();
    });
  }, renewMs);

  deps.pools.runChain(live.job, port2, thread.signal).catch((error: unknown) => {
    // A job cancelled in the queue never took its port, and close() of a transferred one does nothing (§5.1).
    closeQuietly(port2);
    const outOfMemory = codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY';
    settle({
      kind: 'failed',
      error: {
        class: 'worker_crash',
        message: outOfMemory
          ? 'the thread of this run ran out of memory'
          : `the thread of this run failed: ${toWire(error).message}`,
      },
    });
  });
}

const operations: ReadonlySet<string> = new Set<HostOp>(['openTurn', 'openRequest', 'callTool', 'checkpoint']);

const unreadable = (what: string): RuntimeError =>
  new RuntimeError('internal', `the run's thread sent what does not parse: ${what}`);

function closeQuietly(port: MessagePort): void {
  try {
    port.close();
  } catch {
    // It was transferred: the thread that owned it has closed it by ending.
  }
}
