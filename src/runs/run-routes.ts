import type { CapturedStep, RunEvent } from '../schema/event.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { RunChanges } from '../schema/file-change.ts';
import { type InputType, isOver, type RunStarted, type SendMessage, type StartRun } from '../schema/run.ts';
import type { RunCall, RunRecord, RunSummary, StepRecord } from '../schema/run-record.ts';
import type { Events } from '../store/events.ts';
import { type Page, type PageWanted, pageSize, thatFit } from '../schema/page.ts';
import type { Recorded } from './recorded.ts';

/** What a request over HTTP may say about a run beside its input (09 §6.3, §6.4). */
export type RunOptions = {
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly policy?: string | undefined;
  readonly shell?: boolean | undefined;
  readonly allowed_dir?: string | undefined;
  readonly timeout_s?: number | undefined;
  readonly chain?: string | undefined;
  readonly chain_document?: string | undefined;
  readonly vars?: Readonly<Record<string, string>> | undefined;
  readonly think?: string | undefined;
};

export type RunRouteDeps = {
  readonly recorded: Recorded;
  readonly events: Pick<Events, 'ofRun' | 'lastSeq'>;
  /** The request that a run is started with. @throws RuntimeError shell_disabled, invalid_parameter */
  readonly request: (options: RunOptions) => Omit<StartRun, 'input'>;
  readonly startRun: (input: StartRun) => Promise<RunStarted>;
  readonly sendMessage: (input: SendMessage) => Promise<RunStarted & { readonly message_id: string }>;
  /** Makes the session `default` where nobody has: a first message needs no other step. */
  readonly ensureSession: (name: string) => Promise<void>;
  readonly cancelRun: (input: { readonly run_id: string; readonly reason: string }) => Promise<null>;
  readonly resumeRun: (runId: string, acceptChangedChain: boolean) => Promise<unknown>;
  readonly undo: {
    showChanges(input: { readonly run_id: string }): Promise<RunChanges>;
    undoChanges(input: { readonly run_id: string }): Promise<RunChanges>;
  };
  /** The ask that a run waits for; null when it waits for none. */
  readonly openAsk: (runId: string) => string | null;
};

type Id = { readonly id: string };
type Accepted = { readonly run_id: string; readonly events: string };

const eventsOf = (runId: string): string => `/api/runs/${runId}/events`;
const defaultEvents = 1000;

