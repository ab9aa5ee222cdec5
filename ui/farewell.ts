import type { RuntimeClient } from '../src/client/operations.ts';
import { verdictsFor } from '../src/schema/ask.ts';
import { toWire } from '../src/schema/errors.ts';
import { escapeText } from '../src/view/escape.ts';
import { plural } from '../src/view/format.ts';
import { plainLines } from '../src/view/plain-lines.ts';
import { boundedLines } from './bounded-lines.ts';
import { shownIdOf } from './approvals/approvals-state.ts';
import { dumpedItems } from './dump.ts';
import type { OwnRun } from './quitting.ts';
import { restingRun, type State } from './state.ts';
import { storedName } from './stored-name.ts';

/** What is looked up when the program is left; null where it could not be. */
export type LastLook = { readonly messages: number | null; readonly resting: readonly string[] };

/** Never rejects: the program is left, whatever can be read. */
export async function lastLook(
  client: () => Promise<RuntimeClient>,
  ownRuns: () => Promise<readonly OwnRun[]>,
  state: State,
): Promise<LastLook> {
  const { session } = state;
  // Before it has started, the program may not be able to open anything at all.
  if (state.phase === 'starting') return { messages: null, resting: [] };
  try {
    const made = await client();
    // Steps of a plan need no session.
    const name = session === null || session.deleted ? null : await storedName(made, session.id);
    const total = name === null ? null : (await made.showSession({ name, tail: 1, tools: false })).total;
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

/** The last turn, or all, for the main screen after the program has left it (10 §5.8). Never throws. */
export async function* lastWords(
  state: State,
  dump: string,
  client: () => Promise<RuntimeClient>,
): AsyncGenerator<string> {
  if (dump === 'none') return;
  try {
    const name = escapeText(state.session?.name ?? '', { mode: 'line' });
    for await (const items of dumpedItems(client, state, dump === 'all' ? null : 1))
      for (const item of items) {
        const lines = plainLines(item, state.thinkOpen);
        // Nobody asked for all of it, and it would push what was on the terminal before out of its memory.
        yield* dump === 'all' ? lines : boundedLines(lines, `reins session show ${name}`);
      }
  } catch (error) {
    yield `error: ${escapeText(toWire(error).message, { mode: 'line' })}`;
  }
}

/** What is still open when the program is left (10 §1.5). */
export function farewell(state: State, { messages, resting }: LastLook): readonly string[] {
  const { session } = state;
  const count = messages === null ? '' : `, ${plural(messages, 'message')}`;
  const name = session === null ? [] : [`reins: session ${escapeText(session.name, { mode: 'line' })}${count}`];
  const [one, ...others] = resting;
  const runs =
    one === undefined
      ? []
      : others.length === 0
        ? [`reins: ${one} can go on: reins state resume ${one}`]
        : [`reins: ${resting.length} runs can go on: reins state list`];
  return [...name, ...runs, ...askLines(state)];
}

function askLines({ asks, approvals }: State): readonly string[] {
  const shown = asks.length > mostAsks ? mostAsks - 1 : mostAsks;
  const idOf = shownIdOf(approvals);
  const open = asks
    .slice(0, shown)
    .map(({ id, kind }) => `reins: open: reins approvals respond ${idOf(id)} ${verdictsFor(kind)}`);
  return asks.length > shown ? [...open, `reins: ${asks.length - shown} more open asks: reins approvals list`] : open;
}
