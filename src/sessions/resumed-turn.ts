import type { ResumedTurn } from '../runs/resume.ts';
import type { Sessions } from '../store/sessions.ts';
import { turnOf } from './turn.ts';

/** The session's side of a run that goes on; null when the session, or the message that the run answers, is gone. */
export function resumedTurn(sessions: Sessions, sessionId: string, runId: string): ResumedTurn | null {
  const session = sessions.byId(sessionId);
  const from = session === undefined ? null : sessions.turnOf(session.id, runId);
  if (session === undefined || from === null) return null;
  return {
    session: { id: session.id, name: session.name },
    turn: turnOf(sessions, session, runId),
    history: (trim) => sessions.historyText(session.id, trim, from, from),
    takeBack: (ids) => sessions.takeBack(session.id, runId, ids),
  };
}
