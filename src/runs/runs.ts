import type { AgentRun } from '../asks/adjudicate.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { RunEvent } from '../schema/event.ts';
import type { RunKind, RunResult, RunStarted, StartRun } from '../schema/run.ts';
import { endCodes, keepTrying } from '../store/keep-trying.ts';
import type { Sessions } from '../store/sessions.ts';
import { newId } from '../text/ids.ts';
import { type FinishDeps, type Finished, finishRun } from './finish.ts';
import { createLateEnds } from './late-ends.ts';
import { launch, stopRun } from './launch.ts';
import type { LiveRun, StopReason } from './live-run.ts';
import { createLiveRuns } from './live-runs.ts';
import { type ParentRun, parentRun } from './nested.ts';
import { prepareRun } from './prepare.ts';
import { type ResumeDeps, type ResumeInput, resumeRun } from './resume.ts';
import { createSlots, type Slots } from './slots.ts';
import { createSupervisor, type Supervised, type SupervisorDeps } from './supervisor.ts';
import { watchRun } from './watch.ts';
import { type StartWith, type TurnStart, writeStart } from './write-start.ts';
import type { RunnableChain } from '../workspace/chains.ts';

/** How often a run that is to rest is looked at for calls that go on. */
const lookMs = 50;

export type RunsDeps = SupervisorDeps &
  FinishDeps &
  ResumeDeps & {
    /** Takes in the outcome of a plan's step; whoever awaits the run waits for it too. Never rejects. */
    readonly afterStep?: (live: LiveRun, finished: Finished) => Promise<void>;
    readonly sessions: Pick<Sessions, 'partial'>;
    /** How many runs may be active at once in a server; null = as many as there are threads. */
    readonly mostActive: (() => number) | null;
  };

