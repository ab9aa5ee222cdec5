import type { Image, Message } from '../schema/message.ts';
import type { RunStarted, SendMessage, StartRun } from '../schema/run.ts';
import { imageMessage } from '../runs/images.ts';
import type { RunService } from '../runs/runs.ts';
import type { TurnStart } from '../runs/write-start.ts';
import type { SessionRow, Sessions } from '../store/sessions.ts';
import { ulid } from '../text/ids.ts';
import type { FreeSession } from './free-session.ts';
import { turnOf } from './turn.ts';

export type ChatDeps = {
  readonly sessions: Sessions;
  readonly free: FreeSession;
  readonly service: Pick<RunService, 'startTurn'>;
  /** The named session, else the active one, else `default`, made when it is missing (07 §2.2). */
  readonly sessionForTurn: (name: string | null) => SessionRow;
  readonly now: () => number;
  /** Masks known secrets before a message is stored (11 §5.3). */
  readonly mask: <T>(value: T) => T;
};

/** One turn of a session (07 §2.3): the message is stored before the model is asked. */
export function createChat(deps: ChatDeps) {
  const { sessions, free, now } = deps;

  /** How many stored messages `--trim` keeps out of a request (07 §2.4). */
  const leftOut = (sessionId: string, trim: number, turnFrom: number): number => {
    const [all, sent] = [0, trim].map((most) => {
      const messages: unknown = JSON.parse(sessions.historyText(sessionId, most, turnFrom));
      return Array.isArray(messages) ? messages.length : 0;
    });
    return (all ?? 0) - (sent ?? 0);
  };

  return {
    /**
     * Stores the message with its run in one transaction, then starts the run.
     * @throws RuntimeError not_found, session_busy, run_suspended, and what `prepareRun` throws before anything is stored
     */
    async sendMessage(
      input: SendMessage,
    ): Promise<RunStarted & { readonly turn: number; readonly message_id: string }> {
      const { session: name, trim, abandon: giveUp, last: _last, wait_ms, ...run } = input;
      const session = deps.sessionForTurn(name);
      let turnFrom = 0;
      let message_id = '';
      const turn: TurnStart = {
        kind: 'chat',
        session: { id: session.id, name: session.name },
        input: { type: 'chat_history' },
        trim,
        begin(runId, record, ref, images) {
          free.check(session, runId);
          const at = now();
          const message = userMessage(run, images, at);
          message_id = message.id;
          turnFrom = sessions.appendMessage(session.id, {
            id: message.id,
            role: 'user',
            kind: 'message',
            payload: JSON.stringify(deps.mask(message)),
            status: 'complete',
            run_id: runId,
            error: null,
            tokens_in: null,
            tokens_out: null,
            created_at: at,
          });
          record(ref, { kind: 'message', number: 0, message, task_id: '', task_handler: '', attempt: 0 });
          return turnOf(sessions, session, runId);
        },
        history: () => sessions.historyText(session.id, trim, turnFrom),
      };
      const started = await free.take(
        session,
        giveUp,
        () => deps.service.startTurn(run satisfies StartRun, turn),
        wait_ms,
      );
      return {
        ...started,
        turn: turnFrom,
        message_id,
        ...(trim > 0 ? { trimmed: leftOut(session.id, trim, turnFrom) } : {}),
      };
    },
  };
}

function userMessage(run: StartRun, images: readonly Image[], at: number): Message {
  const { value } = run.input;
  const content = typeof value === 'string' ? value : JSON.stringify(value);
  return imageMessage(ulid(at), content.toWellFormed(), images, at);
}
