import type { EngineEvent } from '../schema/event.ts';
import type { Feed } from '../store/feed.ts';
import { unlessLocked } from '../store/keep-trying.ts';
import { takenOver } from '../store/run-leases.ts';
import type { Runs } from '../store/runs.ts';
import { createDeltas } from './deltas.ts';
import type { LiveRun } from './live-run.ts';

export type StreamedTextDeps = {
  readonly feed: Feed;
  readonly runs: Pick<Runs, 'holdsLease'>;
  readonly now: () => number;
  /** Masks known secrets before a text is stored (11 §5.3). */
  readonly mask: <T>(value: T) => T;
  /** The same for text that arrives in pieces. */
  readonly maskStream: Parameters<typeof createDeltas>[0];
};

/** 07 §2.3.4: streamed text of a session is stored at least this often. */
const partialMs = 2_000;
/** Whoever reads along in another process sees it as often: of what is short a commit costs next to nothing. */
const shortPartialMs = 500;
const shortText = 16_384;

/** Behind these the message is said from its beginning, if it is said at all. */
const begins: ReadonlySet<EngineEvent['kind']> = new Set(['model_retry', 'step_failed']);

/**
 * The message that a model is saying: its pieces are published as they come, and what there is of it is stored in the
 * session until the whole message takes its place.
 * @param onFailure hears of a write that nobody waits for and that failed
 */
export function createStreamedText(deps: StreamedTextDeps, live: LiveRun, onFailure: (error: unknown) => void) {
  const { ref, owner } = live.gate;
  let text = '';
  let thinking = '';
  const deltas = createDeltas(deps.maskStream, (chunk) => {
    text += chunk.content ?? '';
    thinking += chunk.thinking ?? '';
    deps.feed.live(ref, chunk);
  });
  let storedAt = deps.now();
  let timer: NodeJS.Timeout | undefined;

  const store = (): void => {
    timer = undefined;
    storedAt = deps.now();
    deps.feed.commit('normal', () => {
      if (!deps.runs.holdsLease(ref.run_id, owner)) throw takenOver();
      live.turn?.partial(deps.mask({ text, thinking }), deps.now());
    });
  };
  const storeUnlessLocked = (): void => {
    try {
      unlessLocked(store);
    } catch (error) {
      onFailure(error);
    }
  };
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };

  return {
    /** Publishes a piece. */
    take(chunk: Extract<EngineEvent, { kind: 'step_chunk' }>): void {
      deltas.take(chunk);
      const length = text.length + thinking.length;
      if (live.turn === null || length === 0) return;
      // By a clock, not by the next delta: a model that stops in the middle may never send another.
      const everyMs = length > shortText ? partialMs : shortPartialMs;
      timer ??= setTimeout(storeUnlessLocked, Math.max(0, everyMs - (deps.now() - storedAt)));
    },

    /** Publishes what was held back of the pieces, ahead of an event that is stored. */
    endBefore(event: EngineEvent): void {
      deltas.end();
      const isWhole = event.kind === 'message' && event.working !== true && event.message.role === 'assistant';
      if (!isWhole && !begins.has(event.kind)) return;
      text = '';
      thinking = '';
      stop();
    },

    stop,
  };
}
