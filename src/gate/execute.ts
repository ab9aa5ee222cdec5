import { evaluate } from '../policy/evaluate.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { ToolOutcome } from '../schema/protocol.ts';
import type { Feed } from '../store/feed.ts';
import { keepTrying } from '../store/keep-trying.ts';
import { longestTimerMs } from '../text/quantities.ts';
import { codeOf } from '../text/thrown.ts';
import type { Kept, ToolContext, ToolPorts, ToolResult } from '../tools/tool.ts';
import { changeBytes, withChange } from './changed.ts';
import type { CallHost } from './facts.ts';
import type { Ledger } from './ledger.ts';
import { isWhatWasSeen } from './looked.ts';
import { capResult, type Rendered, resultText, shallowResult } from './result.ts';
import type { GateRun } from './run.ts';
import type { GateCall, Judged, Started } from './stages.ts';
import { leaseLost } from './under-lease.ts';

export type ExecuteDeps = {
  readonly feed: Feed;
  readonly ports: ToolPorts;
  /** Masks a result before it reaches the model and notes how many secrets were found. */
  readonly maskResult: (result: ToolResult) => ToolResult;
};

/** Most commands have ended by then: their pid is of no use to anybody, and its row would cost as much as they do. */
const pidAfterMs = 25;

/** Aborted with the run, and when the task has no time left: it counts from the start, since waits for people are over (04 §15.5). */
function timeLimit(run: AbortSignal, leftMs: number | undefined) {
  if (leftMs === undefined) return { signal: run, release: () => {} };
  const over = new AbortController();
  // No `AbortSignal.timeout`: what joins it to another signal does not hold it, and it may be collected before it fires.
  const timer = setTimeout(() => over.abort(), Math.min(Math.max(Math.ceil(leftMs), 1), longestTimerMs));
  return { signal: AbortSignal.any([run, over.signal]), release: () => clearTimeout(timer) };
}

/** Steps 8 and 9: acts on the facts that were judged, then writes the outcome down before anybody hears of it. */
export async function executeCall(
  deps: ExecuteDeps,
  ledger: Ledger,
  call: GateCall,
  judged: Judged,
  started: Started,
): Promise<ToolOutcome> {
  const { run, request } = call;
  const limit = timeLimit(run.signal, request.time_left_ms);
  const { signal } = limit;
  const ports = { ...deps.ports, spawn: notingPids(deps.ports.spawn, (pid) => notePid(ledger, run, started, pid)) };
  const context = contextOf({ ...deps, ports }, call, judged, signal);
  const result = deps.maskResult(shallowResult(await act(call, judged, context).finally(limit.release)));
  if (!run.records()) throw new RuntimeError('cancelled', 'stopped');
  let fault: string | null = null;
  const keep = (whole: string): Kept => {
    const kept = deps.ports.spool.put(run.ref.run_id, request.call_id, whole);
    if (kept.name === null) fault = kept.fault;
    return kept;
  };
  const rendered = rendering(call, result, keep);
  const isRecorded = await keepTrying(() => ledger.end(call, judged, started, result, rendered), {
    codes: ['storage', 'database_busy'],
    goOn: () => !run.signal.aborted,
  });
  if (!isRecorded) return leaseLost;
  if (fault !== null) {
    const message = `The full result of a tool call could not be kept ${fault}`;
    context.emit({ kind: 'notice', level: 'warn', code: 'spool_full', message });
  }
  return {
    kind: 'result',
    ok: result.ok,
    content: rendered.content,
    ...(result.ok ? {} : { error: result.error }),
    ...(request.direct && result.ok ? { value: result.value } : {}),
    ...(rendered.output_ref === null ? {} : { output_ref: rendered.output_ref }),
  };
}

/** The result as the model is told it, within its room. */
function rendering(call: GateCall, result: ToolResult, keep: (whole: string) => Kept): Rendered {
  const isText = result.ok && typeof result.value === 'string';
  const room = call.request.max_result_bytes - changeBytes(call);
  const capped = capResult(resultText(result), isText, room, keep);
  return {
    ...capped,
    content: withChange(call, capped.content),
    // What the tool has kept itself is more than the text that was capped here.
    output_ref: (result.ok ? result.output_ref : undefined) ?? capped.output_ref,
  };
}

/** Tells of the pid of a child that is still there after a moment. */
const notingPids =
  (spawn: ToolPorts['spawn'], note: (pid: number) => void): ToolPorts['spawn'] =>
  async (request, signal, onOutput, onStarted) => {
    let timer: NodeJS.Timeout | undefined;
    try {
      return await spawn(request, signal, onOutput, (pid) => {
        timer = setTimeout(() => note(pid), pidAfterMs);
        onStarted(pid);
      });
    } finally {
      clearTimeout(timer);
    }
  };

function notePid(ledger: Ledger, run: GateRun, started: Started, pid: number): void {
  try {
    ledger.setPid(run, started, pid);
  } catch {
    // A help for who clears up after a crash; the outcome, which must be recorded, meets the same failure and reports it.
  }
}

/** How long a view of the machine holds for further files of a search: looking at everything anew costs 50 system calls a file. */
const viewMs = 10;

/** What a tool is given of the world. */
function contextOf(
  { feed, ports }: ExecuteDeps,
  { run, request, answer }: GateCall,
  { prepared, evaluation }: Judged,
  signal: AbortSignal,
): ToolContext<unknown> {
  let view: { readonly host: CallHost; readonly at: number } | null = null;
  /** Each file is still looked at when it is asked about; what leads there may be older by a moment. */
  const viewOfNow = (): CallHost => {
    const now = performance.now();
    if (view === null || now - view.at > viewMs) view = { host: run.host(prepared.cwd), at: now };
    return view.host;
  };
  return {
    ...prepared.site,
    facts: prepared.facts,
    exec: evaluation.exec,
    answer: answer ?? null,
    signal,
    environment: run.environment,
    ports,
    output: (stream, text) => feed.live(run.ref, { kind: 'tool_output', call_id: request.call_id, stream, text }),
    emit: (event) => feed.commit('normal', (record) => record(run.ref, event)),
    judge(tools, tool, args, seen) {
      const host = viewOfNow();
      const { action } = evaluate(run.policy(), { tools, tool, args }, host);
      return seen === undefined || isWhatWasSeen(seen, host) ? action : 'deny';
    },
  };
}

async function act({ found }: GateCall, { prepared }: Judged, context: ToolContext<unknown>): Promise<ToolResult> {
  if (prepared.dropped.length > 0) {
    const message = `The model's value for ${prepared.dropped.join(', ')} of ${found.tools}.${found.name} was dropped: the operator's is sent.`;
    context.emit({ kind: 'notice', level: 'warn', code: 'argument_dropped', message });
  }
  try {
    return await found.tool.execute(prepared.args, context);
  } catch (error) {
    if (context.signal.aborted) {
      return { ok: false, error: 'cancelled', message: 'The call was cancelled while it ran.' };
    }
    const code = codeOf(error);
    return code === null
      ? { ok: false, error: 'tool_error', message: 'The tool failed unexpectedly.' }
      : { ok: false, error: 'io_error', message: `The system refused it: ${code}.`, extra: { code } };
  }
}
