import { noResultRecorded, repairHistory } from '../chain/history.ts';
import type { Message } from '../schema/message.ts';
import type { Calls } from '../store/calls.ts';
import { ulid } from '../text/ids.ts';

/**
 * Results for the calls that a run left without one when it was stopped (07 §2.7): what was recorded is given again, and
 * of everything else nobody knows whether it ran.
 */
export function openResults(
  messages: readonly Message[],
  recorded: ReturnType<Calls['results']>,
  at: number,
): readonly Message[] {
  return repairHistory(messages, ({ id, function: called }) => {
    const { state, result = null } = recorded.get(id) ?? { state: 'unknown' };
    const found = result ?? { ok: false, error: 'interrupted', message: noResultRecorded };
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
