import type { ToolOutcome } from '../schema/protocol.ts';
import type { GateRun } from './run.ts';
import type { Judged } from './stages.ts';

/**
 * Notes how a call that may yet run would leave its file: the later calls of its message are asked about on top of that,
 * so that an answer to them still is about what will be made once the earlier ones have run. Where one of those does not
 * run, or somebody else changes the file, the file is another one than was asked about, and nothing is approved (03 §3.4).
 */
export function foresee(run: GateRun, { prepared }: Judged): void {
  const left = prepared.leaves?.();
  if (left !== undefined) run.foreseen.set(left.path, left.file);
}

/** The outcome of a call for which the run rests. */
export function restsFor(run: GateRun, judged: Judged): ToolOutcome {
  foresee(run, judged);
  return { kind: 'suspended' };
}
