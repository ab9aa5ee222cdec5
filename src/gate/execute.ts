import { evaluate } from '../policy/evaluate.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { CallRequest, ToolOutcome } from '../schema/protocol.ts';
import type { Feed } from '../store/feed.ts';
import { keepTrying } from '../store/keep-trying.ts';
import { longestTimerMs } from '../text/quantities.ts';
import { codeOf } from '../text/thrown.ts';
import type { ToolContext, ToolPorts, ToolResult } from '../tools/tool.ts';
import { changeBytes, withChange } from './changed.ts';
import type { Started } from './entries.ts';
import type { Judged } from './find.ts';
import type { Ledger } from './ledger.ts';
import { capResult, resultText, shallowResult } from './result.ts';
import type { GateRun } from './run.ts';
import { leaseLost } from './under-lease.ts';

export type ExecuteDeps = {
  readonly feed: Feed;
  readonly ports: ToolPorts;
  readonly now: () => number;
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
  run: GateRun,
  request: CallRequest,
  judged: Judged,
  started: Started,
): Promise<ToolOutcome> {
  const limit = timeLimit(run.signal, request.time_left_ms);
  const result = deps.maskResult(
    shallowResult(await act(deps, ledger, run, judged, started, limit.signal).finally(limit.release)),
  );
  if (!run.records()) throw new RuntimeError('cancelled', 'stopped');
  const text = resultText(result);
  const isText = result.ok && typeof result.value === 'string';
  const room = request.max_result_bytes - changeBytes(run, request);
  const capped = capResult(text, isText, room, run.ref.run_id, request.call_id, deps.ports.spool);
  const rendered = { ...capped, content: withChange(run, request, capped.content) };
  const outputRef = (result.ok ? result.output_ref : undefined) ?? rendered.output_ref;
  const isRecorded = await keepTrying(
    () => ledger.end(run, request, judged, started, result, rendered, outputRef ?? null),
    { codes: ['storage', 'database_busy'], goOn: () => !run.signal.aborted },
  );
  if (!isRecorded) return leaseLost;
  return {
    kind: 'result',
    ok: result.ok,
    content: rendered.content,
    ...(result.ok ? {} : { error: result.error }),
    ...(request.direct && result.ok ? { value: result.value } : {}),
    ...(outputRef == null ? {} : { output_ref: outputRef }),
  };
}

function notePid(ledger: Ledger, run: GateRun, started: Started, pid: number): void {
  try {
    ledger.setPid(run, started, pid);
  } catch {
    // A help for who clears up after a crash; the outcome, which must be recorded, meets the same failure and reports it.
  }
}

async function act(
  deps: ExecuteDeps,
  ledger: Ledger,
  run: GateRun,
  judged: Judged,
  started: Started,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { prepared } = judged;
  const context: ToolContext<unknown> = {
    ...prepared.site,
    facts: prepared.facts,
    exec: judged.evaluation.exec,
    signal,
    environment: run.environment,
    ports: {
      ...deps.ports,
      spawn: async (spawnRequest, signal, onOutput, onStarted) => {
        let timer: NodeJS.Timeout | undefined;
        try {
          return await deps.ports.spawn(spawnRequest, signal, onOutput, (pid) => {
            timer = setTimeout(() => notePid(ledger, run, started, pid), pidAfterMs);
            onStarted(pid);
          });
        } finally {
          clearTimeout(timer);
        }
      },
    },
    output: (stream, text) =>
      deps.feed.live(run.ref, { kind: 'tool_output', call_id: prepared.site.call_id, stream, text }),
    emit: (event) => deps.feed.commit('normal', (record) => record(run.ref, event)),
    judge: (tools, tool, args) => evaluate(run.policy(), { tools, tool, args }, run.host(prepared.cwd)).action,
  };
  if (prepared.dropped.length > 0) {
    const message = `The model's value for ${prepared.dropped.join(', ')} of ${prepared.found.tools}.${prepared.found.name} was dropped: the operator's is sent.`;
    context.emit({ kind: 'notice', level: 'warn', code: 'argument_dropped', message });
  }
  try {
    return await prepared.found.tool.execute(prepared.args, context);
  } catch (error) {
    if (signal.aborted) return { ok: false, error: 'cancelled', message: 'The call was cancelled while it ran.' };
    const code = codeOf(error);
    return code === null
      ? { ok: false, error: 'tool_error', message: 'The tool failed unexpectedly.' }
      : { ok: false, error: 'io_error', message: `The system refused it: ${code}.`, extra: { code } };
  }
}
