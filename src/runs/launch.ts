import { RuntimeError } from '../schema/errors.ts';
import type { KnownCalls } from '../gate/known.ts';
import { noUsage, type Usage } from '../schema/message.ts';
import type { RunJob } from '../schema/protocol.ts';
import type { RunStarted, StepPlace } from '../schema/run.ts';
import type { Feed } from '../store/feed.ts';
import { type Counters, noCounters, type Runs } from '../store/runs.ts';
import { createActiveClock } from './clock.ts';
import { viewsOf } from './instructions.ts';
import type { LiveRun, SessionTurn, StopReason } from './live-run.ts';
import type { PrepareDeps } from './ports.ts';
import { gateRun, jobOf } from './parts.ts';
import type { PreparedRun, RunIds, RunPlan } from './prepared-run.ts';

/** What has been written of a run that begins or goes on, and what its thread starts from. */
export type Written = {
  readonly turn: SessionTurn | null;
  readonly base: { readonly messages: string; readonly input: RunJob['input'] };
  /** Of a run that goes on. */
  readonly before: {
    readonly resume: RunJob['resume'];
    readonly known: KnownCalls;
    readonly counters: Counters;
    readonly usage: Usage;
    /** The last event before it went on. */
    readonly fromSeq: number;
    /** Questions that are open still. */
    readonly askIds: readonly string[];
    /** It is ended behind its open calls, because a new turn begins. */
    readonly settles: boolean;
  } | null;
};

export type LaunchDeps = {
  readonly prepare: PrepareDeps;
  readonly feed: Feed;
  readonly runs: Runs;
  readonly now: () => number;
};

/** A turn that a new one takes the place of (07 §2.7). */
const leftBehind: StopReason = { kind: 'cancel', by: 'system:cancelled', reason: 'a new turn began' };

/** Ends a run from outside; nothing for one that has ended, or stops already. */
export function stopRun(live: LiveRun | null, reason: StopReason): void {
  if (live === null || live.stopped !== null) return;
  live.stopped = reason;
  live.abort.abort(new RuntimeError(reason.kind === 'rest' ? 'interrupted' : 'cancelled', reason.kind));
}

const placeOf = (plan: RunPlan | null): StepPlace | null =>
  plan === null || plan.ordinal === null ? null : { name: plan.name, ordinal: plan.ordinal };

/** Whole milliseconds of a clock that nobody sets: time that a run may take neither jumps nor stands still (`--timeout`). */
const sinceStart = (): number => Math.round(performance.now());

/** A run of this process whose rows are written: its side of the gate, its clock, and the job for its thread. */
export function launch(deps: LaunchDeps, prepared: PreparedRun, ids: RunIds, written: Written): LiveRun {
  const { runId, session } = ids;
  const { before } = written;
  const { chain, defaults } = prepared;
  const abort = new AbortController();
  let live: LiveRun | undefined;
  const clock = createActiveClock(prepared.timeoutMs, sinceStart, () => stopRun(live ?? null, { kind: 'timeout' }));
  const gate = gateRun(deps.prepare, prepared, ids, {
    clock,
    signal: abort.signal,
    known: before?.known ?? null,
    settle: before?.settles === true ? () => stopRun(live ?? null, leftBehind) : null,
    counters: before?.counters ?? noCounters,
    records: () => live?.stopped?.kind !== 'rest',
    waiting: (on) => deps.feed.commit('normal', () => deps.runs.setWaiting(runId, deps.prepare.owner, on)),
  });
  prepared.sources.onChange(({ name, tools, notices }) => {
    gate.catalog.replace(name, tools);
    if (notices.length === 0) return;
    deps.feed.commit('normal', (record) => {
      for (const notice of notices) record(gate.ref, notice);
    });
  });
  const warned = prepared.notices.map(({ message }) => message);
  const started: RunStarted = {
    run_id: runId,
    session_id: session?.id ?? null,
    session_name: session?.name ?? null,
    plan: placeOf(ids.plan),
    chain: { id: chain.id, path: chain.path, sha256: chain.sha256 },
    model: prepared.first?.model ?? defaults.model,
    provider: prepared.first?.type ?? defaults.provider,
    backend: prepared.first?.backend ?? null,
    policy: prepared.loaded.identity,
    cwd: deps.prepare.workspace.cwd,
    tools: prepared.specs.map((spec) => `${spec.tools}.${spec.tool}`),
    ...serversOf(prepared),
    ...(prepared.instructions.length === 0 ? {} : { instructions: viewsOf(prepared.instructions) }),
    warnings: warned,
    ...(chain.debug ? { debug: true } : {}),
    ...(before === null ? {} : { resumed: { from_seq: before.fromSeq, ask_ids: before.askIds } }),
  };
  live = {
    kind: prepared.kind,
    started,
    plan: ids.plan,
    request: prepared.input,
    job: { ...jobOf(prepared, runId, session, written.base), resume: before?.resume ?? null },
    gate,
    clock,
    usedBefore: before?.usage ?? noUsage,
    defaults: { ...defaults, contextHint: prepared.input.context },
    retried: null,
    stopped: null,
    resting: false,
    abort,
    turn: written.turn,
    warnings: [...warned],
    sources: prepared.sources,
  };
  return live;
}

function serversOf({ sources }: PreparedRun): Pick<RunStarted, 'servers'> {
  const servers = sources.opened.flatMap(({ name, server }) => (server === undefined ? [] : [{ name, ...server }]));
  return servers.length === 0 ? {} : { servers };
}
