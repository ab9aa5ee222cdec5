import { RuntimeError } from '../schema/errors.ts';
import type { Image, Message } from '../schema/message.ts';
import type { RunStarted, SendMessage, StartRun } from '../schema/run.ts';
import { imageMessage } from '../runs/images.ts';
import type { LostRuns } from '../runs/lost-runs.ts';
import type { RunService } from '../runs/runs.ts';
import type { TurnStart } from '../runs/write-start.ts';
import type { Calls } from '../store/calls.ts';
import { hasLapsed, isDriven, type RunHead, type Runs } from '../store/runs.ts';
import type { SessionRow, Sessions } from '../store/sessions.ts';
import { ulid } from '../text/ids.ts';
import { leaveTurn } from './leave-turn.ts';
import { turnOf } from './turn.ts';

export type ChatDeps = {
  readonly sessions: Sessions;
  readonly runs: Runs;
  readonly calls: Pick<Calls, 'results'>;
  readonly asks: { pendingOfRun(runId: string): readonly string[] };
  readonly lostRuns: LostRuns;
  readonly service: Pick<RunService, 'startTurn'>;
  /** The named session, else the active one, else `default`, made when it is missing (07 §2.2). */
  readonly sessionForTurn: (name: string | null) => SessionRow;
  readonly now: () => number;
  /** Masks known secrets before a message is stored (11 §5.3). */
  readonly mask: <T>(value: T) => T;
  /** Receives one line while another turn of the session is waited for. */
  readonly say: (line: string) => void;
};

/** How long a second turn waits for the first one (07 §2.6). */
const busyWaitMs = 10_000;
const busyPollMs = 250;

/** One turn of a session (07 §2.3): the message is stored before the model is asked. */
export function createChat(deps: ChatDeps) {
  const { sessions, runs, now } = deps;

  /**
   * A run that rests, or whose process is gone, gives way to a new turn (07 §2.7): its open calls get their results and
   * people a note, before the new message is stored.
   */
  const giveWay = (session: SessionRow, head: RunHead, giveUp: boolean): void => {
    const { status } = head;
    if (status === 'suspended' && !giveUp) throw suspended(session, head, deps.asks.pendingOfRun(head.id));
    const leave = (): void => leaveTurn(deps, session, head.id);
    deps.lostRuns.end(head.id, status === 'suspended' ? 'cancelled' : 'interrupted', 'a new turn began', leave);
  };

  /** @throws RuntimeError session_busy at `until`, run_suspended */
  const clear = async (session: SessionRow, giveUp: boolean, until: number): Promise<void> => {
    let said = false;
    const say = (head: RunHead): void => {
      const process = head.lease_owner?.split(' ')[2] ?? '';
      if (!said)
        deps.say(`session "${session.name}" is busy with run ${head.id} of process ${process}; waiting up to 10 s`);
      said = true;
    };
    const reread = new Set<string>();
    for (;;) {
      const open = runs.openOfSession(session.id);
      const live = open.find((head) => isDriven(head, now()));
      const lapsed = open.find((head) => !reread.has(head.id) && hasLapsed(head, now()));
      if (live !== undefined) {
        if (now() >= until) {
          throw busy(session, live.id);
        }
        say(live);
        await new Promise((resolve) => setTimeout(resolve, busyPollMs));
      } else if (lapsed !== undefined) {
        say(lapsed);
        reread.add(lapsed.id);
        await deps.lostRuns.reread(lapsed.id);
      } else {
        for (const head of open) giveWay(session, head, giveUp);
        return;
      }
    }
  };

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
      const until = now() + (wait_ms ?? busyWaitMs);
      let turnFrom = 0;
      let message_id = '';
      const turn: TurnStart = {
        session: { id: session.id, name: session.name },
        trim,
        begin(runId, record, ref, images) {
          const [other] = runs.openOfSession(session.id).filter((head) => head.id !== runId);
          if (other !== undefined) {
            throw busy(session, other.id);
          }
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
      const start = async (): Promise<RunStarted> => {
        for (;;) {
          await clear(session, giveUp, until);
          try {
            return await deps.service.startTurn(run satisfies StartRun, turn);
          } catch (error) {
            // Another process was quicker between the look and the transaction: its turn is waited for like any other.
            if (!(error instanceof RuntimeError) || error.code !== 'session_busy' || now() > until) throw error;
          }
        }
      };
      const started = await start();
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

const busy = (session: SessionRow, runId: string): RuntimeError =>
  new RuntimeError('session_busy', `session "${session.name}" is busy with run ${runId}`, {
    data: { run_id: runId, param: runId },
  });

function suspended(session: SessionRow, head: RunHead, askIds: readonly string[]): RuntimeError {
  const answer = askIds.map((id) => `reins approvals respond ${id} --approve`);
  return new RuntimeError('run_suspended', `session "${session.name}" waits for an approval of run ${head.id}`, {
    data: { run_id: head.id, ask_ids: askIds, param: head.id },
    hints: [...answer.slice(0, 2), 'reins chat --abandon "…"'],
  });
}
