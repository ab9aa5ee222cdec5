import type { Message } from '../schema/message.ts';
import type { Calls } from '../store/calls.ts';
import type { SessionRow, Sessions } from '../store/sessions.ts';
import { openResults } from './open-calls.ts';
import { turnOf } from './turn.ts';

export type LeaveDeps = {
  readonly sessions: Sessions;
  readonly calls: Pick<Calls, 'results'>;
  readonly now: () => number;
  /** Masks known secrets before a message is stored (11 §5.3). */
  readonly mask: <T>(value: T) => T;
};

/**
 * What a run that is given up leaves in its session (07 §2.7): results for its open calls, and a note for people. Runs in
 * the transaction that ends the run.
 */
export function leaveTurn(deps: LeaveDeps, session: SessionRow, runId: string): void {
  const { sessions, calls, now, mask } = deps;
  const turn = turnOf(sessions, session, runId);
  // Rows that hold no message are left out by the query.
  const messages = sessions.ofRun(session.id, runId).map((payload) => JSON.parse(payload) as Message);
  for (const message of openResults(messages, calls.results(runId), now())) {
    turn.message(JSON.stringify(mask(message)), message.role, false, now());
  }
  turn.note('interrupted', now());
}
