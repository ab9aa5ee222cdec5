import { type EventBody, type HostEvent, isEphemeral, type RunEvent } from '../schema/event.ts';
import { type EventRef, type Events, placeIn, type StoredEvent } from './events.ts';
import type { Sql } from './sql.ts';
import { createUnderWay } from './under-way.ts';

/** Adds one event to the transaction that is being written. */
export type Record = (ref: EventRef, body: EventBody | HostEvent) => void;

type Listener = (event: RunEvent) => void;

export type FeedDeps = {
  readonly sql: Sql;
  readonly events: Events;
  readonly now: () => number;
  /** The one sink of masking for events (11 §5.3). */
  readonly mask: <T>(value: T) => T;
};

/** How often other processes' commits are looked for while somebody waits (11 §2.9). */
const pollMs = 250;
const replayPage = 10_000;
/** Longer strings of an event are cut and their member is listed (04 §18.3). */
const maxEventString = 65_536;

/**
 * Row first, then watchers (04 §18). The only writer of events. `commit` is the shape of every change of a run: rows and
 * their events in one transaction, publication after it has been committed.
 */
export function createFeed(deps: FeedDeps) {
  const { sql, events } = deps;
  const listeners = new Map<string, Set<Listener>>();
  const pollers = new Set<() => void>();
  const followers = new Set<() => void>();
  const underWay = createUnderWay();
  let timer: NodeJS.Timeout | undefined;
  let version = -1;
  let seen: number | undefined;
  /** Events of the commit that is being written. */
  let open: StoredEvent[] | null = null;

  const deliver = (event: RunEvent): void => {
    underWay.heard(event);
    for (const listener of listeners.get(event.run_id) ?? []) listener(event);
  };

  const publish = (stored: readonly StoredEvent[]): void => {
    const first = stored[0];
    const last = stored.at(-1);
    if (first === undefined || last === undefined) return;
    if (seen !== undefined && first.cursor > seen + 1)
      for (const other of events.between(seen, first.cursor)) deliver(other.event);
    seen = last.cursor;
    for (const { event } of stored) deliver(event);
    for (const look of [...followers]) look();
  };

  /** Publishes what other processes committed since the last look. */
  const catchUp = (): void => {
    const now = sql.dataVersion();
    if (now === version) return;
    version = now;
    seen ??= events.lastCursor();
    const missed = events.between(seen, Number.MAX_SAFE_INTEGER);
    const last = missed.at(-1);
    if (last !== undefined) seen = last.cursor;
    for (const { event } of missed) deliver(event);
    for (const look of [...pollers]) look();
  };

  const startPolling = (): void => {
    if (timer !== undefined) return;
    version = sql.dataVersion();
    seen ??= events.lastCursor();
    timer = setInterval(() => {
      try {
        catchUp();
      } catch {
        // Nobody waits for this look: what keeps it from the file is told to whoever reads or writes next.
      }
    }, pollMs);
  };

  const poll = (look: () => void): (() => void) => {
    pollers.add(look);
    startPolling();
    return () => {
      pollers.delete(look);
      if (pollers.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  };

  return {
    /** One transaction of rows and events; events are published when it stands. @throws as `Sql.write`. */
    commit<T>(durability: 'full' | 'normal', body: (record: Record) => T): T {
      const stored: StoredEvent[] = [];
      const write = (): T =>
        sql.write(durability, () =>
          body((ref, event) => {
            if (isEphemeral(event.kind)) throw new TypeError(`${event.kind} is never stored`);
            (open ?? stored).push(events.append(ref, cutStrings(deps.mask(event)), deps.now()));
          }),
        );
      // Inside another commit its events wait for that one: nobody hears of what may be rolled back.
      if (open !== null) return write();
      open = stored;
      let result: T;
      try {
        result = write();
      } finally {
        open = null;
      }
      publish(stored);
      return result;
    },

    /** Publishes a delta to live listeners; it is not stored and may be lost. */
    live(ref: EventRef, body: EventBody): void {
      if (ref.run_id === null || (body.kind !== 'step_chunk' && !listeners.has(ref.run_id))) return;
      deliver({
        v: 1,
        seq: 0,
        timestamp: new Date(deps.now()).toISOString(),
        run_id: ref.run_id,
        session_id: ref.session_id,
        chain_id: ref.chain_id,
        ...placeIn(ref, body.kind),
        ...deps.mask(body),
      });
    },

    /** Hears every event of a run from now on. @returns the function that ends it. */
    listen(runId: string, listener: Listener): () => void {
      const set = listeners.get(runId) ?? new Set();
      listeners.set(runId, set);
      set.add(listener);
      return () => {
        set.delete(listener);
        if (set.size === 0) listeners.delete(runId);
      };
    },

    /** As `Events.taskOfAsk`. */
    taskOfAsk: events.taskOfAsk,

    /** The text so far of the message that a run streams in this process; null when it streams none. */
    underWay: underWay.of,

    /** Calls `look` whenever another process has committed something. @returns the function that ends it. */
    poll,

    /** Calls `look` behind every commit with events, of this process and of others. @returns the function that ends it. */
    follow(look: () => void): () => void {
      followers.add(look);
      const stop = poll(look);
      return () => {
        followers.delete(look);
        stop();
      };
    },

    /** Stored events of a run after `seq`. */
    replay(runId: string, after: number): RunEvent[] {
      const found: RunEvent[] = [];
      for (;;) {
        const page = events.ofRun(runId, found.at(-1)?.seq ?? after, replayPage);
        for (const { event } of page) found.push(event);
        if (page.length < replayPage) return found;
      }
    },
  };
}

export type Feed = ReturnType<typeof createFeed>;

/** 04 §18.3: strings above 64 KiB are cut, and the members that hold them are named. */
function cutStrings<T extends EventBody | HostEvent>(body: T): T {
  const truncated: string[] = [];
  const cut = (value: unknown): unknown => {
    if (typeof value === 'string') return value.length > maxEventString ? value.slice(0, maxEventString) : value;
    if (Array.isArray(value)) return value.map(cut);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cut(member)]));
  };
  const isLong = (value: unknown): boolean => {
    if (typeof value === 'string') return value.length > maxEventString;
    if (typeof value !== 'object' || value === null) return false;
    return Object.values(value).some(isLong);
  };
  const entries = Object.entries(body).map(([key, value]) => {
    if (!isLong(value)) return [key, value];
    truncated.push(key);
    return [key, cut(value)];
  });
  // Only strings were shortened: the shape is the one that came in.
  return truncated.length === 0 ? body : ({ ...Object.fromEntries(entries), truncated } as unknown as T);
}
