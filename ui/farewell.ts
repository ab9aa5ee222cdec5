import type { RuntimeClient } from '../src/client/operations.ts';
import { verdictsFor } from '../src/schema/ask.ts';
import { escapeText } from '../src/view/escape.ts';
import { plural } from '../src/view/format.ts';
import { lastTurns, plainLines } from '../src/view/plain-lines.ts';
import { shownIdOf } from './approvals/approvals-state.ts';
import type { OwnRun } from './quitting.ts';
import { restingRun, type State } from './state.ts';

/** What is looked up when the program is left; null where it could not be. */
export type LastLook = { readonly messages: number | null; readonly resting: readonly string[] };

/** Never rejects: the program is left, whatever can be read. */
export async function lastLook(
  client: () => Promise<RuntimeClient>,
  ownRuns: () => Promise<readonly OwnRun[]>,
  state: State,
): Promise<LastLook> {
  const { session } = state;
  // Before a session is open, the program may not be able to open one at all.
  if (session === null || session.deleted) return { messages: null, resting: [] };
  try {
    const made = await client();
    const { total } = await made.showSession({ name: session.name, tail: 1, tools: false });
    const resting = restingRun(state);
    const own = (await ownRuns()).map(({ id }) => id);
    const ids = [...new Set([...(resting === null ? [] : [resting]), ...own])];
    return { messages: total, resting: ids.length === 0 ? [] : await made.shortIds({ ids }) };
  } catch {
    return { messages: null, resting: [] };
  }
}

/** Lines about what is left behind: one of the session, one of the runs, and the rest of the asks. */
const mostAsks = 3;

/** What stands on the main screen after the program has left it: the last turn, and what is still open (10 §1.5, §5.8). */
export function farewell(state: State, dump: string, { messages, resting }: LastLook): readonly string[] {
  const { session, items } = state;
  const kept = dump === 'none' ? [] : dump === 'all' ? items : lastTurns(items, 1);
  const count = messages === null ? '' : `, ${plural(messages, 'message')}`;
  const name = session === null ? [] : [`reins: session ${escapeText(session.name, { mode: 'line' })}${count}`];
  const [one, ...others] = resting;
  const runs =
    one === undefined
      ? []
      : others.length === 0
        ? [`reins: ${one} can go on: reins state resume ${one}`]
        : [`reins: ${resting.length} runs can go on: reins state list`];
  return [...kept.flatMap((item) => plainLines(item, state.thinkOpen)), ...name, ...runs, ...askLines(state)];
}

function askLines({ asks, approvals }: State): readonly string[] {
  const shown = asks.length > mostAsks ? mostAsks - 1 : mostAsks;
  const idOf = shownIdOf(approvals);
  const open = asks
    .slice(0, shown)
    .map(({ id, kind }) => `reins: open: reins approvals respond ${idOf(id)} ${verdictsFor(kind)}`);
  return asks.length > shown ? [...open, `reins: ${asks.length - shown} more open asks: reins approvals list`] : open;
}
