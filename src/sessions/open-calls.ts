import { noResultRecorded, repairHistory } from '../chain/history.ts';
import { type Message, neverBegun } from '../schema/message.ts';
import type { Calls } from '../store/calls.ts';
import { ulid } from '../text/ids.ts';

type Recorded = ReturnType<Calls['results']>;

/** Whose row is missing was never started: the row comes first (03 §11). */
const hadNotBegun: Recorded extends ReadonlyMap<string, infer R> ? R : never = { state: 'skipped', result: null };

/**
 * Results for the calls that a run left without one when it was stopped (07 §2.7): what was recorded is given again, what
 * had not begun was not run, and of everything else nobody knows.
 */
export function openResults(messages: readonly Message[], recorded: Recorded, at: number): readonly Message[] {
  return repairHistory(messages, ({ id, function: called }) => {
    const { state, result } = recorded.get(id) ?? hadNotBegun;
    const found =
      result ?? (state === 'done' ? null : interrupted(state === 'skipped' ? neverBegun : noResultRecorded));
    return {
      id: ulid(at),
      role: 'tool',
      content: typeof found === 'string' ? found : JSON.stringify(found),
      timestamp: new Date(at).toISOString(),
      tool_call_id: id,
      tool_name: called.name,
      is_error: state !== 'done',
    };
  }).added;
}

const interrupted = (message: string) => ({ ok: false, error: 'interrupted', message });
