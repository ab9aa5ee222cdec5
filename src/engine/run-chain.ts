import { RuntimeError, toWire } from '../schema/errors.ts';
import type { RunEnd, RunJob } from '../schema/protocol.ts';
import { attempt, beginStep } from './attempt.ts';
import type { EngineDeps } from './deps.ts';
import { stoppedBy } from './failure.ts';
import type { RunHost } from './host.ts';
import { openRun, positionOf, type Run } from './run.ts';
import { closeCalls, settle } from './settle.ts';

/**
 * Executes a chain against its host, from its first task or from a checkpoint.
 * @returns how the run ended or rests. Never throws: what is not understood is a failed end of class `internal`.
 * On abort the end is `cancelled` (its step says `timeout` when that is the code of the signal's reason), or `suspended` when the signal's reason is a RuntimeError of code `suspended` or
 * `interrupted`; then the run goes on from its last checkpoint.
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
  if (signal.aborted) return stoppedBy(signal);
  if (error instanceof RuntimeError && error.code === 'cancelled') return { kind: 'cancelled' };
  if (error instanceof RuntimeError && (error.code === 'suspended' || error.code === 'interrupted')) {
    return { kind: 'suspended' };
  }
  const { code, message } = toWire(error);
  return { kind: 'failed', error: { class: code, message } };
}
