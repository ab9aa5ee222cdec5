import type { AgentRun } from '../asks/adjudicate.ts';
import type { Asks } from '../asks/asks.ts';
import type { GateRun } from '../gate/run.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { RunEvent } from '../schema/event.ts';
import { type Image, type Message, noUsage } from '../schema/message.ts';
import type { RunJob } from '../schema/protocol.ts';
import type { RunKind, RunResult, RunStarted, StartRun } from '../schema/run.ts';
import type { Documents } from '../store/documents.ts';
import type { EventRef } from '../store/events.ts';
import type { Record } from '../store/feed.ts';
import { newId, ulid } from '../text/ids.ts';
import { createActiveClock } from './clock.ts';
import { type FinishDeps, finishRun } from './finish.ts';
import { imageMessage, storeImages, withImageData } from './images.ts';
import type { LiveRun, SessionTurn, StopReason } from './live-run.ts';
import { createLiveRuns } from './live-runs.ts';
import type { PrepareDeps } from './ports.ts';
import { gateRun, jobOf, type PreparedRun, prepareRun } from './prepare.ts';
import { createSupervisor, leaseMs, type SupervisorDeps } from './supervisor.ts';
import { watchRun } from './watch.ts';

export type RunsDeps = SupervisorDeps &
  FinishDeps & {
    readonly prepare: PrepareDeps;
    readonly asks: Asks;
    readonly documents: Documents;
  };

/** What a chat turn adds to a run; every function runs inside the transaction that starts the run. */
export type TurnStart = {
  readonly session: { readonly id: string; readonly name: string };
  /** Stores the user's message; fails when the session has another open run. */
  begin(runId: string, record: Record, ref: EventRef, images: readonly Image[]): SessionTurn;
  /** Read after `begin` was committed: the history that the run starts from, the new message included. */
  history(): string;
};

