import type { RunEvent } from '../src/schema/event.ts';
import type { RunRecord } from '../src/schema/run-record.ts';

/** How far a run has used up its bounds: as it was read, counted on by the events behind that. */
export type RunBounds = Pick<RunRecord, 'bounds' | 'last_seq'> & { readonly run_id: string };

export const boundsOf = ({ id, bounds, last_seq }: Pick<RunRecord, 'id' | 'bounds' | 'last_seq'>): RunBounds => ({
  run_id: id,
  bounds,
  last_seq,
});

/** One accepted call of the model, and one call that runs, are what the gate counts (02 §11). */
export function counted(known: RunBounds, event: RunEvent): RunBounds {
  if (event.run_id !== known.run_id || event.seq <= known.last_seq) return known;
  const { turns, tool_calls, tokens } = known.bounds;
  switch (event.kind) {
    case 'token_usage':
      return {
        ...known,
        last_seq: event.seq,
        bounds: {
          tool_calls,
          turns: { ...turns, used: turns.used + 1 },
          tokens: { ...tokens, used: tokens.used + event.total },
        },
      };
    case 'tool_call_started':
      return {
        ...known,
        last_seq: event.seq,
        bounds: { turns, tokens, tool_calls: { ...tool_calls, used: tool_calls.used + 1 } },
      };
    default:
      return known;
  }
}

/** More was used than the bound allows: it was granted once more meanwhile, and has to be read again. */
export const wasExtended = ({ bounds }: RunBounds): boolean =>
  // The last call may use more tokens than were left.
  [bounds.turns, bounds.tool_calls].some(({ used, max }) => max !== null && used > max);
