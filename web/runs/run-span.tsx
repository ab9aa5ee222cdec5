import { useMemo } from 'react';
import type { RunSummary } from '../../src/schema/run-record.ts';
import { runSpan } from '../../src/view/format.ts';
import { useNow } from '../data/use-now.ts';

type Run = Pick<RunSummary, 'status' | 'duration_ms'>;

/** How long a run took, or has taken by now: while it is under way the time goes on between two readings of it. */
export function RunSpan({ run }: { readonly run: Run }) {
  const goesOn = run.status === 'running' || run.status === 'waiting';
  const now = useNow(goesOn ? 1000 : null);
  // Counted from its reading: the clock of a server elsewhere may be another one.
  const read = useMemo(() => ({ run, at: Date.now() }), [run]);
  const since = goesOn ? Math.max(0, now - read.at) : 0;
  return runSpan({ status: run.status, duration_ms: run.duration_ms + since });
}
