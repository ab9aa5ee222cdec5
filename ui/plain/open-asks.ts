import type { Ask } from '../../src/schema/ask.ts';
import { labelled, type PlainLook } from '../../src/view/plain-lines.ts';
import { whatOf } from '../../src/view/what-of.ts';
import { shownIdOf } from '../approvals/approvals-state.ts';
import type { State } from '../state.ts';

export type OpenAsksDeps = {
  readonly write: (line: string) => void;
  readonly note: (text: string) => void;
  readonly look: () => PlainLook;
  readonly chosen: (ask: Ask) => void;
};

/** The open asks of every run as a list by number, one of which the next line chooses (10 §10.1). */
export type OpenAsks = {
  tell(state: Pick<State, 'asks' | 'approvals'>): void;
  /** What the next line chooses from; null = nothing. */
  prompt(): string | null;
  /** Takes a number, or nothing to go on. */
  take(text: string): void;
  /** @returns false where there was no list */
  close(): boolean;
};

/** Its first line: the whole of it is on the card. */
const firstOf = (what: string): string => what.replace(/\n.*$/s, ' ...');

export function createOpenAsks({ write, note, look, chosen }: OpenAsksDeps): OpenAsks {
  let listed: readonly Ask[] | null = null;
  const close = (): boolean => {
    const was = listed !== null;
    listed = null;
    return was;
  };
  return {
    tell({ asks, approvals }) {
      if (asks.length === 0) return note('nothing waits for an answer');
      const shown = shownIdOf(approvals);
      for (const [index, ask] of asks.entries()) {
        const from = ask.plan_name === null ? (ask.session_name ?? ask.chain_id ?? 'a run') : `plan ${ask.plan_name}`;
        const row = `${shown(ask.id)} - ${ask.tools}.${ask.tool} ${firstOf(whatOf(ask))} - from ${from}`;
        for (const each of labelled(`${index + 1}. `, row, look())) write(each);
      }
      listed = asks;
    },
    prompt: () => (listed === null ? null : `Enter a number, 1 to ${listed.length}, or nothing: `),
    take(text) {
      const line = text.trim();
      const ask = /^\d+$/.test(line) ? listed?.[Number(line) - 1] : undefined;
      if (ask === undefined && line !== '') return note('that is none of the numbers');
      close();
      if (ask !== undefined) chosen(ask);
    },
    close,
  };
}
