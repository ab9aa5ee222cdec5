import { array, boolean, defaulted, enums, nullable, object, optional, record, size, string } from 'superstruct';
import type { CapturedStep, RunEvent } from '../../schema/event.ts';
import { RunChanges } from '../../schema/file-change.ts';
import { inputTypes, runStatuses } from '../../schema/run.ts';
import { RunCall, RunRecord, RunSummary, type StepRecord } from '../../schema/run-record.ts';
import { whole } from '../../schema/shape.ts';
import { count, flag, given, page } from '../fields.ts';
import { route, shown } from '../operation.ts';
import { Accepted, runOptions } from './sessions.ts';

const run = { id: string() };
const next = nullable(string());

/** Runs (09 §6.4). A run is named by its id or an end of it. */
export const runRoutes = {
  postRun: route(
    'POST',
    '/api/runs',
    'any',
    object({
      /** Name of a chain; `chain_document` is the text of one. */
      chain: optional(string()),
      chain_document: optional(string()),
      input: given(),
      input_type: defaulted(enums(inputTypes), 'string'),
      vars: optional(record(size(string(), 1, 128), string())),
      ...runOptions,
    }),
    shown(Accepted),
    {
      status: 202,
      repeatable: true,
      body: 'document',
      accessFor: ({ policy, shell, chain_document }) =>
        policy !== undefined || shell === true || chain_document !== undefined ? 'operator' : null,
    },
  ),
  /** Newest first. */
  pageRuns: route(
    'GET',
    '/api/runs',
    'any',
    object({
      status: optional(enums(runStatuses)),
      session: optional(string()),
      plan: optional(string()),
      ...page,
    }),
    shown(object({ items: array(RunSummary), next_cursor: next })),
  ),
  getRun: route('GET', '/api/runs/{id}', 'any', object(run), shown(RunRecord)),
  pageSteps: route(
    'GET',
    '/api/runs/{id}/steps',
    'any',
    object({ ...run, ...page }),
    shown(object({ items: array(whole<StepRecord>()), next_cursor: next })),
  ),
  getStep: route(
    'GET',
    '/api/runs/{id}/steps/{index}',
    'any',
    object({ ...run, index: count(1, 1_000_000) }),
    shown(whole<CapturedStep>()),
  ),
  pageCalls: route(
    'GET',
    '/api/runs/{id}/calls',
    'any',
    object({ ...run, ...page }),
    shown(object({ items: array(RunCall), next_cursor: next })),
  ),
  getCall: route(
    'GET',
    '/api/runs/{id}/calls/{seq}',
    'any',
    object({ ...run, seq: count(0, 10_000_000), full: optional(flag()) }),
    shown(RunCall),
  ),
  /** Ends a live, suspended or interrupted run. */
  endRun: route(
    'POST',
    '/api/runs/{id}/cancel',
    'any',
    object({ ...run, reason: optional(size(string(), 1, 1000)) }),
    shown(RunRecord),
    { status: 202 },
  ),
  /** The files that its calls have changed, and what can be done about each. */
  getChanges: route('GET', '/api/runs/{id}/changes', 'any', object(run), shown(RunChanges)),
  /** Puts back what can be. */
  undoRun: route('POST', '/api/runs/{id}/undo', 'operator', object(run), shown(RunChanges)),
  continueRun: route(
    'POST',
    '/api/runs/{id}/resume',
    'operator',
    object({ ...run, accept_changed_chain: optional(boolean()) }),
    shown(RunRecord),
    { status: 202, repeatable: true },
  ),
  /** Stored events in order; with `Accept: text/event-stream` the stream of them instead (09 §7). */
  pageRunEvents: route(
    'GET',
    '/api/runs/{id}/events',
    'any',
    object({ ...run, after: optional(count(0, Number.MAX_SAFE_INTEGER)), limit: page.limit }),
    shown(object({ items: array(whole<RunEvent>()), next_after: count(0, Number.MAX_SAFE_INTEGER), ended: boolean() })),
  ),
} as const;
