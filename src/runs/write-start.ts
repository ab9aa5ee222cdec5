import { type Image, type Message, noUsage } from '../schema/message.ts';
import type { Documents } from '../store/documents.ts';
import type { EventRef } from '../store/events.ts';
import type { Feed, Record } from '../store/feed.ts';
import type { Runs } from '../store/runs.ts';
import { ulid } from '../text/ids.ts';
import { imageMessage, storeImages, withImageData } from './images.ts';
import type { Written } from './launch.ts';
import type { SessionTurn } from './live-run.ts';
import type { PrepareDeps } from './ports.ts';
import type { PreparedRun, RunIds } from './prepare.ts';
import { leaseMs } from './supervisor.ts';

export type WriteStartDeps = {
  readonly prepare: PrepareDeps;
  readonly feed: Feed;
  readonly runs: Runs;
  readonly documents: Documents;
  readonly mask: <T>(value: T) => T;
  readonly now: () => number;
};

/** What a chat turn adds to a run; every function runs inside the transaction that starts the run. */
export type TurnStart = {
  readonly session: { readonly id: string; readonly name: string };
  /** As `--trim`, so that a run that is resumed starts from the same messages. */
  readonly trim: number;
  /** Stores the user's message; fails when the session has another open run. */
  begin(runId: string, record: Record, ref: EventRef, images: readonly Image[]): SessionTurn;
  /** Read after `begin` was committed: the history that the run starts from, the new message included. */
  history(): string;
};

/** The rows of a run that begins: run, lease, snapshots, first event, and the user's message of a turn, in one transaction. */
export function writeStart(
  deps: WriteStartDeps,
  prepared: PreparedRun,
  ids: RunIds,
  turn: TurnStart | null,
  parentRunId: string | null,
): Written {
  const at = deps.now();
  const { chain, defaults, input } = prepared;
  const { loaded } = prepared;
  const { runId } = ids;
  const { workspace, surface, owner, tenant } = deps.prepare;
  const ref = {
    run_id: runId,
    session_id: ids.session?.id ?? null,
    mission_id: ids.missionId,
    chain_id: chain.id,
    tenant_id: tenant,
  };
  const { session, first } = deps.feed.commit(
    'full',
    (record): { session: SessionTurn | null; first: Message | null } => {
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
          session_id: ref.session_id,
          parent_run_id: parentRunId,
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
          },
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
      const message = imageMessage(ulid(at), String(input.input.value), images, at);
      deps.runs.appendMessage(runId, 1, JSON.stringify(deps.mask(message)));
      record(ref, { kind: 'message', number: 1, message, task_id: '', task_handler: '', attempt: 0 });
      return { session: null, first: message };
    },
  );
  const history = turn?.history() ?? (first === null ? null : JSON.stringify([first]));
  const base =
    history === null
      ? { messages: '[]', input: { type: input.input.type, value: input.input.value } }
      : { messages: withImageData(history, deps.documents), input: { type: 'chat_history' } };
  return { at, turn: session, base, before: null };
}
