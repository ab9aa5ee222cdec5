import { stamp } from '../text/stamp.ts';
import { basename } from 'node:path';
import type { Asks } from '../asks/asks.ts';
import { type Bound, shareOf } from '../gate/bounds.ts';
import type { Ask } from '../schema/ask.ts';
import { RuntimeError, shownClass } from '../schema/errors.ts';
import type { CapturedStep } from '../schema/event.ts';
import type { HistoryRanges } from '../schema/protocol.ts';
import type { NumberedMessage, RunCall, RunDetails, RunRecord, RunSummary, StepRecord } from '../schema/run-record.ts';
import type { Calls } from '../store/calls.ts';
import type { Documents } from '../store/documents.ts';
import type { RecordedRun, RecordedRuns, RunFilter } from '../store/recorded-runs.ts';
import { driverOf } from '../store/owner.ts';
import { isDriven, type Runs } from '../store/runs.ts';
import { comesAfter, keyOfCursor, type Page, pageOf, pageSize, type PageWanted, slicePage } from '../schema/page.ts';
import { askLine, denial } from './finish.ts';
import { materialise, runMessages } from './output.ts';
import { runNamed } from './run-named.ts';

export type RecordedDeps = {
  readonly recorded: RecordedRuns;
  readonly runs: Pick<Runs, 'steps' | 'messages' | 'head'>;
  readonly calls: Pick<Calls, 'denials'>;
  readonly asks: Pick<Asks, 'ofRun'>;
  readonly documents: Pick<Documents, 'policyText'>;
  readonly now: () => number;
  /** Of a server: the place of a run that waits for its turn there. */
  readonly queuePlace?: (runId: string) => number | null;
};

/** Runs as they were recorded: what a person sees of a run that another process drives, rests, or has ended. */
export function createRecorded(deps: RecordedDeps) {
  const { recorded, runs, asks } = deps;

  /** The whole id. @throws RuntimeError not_found, ambiguous_id */
  const find = (part: string): string => runNamed(part, recorded.candidates(part));
  const get = (part: string): RecordedRun => {
    const id = find(part);
    const row = recorded.get(id);
    if (row === undefined) throw new RuntimeError('not_found', `no such run: ${id}`, { hints: ['reins state list'] });
    return row;
  };
  /** Counted from 1 by their places, as every surface counts them (06 §8.4). */
  const steps = (id: string): CapturedStep[] => runs.steps(id).map((step, place) => ({ ...step, index: place + 1 }));

  return {
    find,

    /** @throws RuntimeError not_found, ambiguous_id */
    record: (part: string): RunRecord => record(deps, get(part)),

    /** A page of runs, newest first (09 §6.4). @throws RuntimeError invalid_parameter for a cursor that is none */
    page(filter: Omit<RunFilter, 'limit' | 'behind'>, wanted: PageWanted): Page<RunSummary> {
      const [place] = keyOfCursor(wanted.cursor, ['number']) ?? [];
      const behind = typeof place === 'number' ? place : undefined;
      const found = recorded.list({ ...filter, behind, limit: pageSize(wanted) + 1 });
      return pageOf(
        found.runs,
        wanted,
        (row) => [row.place],
        (row) => summary(row, deps.now()),
      );
    },

    /** A page of a run's captured steps, without what they were given and made. @throws as `record` */
    steps(part: string, wanted: PageWanted): Page<StepRecord> {
      const shown = steps(find(part)).map(({ input: _input, output: _output, partial: _partial, ...step }) => step);
      return slicePage(shown, wanted, { shape: ['number'], keyOf: ({ index }) => [index] }, comesAfter);
    },

    /** A page of a run's calls in their order. @throws as `record` */
    calls(part: string, wanted: PageWanted): Page<RunCall> {
      const [behind] = keyOfCursor(wanted.cursor, ['number']) ?? [];
      const rows = recorded.calls(find(part), false, Number(behind ?? -1), pageSize(wanted) + 1);
      return pageOf(
        rows,
        wanted,
        (row) => [row.seq],
        (row) => row,
      );
    },

    /** @throws RuntimeError not_found, ambiguous_id */
    call(part: string, seq: number, full: boolean): RunCall {
      const id = find(part);
      const [found] = recorded.calls(id, full, seq - 1, 1);
      if (found?.seq === seq) return found;
      throw new RuntimeError('not_found', `${id} has no call ${seq}`);
    },

    list(filter: RunFilter): { readonly runs: readonly RunSummary[]; readonly total: number } {
      const found = recorded.list(filter);
      return { runs: found.runs.map((row) => summary(row, deps.now())), total: found.total };
    },

    /** The run with its steps, calls and waits; `full` leaves nothing out. @throws RuntimeError not_found, ambiguous_id */
    show(part: string, full: boolean): RunDetails {
      const row = get(part);
      const { id } = row;
      return {
        ...record(deps, row),
        steps: steps(id).map(({ input, output, partial, ...step }) => ({
          ...step,
          ...(full ? { input, output, partial } : {}),
        })),
        calls: recorded.calls(id, full),
        waits: asks.ofRun(id).map((ask) => ({ ...askLine(ask), waited_ms: waitedFor(ask) })),
        ...(full ? { messages: runs.messages(id).map(numbered) } : {}),
      };
    },

    /** One step whole, with the messages that its histories refer to. @throws RuntimeError not_found, ambiguous_id */
    step(part: string, index: number): CapturedStep {
      const id = find(part);
      const all = steps(id);
      const step = all[index - 1];
      if (step === undefined) {
        const count = all.length === 0 ? 'no captured steps' : `steps 1 to ${all.length}`;
        throw new RuntimeError('not_found', `${id} has no step ${index}: it has ${count}`);
      }
      const messages = runMessages('[]', runs.messages(id));
      const whole = (value: unknown): unknown => (isHistory(value) ? materialise(value, messages) : value);
      return { ...step, input: whole(step.input), output: whole(step.output) };
    },
  };
}

