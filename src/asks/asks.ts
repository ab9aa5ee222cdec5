import type { Ask, Preview, Verdict } from '../schema/ask.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { AskFilter, Rebound } from '../store/asks.ts';
import type { Feed, Record } from '../store/feed.ts';
import { type Actor, answerAsk, type Answered, type AnswerInput, takesUp } from './answer.ts';
import { type RaiseDeps, type RaiseInput, raiseAsk } from './raise.ts';
import { createVerdicts } from './verdicts.ts';
import { type WaitDeps, waitForVerdict } from './wait.ts';
import { noSuch } from '../text/ids.ts';

export type AsksDeps = RaiseDeps & {
  readonly feed: Feed;
  /** Whether a process drives this run now. */
  readonly isDriven: (runId: string) => boolean;
  /** Whether this run rests: it has not ended, and no process drives it. */
  readonly rests: (runId: string) => boolean;
  /** Refuses a run that could not go on in this process. @throws RuntimeError not_resumable_here, … */
  readonly checkResumable: (runId: string, acceptChangedChain: boolean) => void;
};

/** How often a live process closes asks whose deadline has passed (03 §2). */
const sweepEveryMs = 30_000;

/** Durable questions to a person (chapter 03): a row before anybody waits, and exactly one verdict. */
export function createAsks(deps: AsksDeps) {
  const { rows, feed, now } = deps;
  const verdicts = createVerdicts(deps);
  const { refOf, resolve } = verdicts;

  const systemVerdict = (ask: Ask, outcome: Verdict['outcome'], by: string): Verdict => ({
    outcome,
    by,
    at: new Date(now()).toISOString(),
    binding: ask.binding,
  });

  const isOver = (ask: Ask): boolean =>
    ask.state === 'pending' && ask.expires_at !== null && Date.parse(ask.expires_at) <= now();
  const expired = (ask: Ask): Verdict => systemVerdict(ask, 'expire', 'system:timeout');

  /** A reader sees a passed deadline as expired, whether or not a sweep has come by, or could write (03 §2). */
  const fresh = (ask: Ask): Ask => {
    if (!isOver(ask)) return ask;
    try {
      resolve(ask, expired(ask), null);
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      return { ...ask, state: 'expired', resolved_at: ask.expires_at, verdict: expired(ask) };
    }
    return rows.get(ask.id) ?? ask;
  };

  const find = (part: string): Ask => {
    const exact = rows.get(part);
    if (exact !== undefined) return fresh(exact);
    const candidates = rows.candidates(part);
    const [id, ...others] = candidates;
    const ask = id === undefined ? undefined : rows.get(id);
    if (ask === undefined) {
      throw new RuntimeError('not_found', noSuch('ask', part), { hints: ['reins approvals list'] });
    }
    if (others.length > 0)
      throw new RuntimeError('ambiguous_id', `"${part}" names several asks: ${candidates.join(', ')}`);
    return fresh(ask);
  };

  /**
   * Closes asks whose deadline has passed, at most 200 (03 §2). Never throws: what cannot be written now is left to the
   * next pass, and every reader sees a passed deadline by itself. @returns how many this call has closed
   */
  const sweep = (): number => {
    try {
      const due = rows.due(now());
      return due.length === 0 ? 0 : verdicts.resolveAll(due.map((ask) => [ask, expired(ask)]));
    } catch {
      // A lock, a full disk, or a row that does not parse: nothing that a list or a run should fail for.
      return 0;
    }
  };

  const waiting: WaitDeps = {
    read(id) {
      const ask = rows.get(id);
      if (ask === undefined) throw new RuntimeError('storage', `ask ${id} is gone from the database`);
      return fresh(ask);
    },
    cancel(ask) {
      resolve(ask, systemVerdict(ask, 'cancel', 'system:cancelled'), null);
    },
    listen: verdicts.listen,
    poll: feed.poll,
    now,
  };

  const isDriven = (ask: Ask): boolean => ask.run_id !== null && deps.isDriven(ask.run_id);

  return {
    raise: (record: Record, input: RaiseInput): string => raiseAsk(deps, record, input),

    wait: (id: string, signal: AbortSignal): Promise<Ask> => waitForVerdict(waiting, id, signal),

    /** Marks that the run took the verdict; in the caller's transaction. */
    delivered: (id: string): void => rows.delivered(id, now()),

    /** Whether a process drives the run that asks. */
    isDriven,

    isDelivered: (id: string): boolean => rows.isDelivered(id),

    /** Links a replaced ask to the one that took its place; in the caller's transaction. */
    supersede: (id: string, by: string): void => rows.supersede(id, by),

    /** Closes an ask whose call will not run as asked. @returns whether it was still pending. */
    close(id: string, outcome: 'deny' | 'cancel', by: string): boolean {
      const ask = rows.get(id);
      return ask !== undefined && resolve(ask, systemVerdict(ask, outcome, by), null);
    },

    /** An agent's verdict: only for what it looked at, and below the cap (03 §7.5). @returns whether it stands */
    adjudicate: (ask: Ask, verdict: Verdict, cap: number): boolean => resolve(ask, verdict, ask.binding, { cap }),

    /** Whether agents have verdicts left for asks like this in its mission. */
    agentsMayAnswer: (ask: Ask, cap: number): boolean =>
      ask.mission_id !== null && rows.agentVerdicts(ask.mission_id, ask.kind) < cap,

    /** Shows what the agent does about an ask that is open. */
    showAdjudicator(ask: Ask, agent: Omit<NonNullable<Preview['adjudicator']>, 'used'>): void {
      feed.commit('normal', (record) => {
        const used = rows.agentVerdicts(ask.mission_id ?? '', ask.kind);
        if (!rows.setAdjudicator(ask.id, { ...agent, used }, now())) return;
        record(refOf(ask), { kind: 'ask_updated', ask_id: ask.id, adjudicator: agent.state });
      });
    },

    cancelOfRun(runId: string): void {
      for (const id of rows.pendingOfRun(runId)) {
        const ask = rows.get(id);
        if (ask !== undefined) resolve(ask, systemVerdict(ask, 'cancel', 'system:cancelled'), null);
      }
    },

    /** The call has been judged by another policy meanwhile (03 §3.2). @returns false when the ask is over, or was changed first */
    rebind(ask: Ask, by: Rebound): boolean {
      return feed.commit('full', (record) => {
        if (!rows.rebind(ask, by, now())) return false;
        const { name, sha256 } = by.policy;
        record(refOf(ask), {
          kind: 'ask_updated',
          ask_id: ask.id,
          policy: { name, sha256 },
          binding: by.binding,
        });
        return true;
      });
    },

    /** @param also goes into the transaction of the verdict, if it stands */
    answer: (input: AnswerInput, actor: Actor, also: () => void = () => {}): Answered =>
      answerAsk(
        {
          find,
          resolve: (ask, verdict, binding) => resolve(ask, verdict, binding, { also }),
          isDriven,
          restsUntold: ({ id, run_id }) => run_id !== null && !rows.isDelivered(id) && deps.rests(run_id),
          checkResumable: (ask, accept) => deps.checkResumable(ask.run_id ?? '', accept),
          current: (ask) => rows.get(ask.id) ?? ask,
          now,
        },
        input,
        actor,
      ),

    /** Whether the answer is about to make a run go on in this process. @throws as `answer` for an unknown id */
    willGoOn(input: AnswerInput): boolean {
      const ask = find(input.id);
      return ask.state === 'pending' && takesUp({ isDriven }, ask, input);
    },

    show: (id: string): Ask => find(id),

    sweep,

    /** Sweeps, then lists: open ones by deadline, then the others, the newest verdict first. */
    list(filter: AskFilter): { asks: Ask[]; total: number; expired: number } {
      const closed = sweep();
      return { ...rows.list(filter), expired: closed };
    },

    /** Sweeps now and every 30 s; keeps no process alive. @returns the function that ends it */
    keepSwept(): () => void {
      sweep();
      const timer = setInterval(sweep, sweepEveryMs);
      timer.unref();
      return () => clearInterval(timer);
    },

    ofRun: (runId: string): Ask[] => rows.ofRun(runId),
    pendingOfRun: (runId: string): string[] => rows.pendingOfRun(runId),
  };
}

export type Asks = ReturnType<typeof createAsks>;