/** Runs of this process: prepare, write, start, watch, stop. */
export function createRuns(deps: RunsDeps) {
  const supervisor = createSupervisor(deps);
  const lives = createLiveRuns();
  const lateEnds = createLateEnds();
  const slots = deps.mostActive === null ? null : createSlots({ ...deps, most: deps.mostActive });

  const start = async (kind: RunKind, input: StartRun, more: StartWith = {}): Promise<RunStarted> => {
    const { turn, parent, plan, tools, chain } = more;
    // A run that another one waits for must not wait for that one's end.
    if (parent === undefined) slots?.check();
    const prepared = await prepareRun(deps.prepare, kind, input, {
      ...(chain === undefined ? {} : { stored: chain }),
      ...(tools === undefined ? {} : { tools }),
    });
    const runId = newId('run', deps.now());
    // A plan is the mission of the runs of its steps (03, terms).
    const missionId = plan?.stepId == null ? (parent?.mission_id ?? runId) : plan.id;
    const ids = { runId, session: turn?.session ?? null, plan: plan ?? null, missionId };
    try {
      const written = writeStart(deps, prepared, ids, more);
      return follow(launch(deps, prepared, ids, written), parent === undefined ? slots : null);
    } catch (error) {
      prepared.sources.close();
      throw error;
    }
  };

  const stepTakenIn = async (live: LiveRun, done: Finished): Promise<Finished> => {
    if (live.plan?.stepId != null && live.kind === 'plan_step') await deps.afterStep?.(live, done);
    return done;
  };

  /** Gives a run its thread, and its end its rows. */
  const follow = (live: LiveRun, turns: Slots | null): RunStarted => {
    const supervised = turns === null ? supervisor.supervise(live) : inTurn(live, turns);
    const { run_id } = live.gate.ref;
    lateEnds.drop(run_id);
    const finished = supervised.then(async (end) => {
      live.clock.stop();
      live.sources.close();
      const finish = (): Finished => finishRun(deps, live, end);
      try {
        // The answer is there: a lock of another process is no reason to lose it.
        return await stepTakenIn(live, await keepTrying(finish, { codes: endCodes(end.end) }));
      } catch (error) {
        lateEnds.keep(run_id, error, () => stepTakenIn(live, finish()));
        throw error;
      }
    });
    lives.add(run_id, live, finished);
    return live.started;
  };

  const inTurn = async (live: LiveRun, turns: Slots): Promise<Supervised> => {
    await turns.enter(live);
    try {
      // Stopped while it waited: nothing of it has begun, and there is nothing to go on from but its request.
      if (live.stopped !== null) return { end: { kind: 'cancelled' }, last: null, usage: live.usedBefore };
      return await supervisor.supervise(live);
    } finally {
      turns.leave();
    }
  };

  /** @throws RuntimeError run_not_active */
  const going = (runId: string): LiveRun => {
    const live = lives.live(runId);
    if (live === null) throw new RuntimeError('run_not_active', `run ${runId} has ended`);
    return live;
  };

  /** Resolves when nothing of the run is being executed, or after the time. */
  const callsEnded = async (runId: string, withinMs: number): Promise<void> => {
    for (let waited = 0; waited < withinMs && deps.calls.startedOf(runId) > 0; waited += lookMs) {
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  };

  /** Resolves when it has been recorded that the run rests, or how it has ended. */
  const restWithin = async (
    live: LiveRun,
    finished: Promise<unknown>,
    reason: Extract<StopReason, { kind: 'rest' }>['reason'],
    withinMs: number,
  ): Promise<void> => {
    live.resting = true;
    await Promise.race([finished, callsEnded(live.gate.ref.run_id, withinMs)]);
    stopRun(live, { kind: 'rest', reason });
    await finished;
  };

  return {
    startRun: (input: StartRun): Promise<RunStarted> => start('run', input),

    /** Starts a run of the program's own: for a plan, its planner, a step, the summary of one or the explorer; a download. */
    startPlanned: start,

    /** Starts a run of a session. @param chain in the place of the one that its use finds */
    startTurn: (input: StartRun, turn: TurnStart, chain: RunnableChain | null = null): Promise<RunStarted> =>
      start(turn.kind, input, chain === null ? { turn } : { turn, chain }),

    /**
     * Goes on with a run that rests, whatever process it began in (03 §11).
     * @throws RuntimeError not_found, run_not_resumable, not_resumable_here, resume_chain_changed
     */
    async resumeRun(input: ResumeInput, by: string): Promise<RunStarted> {
      return follow(await resumeRun(deps, input, by), slots);
    },

    /**
     * Starts the chain that answers in the operator's place, for an ask of a run of this process (03 §7): a run of its
     * own in the same mission, without tools, under the same policy. @throws as a run that cannot start
     */
    async startAgent(
      runId: string,
      wanted: { readonly text: string; readonly turns: number; readonly tokens: number },
    ): Promise<AgentRun> {
      const parent = going(runId);
      const { chain, run_id } = await start('attention', agentRequest(parent.request, wanted), {
        parent: parent.gate.ref,
      });
      return {
        chain_id: chain.id,
        async finished() {
          const { result } = await lives.finished(run_id);
          const completed = result.status === 'completed';
          return {
            text: completed ? result.text : null,
            turns: result.num_turns,
            tokens: result.usage.total_tokens,
          };
        },
        stop: () => stopRun(lives.live(run_id), { kind: 'cancel', by: 'system:cancelled', reason: 'the ask is over' }),
      };
    },

    /**
     * Waits until the run ended or rests; the results of the last 64 are there afterwards, too. With `full` a history
     * output is given whole. @throws RuntimeError run_not_active
     */
    async awaitRun(input: { readonly run_id: string; readonly full?: boolean | undefined }): Promise<RunResult> {
      const finished = await lives.finished(input.run_id);
      return input.full === true ? { ...finished.result, output: finished.output() } : finished.result;
    },

    /** Whether the run is one of this process, or was until now. */
    isHere: lives.has,

    /** The place of a run among those of this process that wait for their turn, from 1; null when it does not wait here. */
    placeOf: (runId: string): number | null => slots?.placeOf(runId) ?? null,

    /** A run of this process that starts another one. @throws RuntimeError run_not_active */
    parentRun: (runId: string): ParentRun => parentRun(deps, going(runId)),

    /** Whether this process drives it now. */
    isGoing: lives.isGoing,

    async cancelRun(input: { readonly run_id: string; readonly reason: string }, by: string): Promise<null> {
      stopRun(lives.live(input.run_id), { kind: 'cancel', by, reason: input.reason });
      return null;
    },

    async stopRun(input: {
      readonly run_id: string;
      readonly reason: string;
      readonly within_ms?: number | undefined;
    }): Promise<null> {
      const { run_id, reason, within_ms } = input;
      if (reason !== 'interrupted' && reason !== 'ask' && reason !== 'shutdown') {
        throw new RuntimeError('invalid_parameter', `"${reason}" is no reason to stop: interrupted, ask, shutdown`);
      }
      const live = lives.live(run_id);
      if (live !== null && within_ms !== undefined) await restWithin(live, lives.finished(run_id), reason, within_ms);
      else stopRun(live, { kind: 'rest', reason });
      return null;
    },

    watch: (input: { run_id: string; after: number; signal: AbortSignal }): AsyncIterable<readonly RunEvent[]> =>
      watchRun(
        deps.feed,
        input,
        () => (lives.isGoing(input.run_id) ? null : deps.sessions.partial(input.run_id)),
        deps.now,
      ),

    /**
     * Suspends every run that is still going. A call that is being executed may end within the time; behind it the call is
     * stopped, and its outcome is unknown. Resolves when all have been recorded.
     */
    async rest(withinMs: number): Promise<void> {
      await Promise.allSettled(
        lives.all().map(({ live, finished }) => restWithin(live, finished, 'shutdown', withinMs)),
      );
    },

    /** Rests every run that is still going; resolves when they have been recorded. */
    async close(): Promise<void> {
      const going = lives.all();
      for (const { live } of going) stopRun(live, { kind: 'rest', reason: 'interrupted' });
      await Promise.allSettled(going.map(({ finished }) => finished));
      lateEnds.close();
    },
  };
}

export type RunService = ReturnType<typeof createRuns>;

/** The request of an answering run: that of the asking one, but for what it is given and what it may use. */
const agentRequest = (
  request: StartRun,
  wanted: { readonly text: string; readonly turns: number; readonly tokens: number },
): StartRun => ({
  ...request,
  input: { type: 'string', value: wanted.text },
  chain_path: null,
  // What it asks itself goes to people only.
  on_ask: 'wait',
  timeout_ms: 0,
  max_turns: wanted.turns,
  max_tokens: wanted.tokens,
  max_tool_calls: 0,
  variables: {},
  images: [],
});
