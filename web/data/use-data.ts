import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { RuntimeError } from '../../src/schema/errors.ts';
import type { FeedEntry } from '../../src/schema/feed.ts';
import { connection } from './client.ts';
import { beginnings, kindsOf, onFeed, type Topic } from './live.ts';
import { onReturn } from './on-return.ts';
import { useStore } from './store.ts';

/** What a page knows of something that it reads. A reload that fails keeps what was read before. */
export type Data<T> = {
  readonly value: T | null;
  readonly error: RuntimeError | null;
  /** The stream that keeps it fresh is down. */
  readonly stale: boolean;
  readonly reload: () => void;
};

export type LiveOptions = {
  /** Reads again after an entry of one of these topics… */
  readonly topics?: readonly Topic[];
  /** …that this lets through. */
  readonly when?: (entry: FeedEntry) => boolean;
  /** It lies in files: what an editor makes of them no entry tells, so who comes back to the window sees it anew. */
  readonly files?: boolean;
};

/** Entries of a busy moment are answered by one reading. */
const gatherMs = 120;
/**
 * Readings that may be on their way before another one is begun for an entry: where the server is slow, what somebody does
 * would wait behind all of them (a browser has six connections). Two, since one may be on a line that is dead.
 */
const mostAtOnce = 2;

/**
 * Reads something and keeps it fresh: again after what happened, after a lost connection, and where `key` changes.
 * @param key names what is read; another one begins anew; null = nothing yet
 */
export function useData<T>(key: string | null, load: () => Promise<T>, live: LiveOptions = {}): Data<T> {
  const [held, hold] = useState<{ key: string | null; value: T | null; error: RuntimeError | null }>({
    key,
    value: null,
    error: null,
  });
  const latest = useRef({ load, live });
  latest.current = { load, live };
  /** Readings are numbered: how many were begun, and the newest that is shown or belongs to a key before this one. */
  const asked = useRef(0);
  const shown = useRef(0);
  const underWay = useRef<Readings>(noReadings());
  const line = useStore(connection);
  const begun = useStore(beginnings);

  const reload = useCallback(() => {
    if (key === null) return;
    asked.current += 1;
    const mine = asked.current;
    const readings = underWay.current;
    readings.count += 1;
    // One that comes behind a newer one is dropped; one that a newer one only was begun behind is not, or a busy feed
    // would keep everything from being shown.
    const isNews = (): boolean => {
      const news = mine > shown.current;
      if (news) shown.current = mine;
      return news;
    };
    latest.current
      .load()
      .then(
        (value) => {
          if (isNews()) hold({ key, value, error: null });
        },
        (thrown: unknown) => {
          if (isNews())
            hold((before) => ({ key, value: before.key === key ? before.value : null, error: refusalFrom(thrown) }));
        },
      )
      .finally(() => {
        readings.count -= 1;
        const { behind } = readings;
        readings.behind = null;
        behind?.();
      });
  }, [key]);

  useEffect(() => {
    reload();
    return () => {
      shown.current = asked.current;
      // Nobody wants to know any more what was asked for under this key.
      underWay.current.behind = null;
      underWay.current = noReadings();
    };
  }, [reload]);

  const isOpen = line.state === 'open';
  const before = useRef({ isOpen, begun });
  useEffect(() => {
    const isFollowed = latest.current.live.topics !== undefined;
    const missed = isOpen && (!before.current.isOpen || (isFollowed && before.current.begun !== begun));
    before.current = { isOpen, begun };
    if (missed) reload();
  }, [isOpen, begun, reload]);

  const { files = false } = live;
  useEffect(() => (files ? onReturn(reload) : undefined), [files, reload]);

  const topicNames = (live.topics ?? []).join();
  useEffect(() => {
    if (topicNames === '') return;
    // The names were just joined of these.
    const kinds = kindsOf(topicNames.split(',') as Topic[]);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = onFeed((entries) => {
      const { when } = latest.current.live;
      if (timer !== undefined || !entries.some((entry) => kinds.has(entry.kind) && (when?.(entry) ?? true))) return;
      timer = setTimeout(() => {
        timer = undefined;
        if (underWay.current.count < mostAtOnce) reload();
        else underWay.current.behind = reload;
      }, gatherMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [topicNames, reload]);

  const current = held.key === key;
  const value = current ? held.value : null;
  const error = current ? held.error : null;
  return useMemo(() => ({ value, error, stale: !isOpen, reload }), [value, error, isOpen, reload]);
}

/** Of one key: how many are on their way, and what is to be done when one of them is there. */
type Readings = { count: number; behind: (() => void) | null };
const noReadings = (): Readings => ({ count: 0, behind: null });

/** Anything thrown, as an error that can be shown. */
export const refusalFrom = (thrown: unknown): RuntimeError =>
  thrown instanceof RuntimeError
    ? thrown
    : new RuntimeError('internal', thrown instanceof TypeError ? 'The server does not answer.' : String(thrown), {
        cause: thrown,
      });

/** An act of a person: whether it is under way, and what became of it. */
export type Action<A extends readonly unknown[], T> = {
  /** Resolves with null where it failed; a second press while it is under way does nothing. */
  readonly run: (...args: A) => Promise<T | null>;
  readonly busy: boolean;
  readonly error: RuntimeError | null;
  readonly clear: () => void;
};

export function useAction<A extends readonly unknown[], T>(act: (...args: A) => Promise<T>): Action<A, T> {
  const [state, set] = useState<{ busy: boolean; error: RuntimeError | null }>({ busy: false, error: null });
  const latest = useRef(act);
  latest.current = act;
  const busy = useRef(false);
  const run = useCallback(async (...args: A): Promise<T | null> => {
    if (busy.current) return null;
    busy.current = true;
    set({ busy: true, error: null });
    try {
      const value = await latest.current(...args);
      set({ busy: false, error: null });
      return value;
    } catch (thrown) {
      set({ busy: false, error: refusalFrom(thrown) });
      return null;
    } finally {
      busy.current = false;
    }
  }, []);
  const clear = useCallback(() => set((before) => ({ ...before, error: null })), []);
  return { run, busy: state.busy, error: state.error, clear };
}
