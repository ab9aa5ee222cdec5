import { toWire } from '../schema/errors.ts';
import type { RunEnd, RunJob } from '../schema/protocol.ts';
import { attempt, beginStep } from './attempt.ts';
import type { EngineDeps } from './deps.ts';
import { stoppedBy, stopOf } from './failure.ts';
import type { RunHost } from './host.ts';
import { openRun, positionOf, type Run } from './run.ts';
import { closeCalls, settle } from './settle.ts';

/**
 * Executes a chain against its host, from its first task or from a checkpoint.
 * @returns how the run ended or rests. Never throws: what is not understood is a failed end of class `internal`. On
 * abort the code of the signal's reason decides: `suspended` for that and `interrupted`, and the run goes on from its last
 * checkpoint; else `cancelled`, where the step says `timeout` for that code.
 */
export async function runChain(job: RunJob, host: RunHost, deps: EngineDeps, signal: AbortSignal): Promise<RunEnd> {
  let run: Run;
  try {
    run = openRun(job, host, deps, signal);
  } catch (error) {
    return endOf(error, signal);
  }
  try {
    const end = await follow(run).catch((error: unknown) => endOf(error, signal));
    // A run that rests goes on with its open calls; any other end answers them.
    if (end.kind !== 'suspended') closeCalls(run, positionOf(run));
    return end;
  } catch (error) {
    return endOf(error, signal);
  } finally {
    run.close();
  }
}

/** The state machine: an attempt at the present task, and what it comes to. */
async function follow(run: Run): Promise<RunEnd> {
  for (;;) {
    if (run.signal.aborted) return stoppedBy(run.signal);
    const step = beginStep(run);
    // Each handler stores the state before it asks for anything; in between there is nothing to lose (03 §11).
    const settled = settle(step, await attempt(step));
    if (settled.kind === 'end') return settled.end;
  }
}

/** The host refused a request outside an attempt, or something is broken. */
function endOf(error: unknown, signal: AbortSignal): RunEnd {
  const stop = stopOf(error, signal);
  if (stop !== null) return stop;
  const { code, message } = toWire(error);
  return { kind: 'failed', error: { class: code, message } };
}
