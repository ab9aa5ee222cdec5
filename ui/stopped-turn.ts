import type { RuntimeClient } from '../src/client/operations.ts';
import { RuntimeError, toWire } from '../src/schema/errors.ts';
import type { RunEvent } from '../src/schema/event.ts';
import type { InterruptedTurn } from '../src/schema/session.ts';
import type { Action } from './actions.ts';
import type { Effect } from './effect.ts';
import type { Overlay } from './overlays/overlay.ts';

/** The turn of a session that was stopped before it ended, which a new one would take the place of; null when there is none. */
export const stoppedTurn = (client: RuntimeClient, session: string | null): Promise<InterruptedTurn | null> =>
  client.interruptedTurn({ session }).catch((error: unknown) => {
    // The first message makes the session.
    if (toWire(error).code === 'not_found') return null;
    throw error;
  });

/** Offers to end it (07 §2.7); the message waits, and comes back when nothing is chosen. */
export function stoppedQuestion(turn: InterruptedTurn, message: Extract<Effect, { do: 'send' }>): Overlay {
  const { run_id, session, unknown } = turn;
  const back = (why: string) => ({ do: 'not-sent', written: message.written, why }) as const;
  const open =
    unknown.length === 0 ? [] : [`What became of ${[...new Set(unknown)].join(', ')} is unknown: that is asked first.`];
  return {
    kind: 'question',
    title: 'A turn was stopped',
    lines: [`The last turn of "${session}" was stopped before it ended.`, ...open],
    choices: [
      { key: 'y', words: 'end it and send', effects: [{ ...message, ends: run_id }] },
      {
        key: 'r',
        words: 'go on with it instead',
        effects: [back('the stopped turn goes on first'), { do: 'resume-run', run_id }],
      },
    ],
    otherwise: [back(`nothing was sent; ${run_id} stays as it is`)],
    at: 0,
  };
}

type Ending = {
  readonly client: RuntimeClient;
  readonly dispatch: (action: Action) => void;
  readonly now: () => number;
  readonly signal: AbortSignal;
};

/** What says that the run begins, goes on or is over, which is not told: the new turn is what people wait for. */
const untold: ReadonlySet<RunEvent['kind']> = new Set([
  'step_started',
  'chain_cancelled',
  'chain_resumed',
  'chain_suspended',
]);

/**
 * Settles the open calls of a stopped turn, whose questions have their cards, until it has made room for a new one.
 * @throws RuntimeError in_use when it was not ended: interrupted by a key, or left with its question open
 */
export async function endStopped(deps: Ending, runId: string, timeout_ms: number): Promise<void> {
  const { client, dispatch, now, signal } = deps;
  const started = await client.resumeRun({
    run_id: runId,
    accept_changed_chain: true,
    on_ask: 'ask',
    timeout_ms,
    settle: true,
  });
  dispatch({ type: 'accepted', run_id: started.run_id, session: null });
  const after = started.resumed?.from_seq ?? 0;
  for await (const events of client.watch({ run_id: started.run_id, after, signal })) {
    const told = events.filter(({ kind }) => !untold.has(kind));
    if (told.length > 0) dispatch({ type: 'events', run_id: started.run_id, events: told, now: now() });
  }
  const { status, exit_code } = await client.awaitRun({ run_id: started.run_id });
  // Ended because the new turn begins, or by somebody else meanwhile; not by a key here.
  if (status !== 'cancelled' || exit_code !== 1)
    throw new RuntimeError('in_use', `the stopped turn is ${status}; the message was not sent`);
}
