import type { RuntimeClient } from '../client/operations.ts';
import { shownClass } from '../schema/errors.ts';
import type { RunEvent } from '../schema/event.ts';
import type { OnAsk, RunResult, RunStarted } from '../schema/run.ts';
import { keyMend } from '../view/key-mend.ts';
import { createAskDesk, sayWaiting } from './ask-desk.ts';
import type { Context } from './context.ts';
import { createOutput, type Output } from './output.ts';
import { createProgress, type Progress } from './progress.ts';
import { withPlaces } from './placed-command.ts';
import type { Signal } from './process.ts';
import { failureOf, oneLine, printFailure } from './report-error.ts';
import { type ShownError, type Turn, wholeMessage } from './result-json.ts';

export type FollowOptions = {
  /** In place of what `--output-format` and the terminal choose. */
  readonly output?: Output;
  readonly progress?: Progress;
  readonly onAsk: OnAsk;
  /** What the progress line begins with. */
  heading?(): string;
  /** Says how it ended, in place of the closing words on stderr. */
  ending?(result: RunResult): void;
  /** Read after the run, for `chat --last`. */
  turns?(): Promise<readonly Turn[]>;
  /** False for an event that progress shall not tell of. */
  tells?(event: RunEvent): boolean;
  /** Says, before anything is told of the end, which exit code it has where nothing shall be told; else null. */
  ended?(result: RunResult): number | null;
  /** Sees every event in order, after it was shown. */
  seen?(event: RunEvent): void;
};

/** A second signal in this time ends the process at once (06 §2.5). */
const secondSignalMs = 2000;

/**
 * Follows one started run to its end: shows events, puts asks, obeys signals, prints the result.
 * @returns the exit code of the invocation (06 §2.2)
 */
export async function followRun(
  context: Context,
  client: RuntimeClient,
  started: RunStarted,
  options: FollowOptions,
): Promise<number> {
  const output = options.output ?? createOutput(context);
  const progress = options.progress ?? createProgress(context, () => asks.open(), options.heading ?? null);
  const warned = new Set<string>();
  const warn = (message: string) => {
    if (!warned.has(message)) context.warn(message);
    warned.add(message);
  };
  const watching = new AbortController();
  const ignore = listenToSignals(context, client, started.run_id);
  const held: RunEvent[] = [];
  const { from_seq: after, ask_ids: open } = started.resumed ?? { from_seq: 0, ask_ids: [] };
  const asks = createAskDesk(context, client, started.run_id, { onAsk: options.onAsk, open, closed: resume });
  let bound: string | null = null;
  let pumping: Promise<void> | null = null;

  const show = async (event: RunEvent): Promise<void> => {
    if (options.tells?.(event) !== false) progress.event(event);
    await output.event(event);
    if (event.kind === 'compute_exhausted') bound = event.bound;
    if (event.kind === 'notice' && event.level === 'warn') warn(event.message);
    options.seen?.(event);
    await asks.shown(event);
  };
  /** Shows what has arrived, in order, until a question opens. One at a time, whoever calls. */
  const pump = (): Promise<void> => {
    pumping ??= (async () => {
      for (let event = held[0]; event !== undefined && !asks.open(); event = held[0]) {
        held.shift();
        await show(event);
      }
    })().finally(() => {
      pumping = null;
    });
    return pumping;
  };

  /** A failure here meets the loop below again: it pumps too. */
  function resume(): void {
    pump().catch(() => undefined);
  }

  try {
    for (const warning of started.warnings) warn(warning);
    await output.started(started);
    await progress.started(started);
    const whole = client.awaitRun({ run_id: started.run_id, ...(output.full ? { full: true } : {}) });
    // A run whose end could not be recorded has no last event to wait for.
    whole.catch(() => watching.abort());
    await asks.begin();
    for await (const batch of client.watch({ run_id: started.run_id, after, signal: watching.signal })) {
      for (const event of batch) {
        asks.arrived(event);
        held.push(event);
      }
      await pump();
    }
    asks.close();
    while (held.length > 0 || asks.open()) {
      await asks.done();
      await pump();
    }
    await asks.done();
    const result = await whole;
    return await finish(context, client, result, { output, progress, bound, warn, warned, options });
  } catch (error) {
    // The run goes to rest when the app closes; a JSON reader gets its last object here.
    const failure = withPlaces(failureOf(error), context.placed);
    await output.failed(failure);
    printFailure(failure, context.terminal, context.globals.trace);
    return failure.exit;
  } finally {
    ignore();
    progress.stop();
  }
}

type Ending = {
  readonly output: Output;
  readonly progress: Progress;
  readonly bound: string | null;
  warn(message: string): void;
  /** Every warning of the run, in its order. */
  readonly warned: ReadonlySet<string>;
  readonly options: FollowOptions;
};

