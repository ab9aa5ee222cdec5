import { RuntimeError } from '../schema/errors.ts';
import type { LostRuns } from '../runs/lost-runs.ts';
import { hasLapsed, isDriven, type RunHead, type Runs } from '../store/runs.ts';
import type { Calls } from '../store/calls.ts';
import type { SessionRow } from '../store/sessions.ts';
import type { InterruptedTurn } from '../schema/session.ts';
import { type Ask, verdictFor, waitedFor } from '../schema/ask.ts';
import { type LeaveDeps, leaveTurn } from './leave-turn.ts';

export type FreeSessionDeps = LeaveDeps & {
  readonly runs: Runs;
  readonly calls: Pick<Calls, 'results' | 'unsettled'>;
  readonly asks: {
    pendingOfRun(runId: string): readonly string[];
    show(id: string): Ask;
    /** Oldest first. */
    ofRun(runId: string): readonly Ask[];
  };
  /** Whether a tool only reads: a call of it that was found started is no unknown outcome (03 §11.5). */
  readonly isReader: (tools: string, tool: string) => boolean;
  readonly sessionNamed: (name: string | null) => SessionRow | undefined;
  /** The session that a command takes which names none. */
  readonly activeId: () => string | null;
  readonly lostRuns: LostRuns;
  readonly now: () => number;
  /** Receives one line while another run of the session is waited for. */
  readonly say: (line: string) => void;
};

/** How long a second turn waits for the first one (07 §2.6). */
const busyWaitMs = 10_000;
const busyPollMs = 250;

const tookItsPlace = { status: 'cancelled', reason: 'a new turn began', by: 'system:cancelled' } as const;

/**
 * Starts a run of a session once no other run of it goes on (07 §2.6). One that rests, or whose process is gone, gives
 * way (07 §2.7); one that another process was quicker to start is waited for like any other.
 */
export function createFreeSession(deps: FreeSessionDeps) {
  const { runs, now } = deps;

  const unknownOf = (head: RunHead): readonly string[] =>
    deps.calls
      .unsettled(head.id)
      .filter(({ tools, tool }) => !deps.isReader(tools, tool))
      .map(({ tools, tool }) => `${tools}.${tool}`);

  /** Its open calls get their results and people a note, before anything new is stored. */
  const giveWay = (session: SessionRow, head: RunHead, giveUp: boolean): void => {
    const { status } = head;
    if (!giveUp) {
      // Without its name the command would give up a turn of the session that is active.
      const sessionFlag = session.id === deps.activeId() ? '' : ` --session ${session.name}`;
      const abandon = `reins chat --abandon${sessionFlag} "…"`;
      if (status === 'suspended') throw suspended(session, head, deps.asks, abandon);
      const unknown = unknownOf(head);
      if (unknown.length > 0) throw unsettled(session, head, unknown, abandon);
    }
    const as = status === 'suspended' ? tookItsPlace : ({ status: 'interrupted' } as const);
    deps.lostRuns.end(head.id, as, () => leaveTurn(deps, session, head));
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
        if (now() >= until) throw sessionBusy(session, live.id);
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

  return {
    /**
     * @param giveUp a run that waits for an approval is cancelled, too
     * @param start throws `session_busy` when another run was quicker
     * @param waitMs how long a turn that goes on is waited for
     * @throws RuntimeError session_busy, run_suspended, and what `start` throws
     */
    async take<T>(
      session: SessionRow,
      giveUp: boolean,
      start: () => Promise<T>,
      waitMs: number = busyWaitMs,
    ): Promise<T> {
      const until = now() + waitMs;
      for (;;) {
        await clear(session, giveUp, until);
        try {
          return await start();
        } catch (error) {
          if (!(error instanceof RuntimeError) || error.code !== 'session_busy' || now() > until) throw error;
        }
      }
    },

    /** The turn that a new one would take the place of; null when there is none, or somebody may still drive it. */
    interrupted(name: string | null): InterruptedTurn | null {
      const session = deps.sessionNamed(name);
      if (session === undefined) return null;
      const head = runs
        .openOfSession(session.id)
        .find(
          (open) =>
            open.kind === 'chat' && open.status !== 'suspended' && !isDriven(open, now()) && !hasLapsed(open, now()),
        );
      return head === undefined ? null : { session: session.name, run_id: head.id, unknown: unknownOf(head) };
    },

    /** Inside the transaction that starts a run. @throws RuntimeError session_busy when the session has another one */
    check(session: SessionRow, runId: string): void {
      const [other] = runs.openOfSession(session.id).filter((head) => head.id !== runId);
      if (other !== undefined) throw sessionBusy(session, other.id);
    },
  };
}

export type FreeSession = ReturnType<typeof createFreeSession>;

const sessionBusy = (session: SessionRow, runId: string): RuntimeError =>
  new RuntimeError('session_busy', `session "${session.name}" is busy with run ${runId}`, {
    data: { run_id: runId, param: runId },
    hints: [`reins state show ${runId}`, `reins state cancel ${runId}`],
  });

function suspended(session: SessionRow, head: RunHead, asks: FreeSessionDeps['asks'], abandon: string): RuntimeError {
  // One whose deadline has passed is over, whether or not that has been written.
  const open = asks
    .pendingOfRun(head.id)
    .map((id) => asks.show(id))
    .filter(({ state }) => state === 'pending');
  const askIds = open.map(({ id }) => id);
  const answers = open.map(({ id, kind }) => `reins approvals respond ${id} ${verdictFor(kind)}`);
  const message =
    askIds.length === 0
      ? `the last turn of session "${session.name}" ${whyItRests(asks.ofRun(head.id).at(-1))} (run ${head.id})`
      : `session "${session.name}" waits for ${waitedFor(open[0]?.kind ?? 'permission')} (run ${head.id})`;
  const next = answers.length === 0 ? [`reins state resume ${head.id}`] : answers.slice(0, 2);
  return new RuntimeError('run_suspended', message, {
    data: { run_id: head.id, ask_ids: askIds, param: head.id },
    hints: [...next, abandon],
  });
}

/** What a turn does that waits for nobody and has not ended. */
function whyItRests(last: Pick<Ask, 'id' | 'state'> | undefined): string {
  switch (last?.state) {
    case 'expired':
      return `has not gone on since ${last.id} expired, which counts as a denial`;
    case 'approved':
    case 'denied':
    case 'answered':
    case 'cancelled':
      return `has not gone on since ${last.id} was ${last.state}`;
    default:
      return 'was stopped before it ended';
  }
}

/** Calls of unknown outcome ask first (07 §2.7): who starts a turn settles the run that made them. */
function unsettled(session: SessionRow, head: RunHead, unknown: readonly string[], abandon: string): RuntimeError {
  const what = `${unknown.join(', ')} had started when the last turn of session "${session.name}" was stopped`;
  return new RuntimeError('run_suspended', `${what}, and its outcome is unknown (run ${head.id})`, {
    data: { run_id: head.id, unknown, param: head.id },
    hints: [`reins state resume ${head.id}`, abandon],
  });
}
