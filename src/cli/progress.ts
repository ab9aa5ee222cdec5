import type { RunEvent } from '../schema/event.ts';
import type { RunResult, RunStarted } from '../schema/run.ts';
import { callName, callSummary } from '../view/call-summary.ts';
import { formatBytes } from '../view/format.ts';
import { instructionsLine } from '../view/instructions-line.ts';
import { stepLine } from '../view/step-line.ts';
import { stepValues } from '../view/run-lines.ts';
import type { Context } from './context.ts';
import { traceLine, traceRecord } from './trace-lines.ts';

/** What stderr tells of a run while it goes on (06 §8.3). */
export type Progress = {
  started(started: RunStarted): Promise<void>;
  event(event: RunEvent): void;
  finished(result: RunResult): Promise<void>;
  /** Stops the clock that redraws the waiting line. */
  stop(): void;
};

const tickMs = 1000;
/** After this long without output the waiting line says how long, and how much came in. */
const quietMs = 8000;

/**
 * Progress lines only when stderr is a terminal; reasoning, steps and telemetry when they were asked for.
 * @param asking true while a question stands on the terminal: nobody is told then that the program waits for them
 * @param heading what the line begins with that says what is waited for: with it the line is there all the time, and the
 * tasks of the chain, which have steps of their own, are not told
 */
export function createProgress(
  context: Context,
  asking: () => boolean = () => false,
  heading: (() => string) | null = null,
): Progress {
  const { terminal, globals, process } = context;
  const lines = terminal.stderrIsTerminal && !terminal.quiet;
  const say = (text: string) => terminal.err(`${terminal.style('err', 'dim', context.safe(text))}\n`);
  const calls = new Map<string, string>();
  /** Asks about spent bounds: they belong to no call. */
  const budgets = new Map<string, string>();
  const told = new Set<string>();
  let step = 0;
  let debug = false;
  let bytes = 0;
  let waitingFor = 'the run';
  let quietSince = process.now();
  let thinking = '';
  let thought = false;

  const timer = terminal.live
    ? setInterval(() => {
        const quiet = process.now() - quietSince;
        const head = heading?.() ?? null;
        if ((quiet < tickMs && head === null) || asking()) return;
        const size = quiet >= quietMs && waitingFor === 'the model' ? `, ${formatBytes(bytes)} received` : '';
        const waiting = `waiting for ${waitingFor}, ${Math.floor(quiet / 1000)} s${size}`;
        const text = context.safe(head === null ? waiting : `${head} · ${waiting}`);
        terminal.status(terminal.style('err', 'dim', text.slice(0, terminal.columns - 1)));
      }, tickMs)
    : undefined;
  timer?.unref();

  /** Reasoning arrives in pieces and is printed by whole lines, each with its prefix. */
  const think = (text: string) => {
    thinking += text;
    const cut = thinking.lastIndexOf('\n');
    if (cut >= 0) flushThinking(cut + 1);
  };
  const flushThinking = (length: number) => {
    if (length === 0) return;
    const ready = thinking.slice(0, length).replace(/\n$/, '');
    thinking = thinking.slice(length);
    for (const line of ready.split('\n')) terminal.err(`thinking: ${context.safe(line)}\n`);
  };

  const show = (event: RunEvent) => {
    switch (event.kind) {
      case 'step_started':
        step += 1;
        waitingFor = event.task_handler === 'execute_tool_calls' ? 'tools' : 'the model';
        if (lines && heading === null && !thought && event.task_handler === 'chat_completion') {
          thought = true;
          say('Thinking…');
        }
        if (lines && heading === null) say(`[step ${step}] ${event.task_id} (${event.task_handler})`);
        break;
      case 'step_chunk':
        bytes += (event.content?.length ?? 0) + (event.thinking?.length ?? 0);
        if (globals.think.show && event.thinking !== undefined) think(event.thinking);
        // The last line may have no end of its own; the answer that is streamed comes after it.
        else if (event.content !== undefined) flushThinking(thinking.length);
        break;
      case 'step_stream_end':
        flushThinking(thinking.length);
        break;
      case 'tool_call_pending':
        calls.set(event.call_id, `${callName(event)} ${callSummary(event.args)}`.trimEnd());
        break;
      case 'policy_decision':
        if (lines && event.action !== 'approve') {
          const word = event.action === 'allow' ? 'allowed' : 'denied';
          const rule = event.rule === null ? event.reason.replaceAll('_', ' ') : `rule ${event.rule + 1}`;
          const how = event.reason === 'remembered' ? 'remembered' : `${word} (${rule})`;
          say(`  → ${calls.get(event.call_id) ?? callName(event)} · ${how}`);
          told.add(event.call_id);
        }
        break;
      case 'ask':
        waitingFor = 'an answer';
        if (event.ask_kind === 'budget') budgets.set(event.ask_id, `${callName(event)} ${event.summary}`);
        break;
      case 'verdict':
        if (lines && budgets.has(event.ask_id)) {
          say(`  → ${budgets.get(event.ask_id)} · ${event.verdict} by ${event.by}`);
        } else if (lines && event.call_id !== null) {
          say(`  → ${calls.get(event.call_id) ?? 'call'} · ${event.verdict} by ${event.by}`);
          told.add(event.call_id);
        }
        break;
      case 'tool_call_started':
        waitingFor = callName(event);
        break;
      case 'tool_call':
        waitingFor = 'the model';
        // That a call was denied stands in the line of its verdict.
        if (lines && !event.ok && event.error !== 'denied') {
          // A call that was refused before it was judged has no line yet.
          const call = `  → ${calls.get(event.call_id) ?? callName(event)} · `;
          say(`${told.has(event.call_id) ? '    ' : call}${event.error ?? 'failed'}`);
        }
        break;
      case 'model_retry':
        if (lines) {
          const seconds = Math.ceil(event.wait_ms / 1000);
          say(`${event.model}: ${event.message} (${event.class}); trying again in ${seconds} s`);
        }
        break;
      case 'print':
        if (!terminal.quiet) terminal.err(`${context.safe(event.text)}\n`);
        break;
      default:
        break;
    }
  };

  return {
    started: async (started) => {
      debug = started.debug === true;
      for (const file of started.instructions ?? [])
        if (lines && file.withheld !== null)
          say(`${instructionsLine(file)}${file.mend === null ? '' : ` (${file.mend})`}`);
      if (globals.trace) terminal.err(`${await traceHead(context, started)}\n`);
    },
    event: (event) => {
      quietSince = process.now();
      const traced = globals.trace ? traceLine(event) : null;
      if (traced !== null) terminal.err(`${traced}\n`);
      show(event);
    },
    finished: async (result) => {
      clearInterval(timer);
      terminal.status(null);
      flushThinking(thinking.length);
      if (globals.steps) terminal.err(`${(await stepLines(context, result, debug)).map(context.safe).join('\n')}\n`);
    },
    stop: () => {
      clearInterval(timer);
      terminal.status(null);
    },
  };
}

