import type { Gate } from '../gate/call.ts';
import type { EngineEvent } from '../schema/event.ts';
import { addUsage, type Message, type Usage } from '../schema/message.ts';
import type { NumberedMessage } from '../schema/run-record.ts';
import type { Feed, Record } from '../store/feed.ts';
import { takenOver } from '../store/run-leases.ts';
import type { Runs } from '../store/runs.ts';
import type { LiveRun } from './live-run.ts';
import { createStepRoom } from './step-room.ts';

export type RunRowsDeps = {
  readonly feed: Feed;
  readonly runs: Runs;
  readonly gate: Pick<Gate, 'unsent'>;
  readonly now: () => number;
  /** Masks known secrets, and what looks like one, before a message is stored (11 §5.3). */
  readonly mask: <T>(value: T) => T;
  readonly maskKnown: <T>(value: T) => T;
};

/** What the thread says that is written down. */
type SaidEvent = Exclude<EngineEvent, { readonly kind: 'request_over' }>;

/** A checkpoint that waits for the next transaction, with the events before it. */
type Held = {
  write(record: Record): void;
  /** Who goes on once it is on the disk; with nobody it needs no flush of its own. */
  readonly waiting: readonly (() => void)[];
};

/** Events that nobody asks about are written this late at the latest. */
const flushMs = 16;

/**
 * What the thread of a run has said, on its way into rows: in order, several events to a transaction, under the lease.
 * @param onFailure hears of a write that nobody waits for and that failed
 */
export function createRunRows(deps: RunRowsDeps, live: LiveRun, onFailure: (error: unknown) => void) {
  const { gate } = live;
  const runId = gate.ref.run_id;
  let pending: SaidEvent[] = [];
  let held: Held | null = null;
  let timer: NodeJS.Timeout | undefined;
  let usage = live.usedBefore;
  /** Of a model's turn whose message has not come yet. */
  let turnUsage: Usage | null = null;
  const usageOf = new WeakMap<SaidEvent, Usage>();
  let last: NumberedMessage | null = null;
  const room = createStepRoom(() => (live.job.resume === null ? 0 : deps.runs.stepBytes(runId)));

  /** What is kept in memory of an event: once, however often its rows are tried. */
  const note = (event: SaidEvent): void => {
    if (event.kind === 'turn_usage') {
      usage = addUsage(usage, event.usage);
      turnUsage = event.usage;
      gate.counters = {
        ...gate.counters,
        turns: gate.counters.turns + 1,
        tokens: gate.counters.tokens + event.usage.total_tokens,
        tokens_estimated: gate.counters.tokens_estimated || event.usage.estimated,
        api_ms: gate.counters.api_ms + event.api_ms,
      };
    } else if (event.kind === 'model_selected') {
      gate.chosen = { model: event.model, provider: event.provider, backend: event.backend };
    } else if (event.kind === 'model_retry') {
      live.retried = event.message;
    } else if (event.kind === 'message') {
      live.retried = null;
      // What a message of part of an answer has cost is not known.
      const { role, interrupted } = event.message;
      if (turnUsage !== null && role === 'assistant' && interrupted !== true) usageOf.set(event, turnUsage);
      turnUsage = null;
    }
  };

  /** Its calls are exact apart from known secrets: they run from here when the run goes on (11 §5.3.3). */
  const storable = (message: Message): Message => {
    const masked = deps.mask(message);
    return masked.role === 'assistant' && message.role === 'assistant' && message.tool_calls !== undefined
      ? { ...masked, tool_calls: deps.maskKnown(message.tool_calls) }
      : masked;
  };

  const write = (record: Record, event: SaidEvent): void => {
    switch (event.kind) {
      case 'captured_step':
        deps.runs.captureStep(runId, event.step);
        return;
      case 'turn_usage':
        deps.runs.setCounters(runId, gate.counters);
        return;
      case 'unsent_call':
        deps.gate.unsent(gate, event);
        return;
      case 'message': {
        const message = storable(event.message);
        const payload = JSON.stringify(message);
        deps.runs.appendMessage(runId, event.number, payload);
        last = { number: event.number, message };
        if (event.working === true) return;
        const { role, interrupted } = event.message;
        const said = { payload, role, interrupted: interrupted === true, usage: usageOf.get(event) ?? null };
        live.turn?.message(said, deps.now());
        break;
      }
      default:
    }
    record(gate.ref, event);
  };

  const flush = (alsoWrite?: () => void, durability: 'full' | 'normal' = 'normal'): void => {
    clearTimeout(timer);
    timer = undefined;
    const [before, batch] = [held, pending];
    pending = [];
    if (before === null && batch.length === 0 && alsoWrite === undefined) return;
    const waiting = before?.waiting ?? [];
    try {
      deps.feed.commit(waiting.length > 0 ? 'full' : durability, (record) => {
        if (!deps.runs.holdsLease(runId, gate.owner)) throw takenOver();
        before?.write(record);
        for (const event of batch) write(record, event);
        alsoWrite?.();
      });
      held = null;
    } catch (error) {
      // A run may go on behind a question that could not be stored: what it has said is written with the next one.
      pending = [...batch, ...pending];
      throw error;
    }
    for (const goOn of waiting) goOn();
  };
  const flushSoon = (): void => {
    if (pending.length === 0 && held === null) return;
    timer ??= setTimeout(() => {
      try {
        flush();
      } catch (error) {
        onFailure(error);
      }
    }, flushMs);
  };

  gate.ahead = {
    write: (record) => held?.write(record),
    stands: () => {
      held = null;
    },
    flush: () => flush(),
  };

  return {
    /** Takes a stored event; `flush` or `flushSoon` writes it. */
    add(event: SaidEvent): void {
      note(event);
      // Masked before it is cut: half a secret is not known as one.
      pending.push(event.kind === 'captured_step' ? { ...event, step: room.take(deps.mask(event.step)) } : event);
    },

    /** Writes what is there, and with it what else is given. @throws as `Feed.commit`, storage for a lost lease */
    flush,

    /** Writes what is there within 16 ms. */
    flushSoon,

    /** Writes what was said since the last `hold`, and what somebody waits for. @throws as `flush` */
    flushBehindHeld(): void {
      if (pending.length > 0 || (held !== null && held.waiting.length > 0)) flush();
    },

    /**
     * Keeps a checkpoint, and the events before it, for the transaction of the `started` row that it goes ahead of (one
     * log entry instead of two), or for the moment when the thread has been told what it waits for. Whatever is written
     * first takes it along, and it does not wait longer than other events.
     * @param goOn called once it is on the disk; without it, the checkpoint needs no flush of its own
     */
    hold(checkpoint: () => void, goOn?: () => void): void {
      const [before, batch] = [held, pending];
      pending = [];
      held = {
        write(record) {
          before?.write(record);
          for (const event of batch) write(record, event);
          checkpoint();
        },
        waiting: [...(before?.waiting ?? []), ...(goOn === undefined ? [] : [goOn])],
      };
      flushSoon();
    },

    /** Tokens of all turns so far. */
    usage: () => usage,

    /** The message that was written last, as it was stored; null when none was. */
    last: () => last,
  };
}
