import type { RuntimeClient } from '../src/client/operations.ts';
import { toWire } from '../src/schema/errors.ts';
import { escapeText } from '../src/view/escape.ts';
import { plainLines } from '../src/view/plain-lines.ts';
import { dumpedItems } from './dump.ts';
import type { State } from './state.ts';

/** Most asks that are named. */
const mostAsks = 3;

/**
 * What stands on the main screen after the program has left it: the last turn or all, and what is still open
 * (10 §1.5, §5.8). Never throws.
 */
export async function* farewell(
  state: State,
  dump: string,
  client: () => Promise<RuntimeClient>,
): AsyncGenerator<string> {
  try {
    if (dump !== 'none')
      for await (const items of dumpedItems(client, state, dump === 'all' ? null : 1))
        for (const item of items) yield* plainLines(item, state.thinkOpen);
  } catch (error) {
    yield `error: ${escapeText(toWire(error).message, { mode: 'line' })}`;
  }
  const { session, asks } = state;
  const name = session === null ? [] : [`reins: session ${escapeText(session.name, { mode: 'line' })}`];
  const open = asks.slice(0, mostAsks).map((ask) => `reins: open: reins approvals respond ${ask.id} --approve|--deny`);
  const more = asks.length > mostAsks ? [`reins: ${asks.length - mostAsks} more open asks: reins approvals list`] : [];
  yield* [...name, ...open, ...more];
}