/** Runs of this process: prepare, write, start, watch, stop. */
export function createRuns(deps: RunsDeps) {
  const supervisor = createSupervisor(deps);
  const lives = createLiveRuns();

  /** Does nothing for a run that has ended, or stops already. */
  const stop = (live: LiveRun | null, reason: StopReason): void => {
    if (live === null || live.stopped !== null) return;
    live.stopped = reason;
    live.abort.abort(new RuntimeError(reason.kind === 'rest' ? 'interrupted' : 'cancelled', reason.kind));
  };

  const begin = (
    prepared: PreparedRun,
    turn: TurnStart | null,
    parent: LiveRun | null,
  ): { live: LiveRun; runId: string } => {
    const at = deps.now();
    const runId = newId('run', at);
    const abort = new AbortController();
    let live: LiveRun | undefined;
    const clock = createActiveClock(prepared.timeoutMs, deps.now, () => {
      if (live !== undefined) stop(live, { kind: 'timeout' });
    });
    const ids = {
      runId,
      sessionId: turn?.session.id ?? null,
      missionId: parent?.gate.ref.mission_id ?? runId,
    };
    const gate = gateRun(deps.prepare, prepared, ids, clock, abort.signal, {
      records: () => live?.stopped?.kind !== 'rest',
      waiting: (on) => deps.feed.commit('normal', () => deps.runs.setWaiting(runId, deps.prepare.owner, on)),
    });
    const { session, first } = writeStart(deps, prepared, turn, parent, gate.ref, at);
    const history = turn?.history() ?? (first === null ? null : JSON.stringify([first]));
    const base =
      history === null
        ? { messages: '[]', input: { type: prepared.input.input.type, value: prepared.input.input.value } }
        : { messages: withImageData(history, deps.documents), input: { type: 'chat_history' } };
    const { chain, defaults } = prepared;
    const started: RunStarted = {
      run_id: runId,
      session_id: turn?.session.id ?? null,
      session_name: turn?.session.name ?? null,
      chain: { id: chain.id, path: chain.path, sha256: chain.sha256 },
      model: defaults.model,
      provider: defaults.provider,
      backend: prepared.backend,
      policy: prepared.loaded.identity,
      cwd: deps.prepare.workspace.cwd,
      tools: prepared.specs.map((spec) => `${spec.tools}.${spec.tool}`),
      warnings: prepared.warnings,
    };
    const job: RunJob = jobOf(prepared, runId, turn?.session ?? null, base);
    live = {
      started,
      request: prepared.input,
      job,
      gate,
      clock,
      startedAt: at,
      defaults: { ...defaults, contextHint: prepared.input.context },
      chosen: { model: null, provider: null, backend: null },
      stopped: null,
      abort,
      turn: session,
      warnings: [...prepared.warnings],
    };
    return { live, runId };
  };

  const start = async (
    kind: RunKind,
    input: StartRun,
    turn: TurnStart | null,
    parent: LiveRun | null = null,
  ): Promise<RunStarted> => {
    const prepared = await prepareRun(deps.prepare, kind, input);
    const { live, runId } = begin(prepared, turn, parent);
    const finished = supervisor.supervise(live).then((end) => {
      live.clock.stop();
      return finishRun(deps, live, end);
    });
    lives.add(runId, live, finished);
    return live.started;
  };

  return {
    startRun: (input: StartRun): Promise<RunStarted> => start('run', input, null),

    /** Starts the run of a chat turn. */
    startTurn: (input: StartRun, turn: TurnStart): Promise<RunStarted> => start('chat', input, turn),

    /**
     * Starts the chain that answers in the operator's place, for an ask of a run of this process (03 §7): a run of its
     * own in the same mission, without tools, under the same policy. @throws as a run that cannot start
     */
    async startAgent(
      runId: string,
      wanted: { readonly text: string; readonly turns: number; readonly tokens: number },
    ): Promise<AgentRun> {
      const parent = lives.live(runId);
      if (parent === null) throw new RuntimeError('run_not_active', `run ${runId} has ended`);
      const { chain, run_id } = await start('attention', agentRequest(parent.request, wanted), null, parent);
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
        stop: () => stop(lives.live(run_id), { kind: 'cancel', by: 'system:cancelled', reason: 'the ask is over' }),
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

    async cancelRun(input: { readonly run_id: string; readonly reason: string }, by: string): Promise<null> {
      stop(lives.live(input.run_id), { kind: 'cancel', by, reason: input.reason });
      return null;
    },

    async stopRun(input: { readonly run_id: string; readonly reason: string }): Promise<null> {
      const { reason } = input;
      if (reason !== 'interrupted' && reason !== 'ask' && reason !== 'shutdown') {
        throw new RuntimeError('invalid_parameter', `"${reason}" is no reason to stop: interrupted, ask, shutdown`);
      }
      stop(lives.live(input.run_id), { kind: 'rest', reason });
      return null;
    },

    watch: (input: { run_id: string; after: number; signal: AbortSignal }): AsyncIterable<readonly RunEvent[]> =>
      watchRun(deps.feed, input),

    /** Rests every run that is still going; resolves when they have been recorded. */
    async close(): Promise<void> {
      const going = lives.all();
      for (const { live } of going) stop(live, { kind: 'rest', reason: 'interrupted' });
      await Promise.allSettled(going.map(({ finished }) => finished));
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

/** The rows of a run that begins: run, lease, snapshots, first event, and the user's message of a turn, in one transaction. */
function writeStart(
  deps: RunsDeps,
  prepared: PreparedRun,
  turn: TurnStart | null,
  parent: LiveRun | null,
  ref: GateRun['ref'],
  at: number,
): { readonly session: SessionTurn | null; readonly first: Message | null } {
  const { chain, defaults, input } = prepared;
  const { loaded } = prepared;
  const { workspace, surface, owner, tenant } = deps.prepare;
  const runId = ref.run_id;
  return deps.feed.commit('full', (record) => {
    deps.documents.putChainSnapshot(chain.sha256, chain.id, chain.path, chain.source, at);
    if (loaded.identity.sha256 !== null) {
      const { sha256, name, source } = loaded.identity;
      deps.documents.putPolicySnapshot(sha256, name, source, loaded.text, at);
    }
    deps.runs.insert(
      {
        id: runId,
        tenant_id: tenant,
        kind: prepared.kind,
        status: 'running',
        workspace: workspace.root,
        cwd: workspace.cwd,
        chain_id: chain.id,
        chain_sha256: chain.sha256,
        chain_path: chain.path,
        policy: loaded.identity,
        session_id: turn?.session.id ?? null,
        parent_run_id: parent?.gate.ref.run_id ?? null,
        mission_id: ref.mission_id,
        surface,
        model: defaults.model,
        provider: defaults.provider,
        options: { ...input, input: undefined, variables: deps.mask(input.variables) },
        input: turn === null ? deps.mask(input.input) : { type: 'chat_history' },
        created_at: at,
      },
      noUsage,
    );
    deps.runs.openState(runId, owner, at + leaseMs, at);
    record(ref, {
      kind: 'chain_started',
      chain_sha256: chain.sha256,
      input_type: turn === null ? input.input.type : 'chat_history',
      policy: { name: loaded.identity.name, sha256: loaded.identity.sha256 },
      model: defaults.model,
      provider: defaults.provider,
      surface,
      run_kind: prepared.kind,
      cwd: workspace.cwd,
      tools: prepared.specs.map((spec) => `${spec.tools}.${spec.tool}`),
    });
    const images = storeImages(deps.documents, prepared.images, at);
    if (turn !== null) return { session: turn.begin(runId, record, ref, images), first: null };
    if (images.length === 0) return { session: null, first: null };
    const first = imageMessage(ulid(at), String(input.input.value), images, at);
    deps.runs.appendMessage(runId, 1, JSON.stringify(deps.mask(first)));
    record(ref, { kind: 'message', number: 1, message: first, task_id: '', task_handler: '', attempt: 0 });
    return { session: null, first };
  });
}