async function finish(context: Context, client: RuntimeClient, run: RunResult, ending: Ending): Promise<number> {
  const result: RunResult = { ...run, asks: run.asks.map((ask) => withAnswer(ask, context)) };
  const { output, progress } = ending;
  for (const warning of result.warnings) ending.warn(warning);
  const untold = ending.options.ended?.(result) ?? null;
  if (untold !== null) return untold;
  const { exit, error: denied } = exitOfRun(result, context.globals.failOnDenial);
  // The model was allowed one last word, so nothing failed; what ended the run is said all the same.
  const error = denied ?? (result.status === 'exhausted' ? exhausted(ending.bound) : null);
  const failure = result.error ?? error;
  const hints = failure === null ? [] : nextSteps(failure, result.backend).map(context.placed);
  const turns = await ending.options.turns?.();
  await output.finished(result, {
    exit,
    error,
    hint: hints[0] ?? null,
    warnings: [...ending.warned],
    bound: ending.bound,
    ...(turns === undefined ? {} : { turns }),
  });
  await progress.finished(result);
  const { terminal } = context;
  const prefix = terminal.style('err', exit === 0 || exit === 4 ? 'yellow' : 'red', 'reins:');
  const open = result.asks.filter((entry) => entry.state === 'pending');
  for (const ask of open) {
    await sayWaiting(context, client, { ...ask, expires_at: null }, prefix);
  }
  if (ending.options.ending !== undefined) ending.options.ending(result);
  else if (result.status === 'cancelled') terminal.err(`${prefix} the run was cancelled\n`);
  else if (result.status === 'interrupted')
    terminal.err(
      `${prefix} the run stopped at its last checkpoint; ${context.placed(`reins state resume ${result.run_id}`)} goes on with it\n`,
    );
  // Answered while it came to rest: whoever answered goes on with it, if he still can.
  else if (result.status === 'suspended' && open.length === 0)
    terminal.err(
      `${prefix} the run rests, and its ask is over; ${context.placed(`reins state resume ${result.run_id}`)} goes on with it\n`,
    );
  else if (failure !== null) {
    terminal.err(`${prefix} ${context.safe(oneLine(failureText(failure)))}\n`);
    for (const hint of hints) terminal.err(`  ${context.safe(hint)}\n`);
  }
  return exit;
}

type AskOfRun = RunResult['asks'][number];

const withAnswer = (ask: AskOfRun, { placed }: Context): AskOfRun =>
  ask.respond === null ? ask : { ...ask, respond: placed(ask.respond) };

/** Commands that help after a run failed; none where the message has said all (06 §2.3). */
function nextSteps({ class: failure, message }: ShownError, backend: string | null): readonly string[] {
  switch (failure) {
    case 'auth':
      return [keyMend(message, backend) ?? 'reins doctor'];
    case 'model_unavailable':
    case 'no_tool_support':
      return ['reins model list'];
    case 'rate_limit':
    case 'server_error':
    case 'empty_reply':
    case 'model_timeout':
      return backend === null ? ['reins doctor'] : [`reins backend test ${backend}`];
    case 'storage':
      return ['reins doctor'];
    default:
      return [];
  }
}

const exhausted = (bound: string | null) => ({
  class: 'compute_exhausted',
  message: `compute bound exhausted${bound === null ? '' : `: ${bound}`}; the answer is the model's last word`,
});

/** Messages about attempts name their task themselves (04 §15.2). */
function failureText(failure: ShownError): string {
  const named = failure.task_id === undefined || failure.message.startsWith(`task ${failure.task_id} `);
  const message = `${named ? '' : `task ${failure.task_id}: `}${failure.message}`;
  return `${wholeMessage({ ...failure, message })} (${shownClass(failure.class)})`;
}

/** The order in which exit codes win when several apply (06 §2.2). */
const order = [130, 143, 124, 4, 6, 5, 7, 3, 1];

/** The run's own exit code, and 5 when denials make it so. */
export function exitOfRun(
  result: RunResult,
  failOnDenial: boolean,
): { readonly exit: number; readonly error: { readonly class: string; readonly message: string } | null } {
  const refused = result.asks.some((ask) => ask.by === 'system:on-ask-deny');
  const message =
    refused && result.executed_tool_calls === 0
      ? 'what needed approval was denied and no tool call ran'
      : failOnDenial && result.permission_denials.length > 0
        ? 'a tool call was denied (--fail-on-denial)'
        : null;
  if (message === null) return { exit: result.exit_code, error: null };
  const exit = order.find((code) => code === 5 || code === result.exit_code) ?? 5;
  return { exit, error: exit === 5 ? { class: 'denied', message } : null };
}

/** SIGINT cancels, SIGTERM and SIGHUP stop at the last checkpoint; a second signal in time ends at once (06 §2.5). */
function listenToSignals(context: Context, client: RuntimeClient, runId: string): () => void {
  const { process, terminal } = context;
  let last = Number.NEGATIVE_INFINITY;
  const on = (signal: Signal, exit: number, act: () => Promise<unknown>) =>
    process.onSignal(signal, () => {
      // An editor that runs on the terminal shares its signals; only this one is typed.
      if (signal === 'SIGINT' && terminal.lent()) return;
      const now = process.now();
      if (now - last < secondSignalMs) process.leave(exit);
      last = now;
      terminal.status(null);
      // The run may have ended in this very moment; its result says so.
      act().catch(() => undefined);
    });
  const stop = () => client.stopRun({ run_id: runId, reason: 'interrupted' });
  const listeners = [
    on('SIGINT', 130, () => client.cancelRun({ run_id: runId, reason: 'SIGINT' })),
    on('SIGTERM', 143, stop),
    on('SIGHUP', 143, stop),
  ];
  return () => {
    for (const ignore of listeners) ignore();
  };
}
