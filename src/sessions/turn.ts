import type { SessionTurn } from '../runs/live-run.ts';
import { shownClass } from '../schema/errors.ts';
import type { Message } from '../schema/message.ts';
import { type NewMessage, partialId } from '../store/messages.ts';
import type { SessionRow, Sessions } from '../store/sessions.ts';
import { ulid } from '../text/ids.ts';
import { openResults } from './open-calls.ts';

/** What a run stores in its session (07 §2.3). */
export function turnOf(sessions: Sessions, session: SessionRow, runId: string): SessionTurn {
  const openId = partialId(runId);
  const row = (id: string, payload: string, rest: Partial<NewMessage>, at: number): NewMessage => ({
    id,
    role: 'assistant',
    kind: 'message',
    payload,
    status: 'complete',
    run_id: runId,
    error: null,
    tokens_in: null,
    tokens_out: null,
    created_at: at,
    ...rest,
  });
  const text = (content: string, role: Message['role'], at: number, rest: Partial<Message> = {}): string =>
    JSON.stringify({ id: ulid(at), role, content, timestamp: new Date(at).toISOString(), ...rest } satisfies Message);
  const message: SessionTurn['message'] = ({ payload, role, interrupted, usage }, at) => {
    const id = `${runId}-${ulid(at)}`;
    const spent = usage === null ? {} : { tokens_in: usage.input_tokens, tokens_out: usage.output_tokens };
    const stored = row(id, payload, { role, status: interrupted ? 'partial' : 'complete', ...spent }, at);
    // In the place of what had been stored of it while it arrived, if anything was.
    if (role === 'assistant') sessions.putMessage(session.id, stored, openId);
    else sessions.appendMessage(session.id, stored);
  };
  return {
    session_name: session.name,
    message,
    closeCalls(recorded, mask, at) {
      // Rows that hold no message are left out by the query.
      const messages = sessions.ofRun(session.id, runId).map((payload) => JSON.parse(payload) as Message);
      for (const result of openResults(messages, recorded, at)) {
        const payload = JSON.stringify(mask(result));
        message({ payload, role: result.role, interrupted: false, usage: null }, at);
      }
    },
    partial({ text: content, thinking }, at) {
      const thought = thinking === '' ? {} : { thinking };
      const payload = text(content, 'assistant', at, thought);
      sessions.putMessage(session.id, row(openId, payload, { status: 'partial' }, at));
    },
    output({ type, text: content }, at) {
      if (type === 'chat_history') return;
      sessions.appendMessage(session.id, row(`${runId}-output`, text(content, 'assistant', at), {}, at));
    },
    note(failure, at) {
      const error = failure === null ? null : { class: shownClass(failure.class), message: failure.message };
      const payload = text(
        error === null ? 'interrupted' : `failed (${error.class}): ${error.message}`,
        'assistant',
        at,
      );
      const stored = row(
        `${runId}-note`,
        payload,
        { kind: 'note', error: error === null ? null : JSON.stringify(error) },
        at,
      );
      // A run that was stopped in order has left its note already; it keeps its place.
      sessions.putMessage(session.id, stored);
    },
  };
}
