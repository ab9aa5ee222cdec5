import type { RuntimeClient } from '../client/operations.ts';
import type { Ask } from '../schema/ask.ts';
import { askCard, cardLines, idsOf } from '../view/ask-card.ts';
import { choicesLines } from '../view/ask-choices.ts';
import { measure } from '../view/format.ts';
import type { Context } from './context.ts';
import { shownIds } from './ids.ts';

/** Keys in this time after a question was painted answer nothing (06 §9). */
const guardMs = 400;
const shownLines = 40;

/** An ask as it stands on the terminal: what was painted of it last, and when. Nothing is painted yet. */
export async function createPaintedAsk(context: Context, client: RuntimeClient, id: string) {
  const { terminal, process } = context;
  let ask: Ask = await client.showAsk({ id });
  const shown = await shownIds(context, client, 'err', idsOf(ask));
  let card = askCard(ask, process.now(), shown);
  let whole = false;
  let seen = false;
  let paintedAt = 0;
  const question = (): void => terminal.err(`${choicesLines(card.choices, terminal.columns).join('\n')}\n`);
  const paint = async (): Promise<void> => {
    const width = await measure(cardLines(card, Number.POSITIVE_INFINITY).lines);
    const screen = { columns: terminal.columns, width };
    const { lines, hidden } = cardLines(card, whole ? Number.POSITIVE_INFINITY : shownLines, screen);
    seen = hidden === 0;
    const [title = '', ...rest] = lines;
    terminal.err(`\n${terminal.style('err', 'bold', title)}\n${rest.join('\n')}\n`);
    question();
    paintedAt = process.now();
  };
  return {
    /** As it was read last. */
    ask: () => ask,
    choices: () => card.choices,
    /** An id as it is written here. */
    shown,
    paint,
    /** Its choices alone, below what is on the terminal. */
    question,
    /** Shows what was folded. */
    paintWhole(): Promise<void> {
      whole = true;
      return paint();
    },
    /** Reads it again, and paints it as at first. */
    async renew(): Promise<void> {
      ask = await client.showAsk({ id });
      card = askCard(ask, process.now(), shown);
      whole = false;
      await paint();
    },
    /** Whether every line of it was on the terminal. */
    wasSeen: () => seen,
    /** What is on the terminal is looked at from now on. */
    guard(): void {
      paintedAt = process.now();
    },
    /** A key that comes now may have been meant for what stood there before. */
    isGuarded: () => process.now() - paintedAt < guardMs,
  };
}
