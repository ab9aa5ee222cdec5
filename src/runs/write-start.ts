import { type Image, type Message, noUsage } from '../schema/message.ts';
import type { Documents } from '../store/documents.ts';
import type { EventRef } from '../store/events.ts';
import type { Feed, Record } from '../store/feed.ts';
import type { Runs } from '../store/runs.ts';
import { ulid } from '../text/ids.ts';
import { imageMessage, storeImages, withImageData } from './images.ts';
import type { Written } from './launch.ts';
import type { Tool } from '../tools/tool.ts';
import type { RunnableChain } from '../workspace/chains.ts';
import { storeInstructions } from './instructions.ts';
import type { SessionTurn } from './live-run.ts';
import type { PrepareDeps } from './ports.ts';
import { refOf } from './parts.ts';
import type { PreparedRun, RunIds, RunPlan } from './prepared-run.ts';
import { leaseMs } from './lease.ts';

export type WriteStartDeps = {
  readonly prepare: PrepareDeps;
  readonly feed: Feed;
  readonly runs: Runs;
  readonly documents: Documents;
  readonly mask: <T>(value: T) => T;
  readonly now: () => number;
};

/** What a session adds to a run; every function runs inside the transaction that starts the run. */
export type TurnStart = {
  readonly kind: 'chat' | 'compact';
  /** The session that is busy with the run until it has ended; null = none is. */
  readonly session: { readonly id: string; readonly name: string } | null;
  /** What the run's row tells of its input; the messages themselves are the session's. */
  readonly input: { readonly type: 'chat_history' };
  /** As `--trim`, so that a run that is resumed starts from the same messages. */
  readonly trim: number;
  /** Stores the user's message of a turn; fails when the session has another open run. */
  begin(runId: string, record: Record, ref: EventRef, images: readonly Image[]): SessionTurn;
  /** Read after `begin` was committed: the history that the run starts from, the new message included. */
  history(): string;
};

/** What a run has beside its request. */
export type StartWith = {
  readonly turn?: TurnStart;
  /** Who started it, of the same mission. */
  readonly parent?: { readonly run_id: string; readonly mission_id: string };
  readonly plan?: RunPlan;
  /** Claims what the run is for, in the transaction that starts it; throws when somebody else has it. */
  claim?(runId: string): void;
  /** JSON text of the messages that it starts from, in place of its input. */
  readonly history?: string;
  /** In place of the chain that the kind of the run finds. */
  readonly chain?: RunnableChain;
  /** In place of the tools that are registered; they are never offered to a model. */
  readonly tools?: readonly Tool[];
};

/**
 * The rows of a run that begins: run, lease, snapshots, first event, the user's message of a turn and the claim of what it is
 * for, in one transaction.
 */
export function writeStart(deps: WriteStartDeps, prepared: PreparedRun, ids: RunIds, start: StartWith): Written {
  const at = deps.now();
  const { chain, defaults, input, loaded } = prepared;
  const { runId, plan } = ids;
  const turn = start.turn ?? null;
  const isHistory = turn !== null || start.history !== undefined;
  const masked = deps.mask(input.input);
  // What a model is given of it is what a message holds; to a tool it is exact.
  const given = chain.begins_with_model ? masked : input.input;
  const { workspace, surface, owner, tenant } = deps.prepare;
  const ref = refOf(deps.prepare, prepared, ids);
  const { session, first } = deps.feed.commit(
    'full',
    (record): { session: SessionTurn | null; first: Message | null } => {
      deps.documents.putChainSnapshot({ ...chain, text: chain.source }, at);
      if (loaded.identity.sha256 !== null) {
        const { sha256, name, source } = loaded.identity;
        deps.documents.putPolicySnapshot({ sha256, name, source, text: loaded.text }, at);
      }
      deps.prepare.noteInstructions();
      const instructions = storeInstructions(deps, prepared.instructions, at);
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
          session_id: ref.session_id,
          plan_id: plan?.id ?? null,
          plan_step_id: plan?.stepId ?? null,
          parent_run_id: start.parent?.run_id ?? null,
          mission_id: ids.missionId,
          surface,
          model: defaults.model,
          provider: defaults.provider,
          options: {
            ...input,
            input: undefined,
            chain_text: undefined,
            variables: deps.mask(input.variables),
            trim: turn?.trim ?? 0,
            ...(instructions.length === 0 ? {} : { instructions }),
          },
          input: turn !== null ? turn.input : isHistory ? { type: 'chat_history' } : masked,
          created_at: at,
        },
        noUsage,
      );
      start.claim?.(runId);
      deps.runs.openState(runId, owner, at + leaseMs, at);
      record(ref, {
        kind: 'chain_started',
        chain_sha256: chain.sha256,
        input_type: isHistory ? 'chat_history' : input.input.type,
        policy: { name: loaded.identity.name, sha256: loaded.identity.sha256 },
        model: prepared.first?.model ?? defaults.model,
        provider: prepared.first?.type ?? defaults.provider,
        surface,
        run_kind: prepared.kind,
        cwd: workspace.cwd,
        tools: prepared.specs.map((spec) => `${spec.tools}.${spec.tool}`),
        ...(start.parent === undefined ? {} : { parent_run_id: start.parent.run_id }),
        ...(instructions.length === 0 ? {} : { instructions }),
      });
      const notices = [prepared, ...prepared.sources.opened].flatMap((from) => from.notices);
      for (const notice of notices) record(ref, notice);
      const images = storeImages(deps.documents, prepared.images, at);
      if (turn !== null) return { session: turn.begin(runId, record, ref, images), first: null };
      if (images.length === 0) return { session: null, first: null };
      const message = imageMessage(ulid(at), String(given.value), images, at);
      deps.runs.appendMessage(runId, 1, JSON.stringify(deps.mask(message)));
      record(ref, { kind: 'message', number: 1, message, task_id: '', task_handler: '', attempt: 0 });
      return { session: null, first: message };
    },
  );
  const history = turn?.history() ?? start.history ?? (first === null ? null : JSON.stringify([first]));
  const base =
    history === null
      ? { messages: '[]', input: { type: given.type, value: given.value } }
      : { messages: withImageData(history, deps.documents), input: { type: 'chat_history' } };
  return { turn: session, base, before: null };
}