/** The block of `--steps`. @param debug adds what each step was given and made (04 §3) */
async function stepLines(context: Context, result: RunResult, debug: boolean): Promise<readonly string[]> {
  const lines = ['Steps'];
  for (const step of result.steps) {
    lines.push(stepLine(step));
    if (!debug) continue;
    const whole = await (await context.client()).showRunStep({ run_id: result.run_id, index: step.index });
    lines.push(...stepValues(whole).map((line) => (line === '' ? '' : `     ${line}`)));
  }
  return lines;
}

/** The first line of `--trace`: what the run uses. */
async function traceHead(context: Context, started: RunStarted): Promise<string> {
  const report = await (await context.client()).doctor({ probe: false });
  return traceRecord(new Date(context.process.now()).toISOString(), 'run', {
    run_id: started.run_id,
    model: started.model,
    provider: started.provider,
    backend: started.backend,
    policy: started.policy.name,
    policy_sha256: started.policy.sha256,
    policy_source: started.policy.source,
    chain: started.chain.id,
    chain_sha256: started.chain.sha256,
    database: report.database.path,
    data_directory: report.dataDir ?? '',
    trust: context.globals.trust.length === 0 ? 'stored' : 'this invocation',
    instructions: started.instructions?.map(instructionsLine).join('; '),
    trimmed: started.trimmed === 0 ? null : started.trimmed,
  });
}
