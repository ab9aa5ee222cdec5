import { createHash } from 'node:crypto';
import { assert, create, StructError } from 'superstruct';
import type { Asks } from '../asks/asks.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { InstructionsView } from '../schema/instructions.ts';
import { type Message, runsAgain } from '../schema/message.ts';
import { CheckpointState, type RunJob } from '../schema/protocol.ts';
import { type OnAsk, StartRun } from '../schema/run.ts';
import type { Audit } from '../store/audit.ts';
import type { Calls } from '../store/calls.ts';
import type { Documents } from '../store/documents.ts';
import type { Events } from '../store/events.ts';
import type { Feed, Record } from '../store/feed.ts';
import type { Plans } from '../store/plans.ts';
import type { Runs, StoredRun } from '../store/runs.ts';
import type { RunnableChain } from '../workspace/chains.ts';
import { withImageData } from './images.ts';
import { storedInstructions } from './instructions.ts';
import { type FailedAttemptDeps, noteFailedAttempt } from './failed-attempts.ts';
import { launch, type Written } from './launch.ts';
import type { LiveRun, SessionTurn } from './live-run.ts';
import type { LostRuns } from './lost-runs.ts';
import type { PrepareDeps } from './ports.ts';
import { refOf } from './parts.ts';
import { prepareRun } from './prepare.ts';
import type { PreparedRun, RunIds, RunPlan } from './prepared-run.ts';
import { alreadyRunning, checkResumable } from './resumable.ts';
import { leaseMs } from './lease.ts';

/** The session's side of a run that goes on. */
export type ResumedTurn = {
  /** As in `TurnStart`. */
  readonly session: { readonly id: string; readonly name: string } | null;
  readonly turn: SessionTurn;
  /** The history that the run started from. */
  history(trim: number): string;
  /** Removes messages that the run had added, by their ids, and the note of its interruption; in the caller's transaction. */
  takeBack(messageIds: readonly string[]): void;
};

export type ResumeDeps = FailedAttemptDeps & {
  readonly prepare: PrepareDeps;
  readonly feed: Feed;
  readonly lostRuns: LostRuns;
  readonly events: Events;
  readonly audit: Audit;
  readonly runs: Runs;
  readonly calls: Calls;
  readonly asks: Asks;
  readonly documents: Documents;
  readonly now: () => number;
  /** Chain text as it was stored; what it warned of was said when the run began. @throws RuntimeError chain_invalid */
  readonly storedChain: (
    stored: Pick<StoredRun, 'chain_id' | 'chain_path' | 'chain_sha256'>,
    text: string,
  ) => Promise<RunnableChain>;
  readonly plans: Pick<Plans, 'byId' | 'step' | 'goesOn'>;
  /** Null for a run that belongs to no session, and where the session, or what the run stands on, is gone. */
  readonly sessionTurn: (run: StoredRun) => ResumedTurn | null;
};

export type ResumeInput = {
  readonly run_id: string;
  /** Only its open calls are settled, then it ends: a new turn takes its place (07 §2.7). */
  readonly settle?: boolean | undefined;
  readonly accept_changed_chain: boolean;
  readonly on_ask: OnAsk;
  readonly timeout_ms: number;
};

/**
 * Takes a resting run (03 §11): everything that can be refused is refused before its lease is taken; then one
 * transaction makes it this process's, and calls that were found started become calls of unknown outcome. What fails on
 * the way is noted in the run.
 * @returns the run, ready for its thread
 * @throws RuntimeError not_found, run_not_resumable, not_resumable_here, resume_chain_changed, and as `prepareRun`
 */
export async function resumeRun(deps: ResumeDeps, input: ResumeInput, by: string): Promise<LiveRun> {
  try {
    return await takeUp(deps, input, by);
  } catch (error) {
    throw noteFailedAttempt(deps, input.run_id, error);
  }
}

async function takeUp(deps: ResumeDeps, input: ResumeInput, by: string): Promise<LiveRun> {
  const { runs } = deps;
  await deps.lostRuns.reread(input.run_id);
  const run = runs.stored(input.run_id);
  if (run === undefined) throw new RuntimeError('not_found', `There is no run ${input.run_id}.`);
  checkResumable({ workspace: deps.prepare.workspace.root, now: deps.now }, run, {
    // What only settles calls executes no task of its chain.
    acceptChangedChain: input.accept_changed_chain || input.settle === true,
  });
  const text = deps.documents.chainText(run.chain_sha256);
  if (text === null) throw damaged(run, 'its chain is not in the database');
  const state = checkpointOf(run);
  const chain = await deps.storedChain(run, text);
  const turn = deps.sessionTurn(run);
  if (turn === null && (run.session_id !== null || run.kind === 'compact')) throw damaged(run, 'its session is gone');
  // Written by `writeStart`.
  const { trim, instructions, ...options } = run.options as {
    readonly trim?: number;
    readonly instructions?: readonly InstructionsView[];
  };
  const request = requestOf(run, options, turn !== null);
  const prepared = await prepareRun(
    deps.prepare,
    run.kind,
    {
      ...request,
      model: run.model,
      provider: run.provider,
      images: [],
      on_ask: input.on_ask,
      timeout_ms: input.timeout_ms,
    },
    {
      stored: chain,
      instructions: storedInstructions(deps.documents, instructions ?? []),
      began: request.on_ask,
    },
  );
  const plan = planOf(deps, run);
  const ids: RunIds = { runId: run.id, session: turn?.session ?? null, plan, missionId: run.mission_id };
  const withImages = request.images.length > 0;
  const settles = input.settle === true;
  try {
    return take(deps, run, { by, prepared, ids, state, turn, trim: trim ?? 0, withImages, settles });
  } catch (error) {
    prepared.sources.close();
    throw error;
  }
}

