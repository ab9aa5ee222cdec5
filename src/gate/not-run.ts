import type { EngineEvent } from '../schema/event.ts';
import type { ToolOutcome } from '../schema/protocol.ts';
import type { NewCall } from '../store/calls.ts';
import { isDeeperThan, mostLevels } from '../text/json-depth.ts';
import { isObject } from '../text/json-object.ts';
import { type Exhausted, exhaustedText } from './bounds.ts';
import { withChange } from './changed.ts';
import { type Entries, type LedgerDeps, namesOf, type ToolNames } from './entries.ts';
import { errorText } from './result.ts';
import type { GateRun } from './run.ts';
import type { GateCall, Judged, Refused, RequestedCall } from './stages.ts';
import { underLease } from './under-lease.ts';

type UnsentCall = Extract<EngineEvent, { readonly kind: 'unsent_call' }>;

/** What is written down of a call that did not run: refused, denied, or stopped by a bound. */
export function createNotRun(deps: LedgerDeps, entries: Entries) {
  const { calls, now } = deps;
  const { pending, decision, entry, insert, ended, close } = entries;

  /** Of a call that nobody judged: with the arguments as the model gave them, which were not checked. */
  const refusedRow = (
    run: GateRun,
    call: Pick<UnsentCall, 'call_id' | 'arguments' | 'batch_index'>,
    names: ToolNames,
    at: number,
  ): NewCall => ({
    run_id: run.ref.run_id,
    call_id: call.call_id,
    batch: call.batch_index,
    ...names,
    args: deps.mask(givenArguments(call.arguments)),
    call_hash: '',
    record: null,
    state: 'skipped',
    at,
  });

  return {
    /** A call that ended before it was judged. */
    refuse(call: RequestedCall, { error, message, extra }: Refused): ToolOutcome {
      const { run, request, found, planned } = call;
      run.ahead.flush();
      const names = found === null ? splitName(request.name) : namesOf(found);
      const content = withChange(call, deps.mask(errorText(error, message, extra)));
      const asked = planned?.ask_id ?? null;
      underLease(deps, run, asked === null ? 'normal' : 'full', (record) => {
        const row = refusedRow(run, request, names, now());
        // Whoever follows the run sees what was asked for.
        if (planned === null) pending(record, call, names, row.args);
        if (asked !== null) {
          deps.asks.close(asked, 'cancel', 'system:superseded');
          deps.asks.delivered(asked);
        }
        close(run, planned?.seq ?? calls.insert(row), content);
        ended(record, call, names, { content, error });
      });
      return { kind: 'result', ok: false, content, error };
    },

    /** The row of a call that the engine answered itself; in the caller's transaction. It decides nothing and acts on nothing. */
    unsent(run: GateRun, call: UnsentCall): void {
      if (calls.has(run.ref.run_id, call.call_id)) return;
      const seq = calls.insert(refusedRow(run, call, splitName(call.name), call.at));
      close(run, seq, deps.mask(call.content));
    },

    /** A denial, with or without an ask before it. */
    deny(call: GateCall, judged: Judged, told: string): ToolOutcome {
      const { run, planned } = call;
      run.ahead.flush();
      const error = 'denied';
      const content = withChange(call, told);
      const args = deps.mask(judged.prepared.shown);
      underLease(deps, run, 'full', (record) => {
        if (planned === null) {
          pending(record, call, namesOf(call.found), args);
          decision(record, call, judged, args);
        } else if (planned.ask_id !== null) {
          deps.asks.delivered(planned.ask_id);
        }
        close(run, planned?.seq ?? insert(call, judged, 'skipped'), content);
        ended(record, call, namesOf(call.found), { content, error });
      });
      return { kind: 'result', ok: false, content, error };
    },

    /** A call that a bound stops (02 §11): always an event and an audit row. */
    exhaust(call: GateCall, judged: Judged, exhausted: Exhausted): ToolOutcome {
      const { run, planned } = call;
      run.ahead.flush();
      const message = exhaustedText(exhausted);
      const content = errorText('compute_exhausted', message, { bound: exhausted.bound });
      const args = deps.mask(judged.prepared.shown);
      underLease(deps, run, 'full', (record) => {
        if (planned === null) {
          pending(record, call, namesOf(call.found), args);
          decision(record, call, judged, args);
        }
        close(run, planned?.seq ?? insert(call, judged, 'skipped'), content);
        record(run.ref, { kind: 'compute_exhausted', ...exhausted });
        entry(run, 'compute', { ...exhausted });
      });
      if (exhausted.action === 'finish') {
        run.finishing = true;
        return { kind: 'finish', bound: exhausted.bound, used: exhausted.used, limit: exhausted.limit };
      }
      return { kind: 'fatal', error: { code: 'compute_exhausted', message } };
    },
  };
}

/** Longest text of arguments that is kept of a call that was refused. */
const mostArguments = 65_536;

/** The arguments of a refused call, for people; null for what is no object, or too long or deep to keep. */
function givenArguments(text: string): unknown {
  if (text.length > mostArguments || isDeeperThan(text, mostLevels)) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The names of a tool that there is not, as far as they go. */
function splitName(name: string): ToolNames {
  const dot = name.indexOf('.');
  const cut = name.slice(0, 256);
  return dot < 0 ? { tools: '', tool: cut } : { tools: cut.slice(0, dot), tool: cut.slice(dot + 1) };
}
