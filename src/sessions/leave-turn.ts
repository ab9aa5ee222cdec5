import type { RunFailure } from '../schema/run.ts';
import type { Calls } from '../store/calls.ts';
import type { RunHead } from '../store/runs.ts';
import type { SessionRow, Sessions } from '../store/sessions.ts';
import { turnOf } from './turn.ts';

export type LeaveDeps = {
  readonly sessions: Sessions;
  readonly calls: Pick<Calls, 'results'>;
  readonly now: () => number;
  /** Masks known secrets before a message is stored (11 §5.3). */
  readonly mask: <T>(value: T) => T;
};

/**
 * What a turn that is given up leaves in its session (07 §2.7): results for its open calls, and a note for people. Runs
 * in the transaction that ends its run. A summary that was not made leaves nothing.
 */
export function leaveTurn(
  deps: LeaveDeps,
  session: SessionRow,
  head: Pick<RunHead, 'id' | 'kind'>,
  failure: RunFailure | null = null,
): void {
  if (head.kind === 'compact') return;
  const { sessions, calls, now, mask } = deps;
  const runId = head.id;
  const turn = turnOf(sessions, session, runId);
  turn.closeCalls(calls.results(runId), mask, now());
  turn.note(failure, now());
}

/** The same for any run: one that belongs to no session leaves nothing there. */
export function leaveTurnOf(deps: LeaveDeps, head: RunHead, failure: RunFailure | null = null): void {
  const session = head.session_id === null ? undefined : deps.sessions.byId(head.session_id);
  if (session !== undefined) leaveTurn(deps, session, head, failure);
}