/** Null for a run of no plan, and of one that is gone. */
function planOf({ plans }: ResumeDeps, run: StoredRun): RunPlan | null {
  const plan = run.plan_id === null ? undefined : plans.byId(run.plan_id);
  if (plan === undefined) return null;
  const step = run.plan_step_id === null ? undefined : plans.step(run.plan_step_id);
  return { id: plan.id, name: plan.name, stepId: run.plan_step_id, ordinal: step?.ordinal ?? null };
}

/** What a run goes on with: its transcript, where in its chain, and who wanted it. */
type Point = {
  readonly by: string;
  readonly prepared: PreparedRun;
  readonly ids: RunIds;
  readonly state: CheckpointState | null;
  readonly turn: ResumedTurn | null;
  readonly trim: number;
  readonly withImages: boolean;
  readonly settles: boolean;
};

/**
 * One transaction: the lease, what is made of open calls, and what was written behind the last checkpoint is taken back.
 * All that its thread starts from is read in it: what cannot be read leaves the lease where it was.
 */
function take(deps: ResumeDeps, run: StoredRun, point: Point): LiveRun {
  const { runs, calls } = deps;
  const { owner, tenant } = deps.prepare;
  const at = deps.now();
  const { by, prepared, state, turn } = point;
  const rows = runs.messages(run.id);
  const first = point.withImages && turn === null ? rows.slice(0, 1) : [];
  const history = turn?.history(point.trim) ?? `[${first.map(({ payload }) => payload).join(',')}]`;
  const next = state?.next_message ?? (JSON.parse(history) as unknown[]).length + 1;
  const own = rows.slice(first.length).filter(({ seq }) => seq < next);
  const ref = refOf(deps.prepare, prepared, point.ids);
  const readers = prepared.specs.filter(runsAgain);
  const fromSeq = deps.events.lastSeq(run.id);
  let live: LiveRun | undefined;
  const begin = (record: Record): LiveRun => {
    if (!runs.takeLease(run.id, { from: run.lease_owner, to: owner, until: at + leaseMs }, at)) {
      // Another process was quicker, and may have brought it to its end by now.
      checkResumable({ workspace: run.workspace, now: deps.now }, runs.stored(run.id) ?? run, {
        acceptChangedChain: true,
      });
      throw alreadyRunning(run.id, null);
    }
    if (run.plan_step_id !== null) deps.plans.goesOn(run.id);
    const behind = runs.dropMessages(run.id, next);
    turn?.takeBack(behind.map((payload) => (JSON.parse(payload) as Message).id));
    const unknown = calls.reopen(run.id, readers);
    const entry = (type: 'resume' | 'outcome_unknown', body: unknown): void =>
      deps.audit.append({ type, tenant_id: tenant, run_id: run.id, session_id: run.session_id, body }, at);
    entry('resume', { by });
    for (const call_id of unknown) entry('outcome_unknown', { call_id });
    record(ref, { kind: 'chain_resumed', by, from_seq: fromSeq });
    for (const { notices } of prepared.sources.opened) for (const notice of notices) record(ref, notice);
    const written: Written = {
      turn: turn?.turn ?? null,
      base: baseOf(deps, run, turn !== null || first.length > 0, history),
      before: {
        resume: state === null ? null : { state, messages: `[${own.map(({ payload }) => payload).join(',')}]` },
        known: calls.known(run.id),
        // Counted anew: a call that was reserved and never started has spent nothing (03 §15).
        counters: { ...run.counters, tool_calls: calls.executed(run.id) },
        usage: run.usage,
        fromSeq,
        askIds: deps.asks.pendingOfRun(run.id),
        settles: point.settles,
      },
    };
    live = launch(deps, prepared, point.ids, written);
    return live;
  };
  try {
    return deps.feed.commit('full', begin);
  } catch (error) {
    // A transaction that was not kept: nothing of the run is going.
    live?.clock.stop();
    throw error;
  }
}

function baseOf(deps: ResumeDeps, run: StoredRun, isHistory: boolean, history: string): Written['base'] {
  if (isHistory) return { messages: withImageData(history, deps.documents), input: { type: 'chat_history' } };
  const { type, value } = run.input as RunJob['input'];
  return { messages: '[]', input: { type, value } };
}

/** @throws RuntimeError storage when what is stored is not what was written */
function checkpointOf(run: StoredRun): CheckpointState | null {
  if (run.payload === null || run.payload === 'null') return null;
  if (createHash('sha256').update(run.payload).digest('hex') !== run.payload_sha256) {
    throw damaged(run, 'its checkpoint has another digest than it was written with');
  }
  const state: unknown = JSON.parse(run.payload);
  try {
    assert(state, CheckpointState);
    return state;
  } catch (error) {
    throw damaged(
      run,
      `its checkpoint does not parse (${error instanceof StructError ? error.message : String(error)})`,
    );
  }
}

/** The request that began the run. What it is given is in its session, if it is `ofSession`. */
function requestOf(run: StoredRun, options: object, ofSession: boolean): StartRun {
  const input: unknown = ofSession ? { type: 'string', value: '' } : run.input;
  try {
    return create({ ...options, input }, StartRun);
  } catch (error) {
    throw damaged(run, `its request does not parse (${error instanceof StructError ? error.message : String(error)})`);
  }
}

const damaged = (run: StoredRun, what: string): RuntimeError =>
  new RuntimeError('storage', `what is stored of ${run.id} cannot be used: ${what}`, {
    hints: [`reins state cancel ${run.id}`],
  });
