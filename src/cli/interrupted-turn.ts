import type { RuntimeClient } from '../client/operations.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { OnAsk, RunResult } from '../schema/run.ts';
import type { InterruptedTurn } from '../schema/session.ts';
import { confirmed } from './confirm.ts';
import type { Context } from './context.ts';
import { followRun } from './follow.ts';
import { createOutput, type Output } from './output.ts';
import { resolveTimeout } from './start-run.ts';

/**
 * Ends the turn that was stopped before this one (07 §2.7): on a terminal it is offered, elsewhere it is done. A call
 * that may have run is asked about first, like every other question of a run.
 * @returns null when the new turn may begin, else the exit code of this invocation
 * @throws RuntimeError in_use when it is to stay as it is
 */
export async function leaveInterrupted(
  context: Context,
  client: RuntimeClient,
  session: string | null,
  onAsk: OnAsk,
): Promise<number | null> {
  const turn = await client.interruptedTurn({ session });
  if (turn === null) return null;
  if (onAsk === 'ask' && !(await confirmed(context, question(turn)))) {
    throw new RuntimeError('in_use', `nothing was sent; ${turn.run_id} stays as it is`, {
      hints: [`reins state resume ${turn.run_id}`],
    });
  }
  // Without a call to ask about, the new turn ends the old one by itself.
  if (turn.unknown.length === 0) return null;
  const started = await client.resumeRun({
    run_id: turn.run_id,
    accept_changed_chain: true,
    on_ask: onAsk,
    timeout_ms: await resolveTimeout(context, client),
    settle: true,
  });
  let left = false;
  const exit = await followRun(context, client, started, {
    onAsk,
    output: onlyItsEnd(createOutput(context)),
    // It ends where its next step would begin.
    tells: (event) => event.kind !== 'step_started',
    ended(result) {
      left = isLeft(result);
      return left ? 0 : null;
    },
  });
  return left ? null : exit;
}

function question({ session, unknown }: InterruptedTurn): string {
  const [first] = unknown;
  const calls = unknown.length === 1 ? `a call of ${first}` : `${unknown.length} calls (${unknown.join(', ')})`;
  const open = first === undefined ? '' : `, and what became of ${calls} is unknown: that is asked first`;
  return `The last turn of "${session}" was stopped before it ended${open}. End it and send the new message? [y/n]`;
}

/** Ended because the new turn begins, or by somebody else meanwhile; not by this terminal. */
const isLeft = ({ status, exit_code }: RunResult): boolean => status === 'cancelled' && exit_code === 1;

/** stdout is the new turn's; where that does not come to be, the old one says why. */
function onlyItsEnd(output: Output): Output {
  const nothing = async (): Promise<void> => {};
  return { ...output, started: nothing, event: nothing };
}
