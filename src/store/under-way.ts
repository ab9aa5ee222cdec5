import type { RunEvent } from '../schema/event.ts';

type Chunk = Extract<RunEvent, { kind: 'step_chunk' }>;

/** Behind these there is no open message: it is stored, begins anew, or there will be none. */
const ends: ReadonlySet<RunEvent['kind']> = new Set([
  'message',
  'model_retry',
  'step_completed',
  'step_failed',
  'chain_completed',
  'chain_failed',
  'chain_cancelled',
  'chain_suspended',
]);

/**
 * The text of the messages that are being streamed in this process. It is not stored as events: who begins to look at a
 * run in the middle of a message gets it as one chunk that says so (`from_start`).
 */
export function createUnderWay() {
  const chunks = new Map<string, Chunk>();
  return {
    heard(event: RunEvent): void {
      if (event.kind === 'step_chunk') {
        const before = chunks.get(event.run_id);
        chunks.set(event.run_id, before === undefined ? { ...event, from_start: true } : joined(before, event));
      } else if (ends.has(event.kind)) chunks.delete(event.run_id);
    },
    of: (runId: string): RunEvent | null => chunks.get(runId) ?? null,
  };
}

const joined = (before: Chunk, next: Chunk): Chunk => ({
  ...before,
  index: next.index,
  ...(next.content === undefined ? {} : { content: (before.content ?? '') + next.content }),
  ...(next.thinking === undefined ? {} : { thinking: (before.thinking ?? '') + next.thinking }),
});