/** The operations of `client/routes/runs.ts`, and the message that starts a turn. */
export function createRunRoutes(deps: RunRouteDeps) {
  const { recorded } = deps;
  return {
    /** @throws RuntimeError as starting a run does */
    async postRun(wanted: RunOptions & { readonly input: unknown; readonly input_type: InputType }): Promise<Accepted> {
      const { input, input_type: type, ...options } = wanted;
      if (options.chain !== undefined && options.chain_document !== undefined) {
        throw new RuntimeError('invalid_parameter', 'Give chain or chain_document, not both.', {
          data: { param: 'chain_document' },
        });
      }
      const { run_id } = await deps.startRun({
        ...deps.request(options),
        input: { type, value: inputValue(type, input) },
      });
      return { run_id, events: eventsOf(run_id) };
    },

    /** @throws RuntimeError not_found, session_busy, run_suspended, and as starting a run does */
    async postMessage({
      session,
      text,
      trim,
      ...options
    }: RunOptions & { readonly session: string; readonly text: string; readonly trim?: number | undefined }) {
      await deps.ensureSession(session);
      const { run_id, message_id } = await deps.sendMessage({
        ...deps.request(options),
        input: { type: 'string', value: text },
        session,
        trim: trim ?? 0,
        abandon: false,
        wait_ms: 0,
      });
      return { run_id, message_id, events: eventsOf(run_id) };
    },

    async pageRuns(
      wanted: PageWanted & {
        readonly status?: string | undefined;
        readonly session?: string | undefined;
        readonly plan?: string | undefined;
      },
    ): Promise<Page<RunSummary>> {
      const { status, session, plan } = wanted;
      return recorded.page({ status: status ?? null, session: session ?? null, plan }, wanted);
    },

    getRun: async ({ id }: Id): Promise<RunRecord> => recorded.record(id),
    pageSteps: async ({ id, ...wanted }: Id & PageWanted): Promise<Page<StepRecord>> => recorded.steps(id, wanted),
    getStep: async ({ id, index }: Id & { readonly index: number }): Promise<CapturedStep> => recorded.step(id, index),
    pageCalls: async ({ id, ...wanted }: Id & PageWanted): Promise<Page<RunCall>> => recorded.calls(id, wanted),
    getCall: async ({ id, seq, full }: Id & { readonly seq: number; readonly full?: boolean | undefined }) =>
      recorded.call(id, seq, full === true),

    getChanges: ({ id }: Id): Promise<RunChanges> => deps.undo.showChanges({ run_id: id }),
    /** @throws RuntimeError in_use for a run that has not ended */
    undoRun: ({ id }: Id): Promise<RunChanges> => deps.undo.undoChanges({ run_id: id }),

    /** @throws RuntimeError run_not_active when it has ended */
    async endRun({ id, reason }: Id & { readonly reason?: string | undefined }): Promise<RunRecord> {
      const run_id = recorded.find(id);
      const { status } = recorded.record(run_id);
      if (isOver(status)) {
        throw new RuntimeError('run_not_active', `run ${run_id} has already ended: ${status}`, {
          data: { param: 'ended' },
        });
      }
      await deps.cancelRun({ run_id, reason: reason ?? 'cancelled over HTTP' });
      return recorded.record(run_id);
    },

    /** @throws RuntimeError run_not_resumable, resume_chain_changed */
    async continueRun({
      id,
      accept_changed_chain: accept,
    }: Id & { readonly accept_changed_chain?: boolean | undefined }): Promise<RunRecord> {
      const run_id = recorded.find(id);
      const { status } = recorded.record(run_id);
      const ask = status === 'suspended' ? deps.openAsk(run_id) : null;
      if (ask !== null) {
        throw new RuntimeError('run_not_resumable', `${run_id} waits for an answer to ${ask}`, {
          data: { param: 'waiting_for_ask' },
        });
      }
      await deps.resumeRun(run_id, accept === true);
      return recorded.record(run_id);
    },

    async pageRunEvents({
      id,
      after,
      limit,
    }: Id & { readonly after?: number | undefined; readonly limit?: number | undefined }) {
      const runId = recorded.find(id);
      // Beyond the last counts as the last (09 §7.2): a reader that goes on from there would miss what comes.
      const from = Math.min(after ?? 0, deps.events.lastSeq(runId));
      const size = limit === undefined ? defaultEvents : pageSize({ limit });
      // Looked at first: what the run writes meanwhile belongs to a later page.
      const ended = recorded.record(runId).ended_at !== null;
      const found: readonly RunEvent[] = deps.events.ofRun(runId, from, size).map(({ event }) => event);
      const items = thatFit(found);
      const isLast = items.length === found.length && found.length < size;
      return { items, next_after: items.at(-1)?.seq ?? from, ended: ended && isLast };
    },
  };
}

/** The value of an input of a type. @throws RuntimeError invalid_parameter */
function inputValue(type: InputType, value: unknown): unknown {
  const fits: Readonly<Record<InputType, (given: unknown) => boolean>> = {
    string: (given) => typeof given === 'string',
    chat: (given) => typeof given === 'string',
    int: Number.isSafeInteger,
    float: Number.isFinite,
    bool: (given) => typeof given === 'boolean',
    json: (given) => given !== undefined,
  };
  if (fits[type](value)) return value;
  throw new RuntimeError('invalid_parameter', `The input is not of type ${type}.`, { data: { param: 'input' } });
}
