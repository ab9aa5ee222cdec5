import type { CreateModel } from '../models/model.ts';
import type { RunEnd, RunJob } from '../schema/protocol.ts';
import type { RunHost } from './host.ts';

/** What the engine cannot have by itself: models, time, ids and chance come in. */
export type EngineDeps = {
  readonly createModel: CreateModel;
  /** Milliseconds since the epoch. */
  now(): number;
  /** A lower-case ULID with its kind in front (`call_…`), without one for messages. */
  newId(kind: 'call' | 'message'): string;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Uniform in [0, 1). */
  random(): number;
};

/**
 * Executes a chain against its host, from its first task or from a checkpoint.
 * @returns how the run ended or rests. Never throws: what is not understood is a failed end of class `internal`.
 * On abort the end is `cancelled`, or `suspended` when the signal's reason has code `suspended` or `interrupted`.
 */
export async function runChain(
  _job: RunJob,
  _host: RunHost,
  _deps: EngineDeps,
  signal: AbortSignal,
): Promise<RunEnd> {
  return signal.aborted ? { kind: 'cancelled' } : { kind: 'suspended' };
}