export type Recorded = ReturnType<typeof createRecorded>;

const numbered = ({ seq, payload }: { readonly seq: number; readonly payload: string }): NumberedMessage => ({
  number: seq,
  message: JSON.parse(payload) as NumberedMessage['message'],
});

const waitedFor = ({ created_at, resolved_at }: Ask): number | null =>
  resolved_at === null ? null : Date.parse(resolved_at) - Date.parse(created_at);

const isHistory = (value: unknown): value is HistoryRanges =>
  typeof value === 'object' && value !== null && '$history' in value;

const iso = (at: number | null): string | null => (at === null ? null : stamp(at));
const failing: ReadonlySet<string> = new Set(['failed', 'cancelled', 'exhausted', 'interrupted']);
const resting: ReadonlySet<string> = new Set(['suspended', 'interrupted']);

function summary(row: RecordedRun, now: number): RunSummary {
  const { name, source, sha256, state } = row.policy;
  const until = row.ended_at ?? (resting.has(row.status) ? row.checkpoint_at : null) ?? now;
  return {
    id: row.id,
    kind: row.kind,
    status: row.status,
    chain: {
      id: row.chain_id,
      name: row.chain_path === null ? row.chain_id : basename(row.chain_path, '.json'),
      sha256: row.chain_sha256,
    },
    session: row.session_name,
    plan: row.plan_name,
    plan_step: row.plan_ordinal,
    model: row.model,
    provider: row.provider,
    backend: row.backend,
    policy: { name, source, sha256, state },
    input: row.input ?? '',
    output_type: row.output?.type ?? null,
    is_error: failing.has(row.status),
    error: row.error === null ? null : { class: shownClass(row.error.class), message: row.error.message },
    exit_code: row.exit_code,
    usage: {
      input_tokens: row.usage.input_tokens,
      output_tokens: row.usage.output_tokens,
      estimated: row.usage.estimated,
    },
    num_turns: row.counters.turns,
    num_tool_calls: row.counters.tool_calls,
    num_denials: row.denials,
    asks: row.ask_ids,
    waiting_on: row.waiting_on,
    attempts: row.attempts,
    last_error: row.last_error,
    last_seq: row.last_seq,
    created_at: stamp(row.created_at),
    started_at: iso(row.started_at),
    ended_at: iso(row.ended_at),
    duration_ms: Math.max(0, until - (row.started_at ?? until)),
  };
}

function record(deps: RecordedDeps, row: RecordedRun): RunRecord {
  const { counters } = row;
  const max = boundsOf(deps, row);
  const head = deps.runs.head(row.id);
  return {
    ...summary(row, deps.now()),
    cwd: row.cwd,
    result: row.output?.text ?? '',
    bounds: {
      turns: { used: counters.turns, max: max.maxTurns },
      tool_calls: { used: counters.tool_calls, max: max.maxToolCalls },
      tokens: { used: counters.tokens, max: max.maxTokens },
    },
    ...(row.options['instructions'] === undefined
      ? {}
      : // Written by `write-start.ts`.
        { instructions: row.options['instructions'] as RunRecord['instructions'] }),
    permission_denials: deps.calls.denials(row.id).map(denial),
    queue_place: row.status === 'queued' ? (deps.queuePlace?.(row.id) ?? null) : null,
    run_by: head !== undefined && isDriven(head, deps.now()) ? driverOf(head.lease_owner ?? '') : null,
  };
}

type Limits = Readonly<Record<Bound, number>>;
const none: Limits = { maxTurns: 0, maxToolCalls: 0, maxTokens: 0 };

/** What the run's policy and its flags leave together, with what was granted once more (02 §11). */
function boundsOf(deps: RecordedDeps, row: RecordedRun): Readonly<Record<Bound, number | null>> {
  const { options, counters } = row;
  const text = row.policy.sha256 === null ? null : deps.documents.policyText(row.policy.sha256);
  const compute = computeOf(text);
  const tighten: Limits = {
    maxTurns: Number(options['max_turns'] ?? 0),
    maxToolCalls: Number(options['max_tool_calls'] ?? 0),
    maxTokens: Number(options['max_tokens'] ?? 0),
  };
  const limit = (bound: Bound): number | null =>
    shareOf(compute, tighten, bound) * (1 + (counters.grants?.[bound] ?? 0)) || null;
  return { maxTurns: limit('maxTurns'), maxToolCalls: limit('maxToolCalls'), maxTokens: limit('maxTokens') };
}

/** The bounds of a policy's text; what is not there, or cannot be read, is no bound. */
function computeOf(text: string | null): Limits {
  try {
    const document: unknown = text === null ? null : JSON.parse(text);
    const compute: unknown =
      typeof document === 'object' && document !== null ? Reflect.get(document, 'compute') : null;
    return { ...none, ...(typeof compute === 'object' ? compute : null) };
  } catch {
    return none;
  }
}
