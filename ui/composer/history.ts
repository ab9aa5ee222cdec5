import { type Draft, draftOf } from './draft.ts';
import { fuzzyBest } from './fuzzy.ts';

/** What was sent in this workspace, oldest first, and where in it the composer stands (10 §6.3). */
export type History = {
  readonly entries: readonly string[];
  readonly most: number;
  /** Steps back from the newest; 0 = the draft. */
  readonly back: number;
  /** The draft that stepping left behind. */
  readonly kept: Draft | null;
};

export const emptyHistory = (most = 1000): History => ({ entries: [], most, back: 0, kept: null });

/** Whether a text is written to the history: none that begins with a blank, and nothing twice in a row. */
const isKept = (history: History, text: string): boolean =>
  history.most > 0 && text.trim() !== '' && !/^\s/.test(text) && history.entries.at(-1) !== text;

/** Adds a sent text, and goes back to the end. */
export const remember = (history: History, text: string): History => ({
  ...history,
  entries: isKept(history, text) ? [...history.entries, text].slice(-history.most) : history.entries,
  back: 0,
  kept: null,
});

/** The stored entries, and behind them what was added before they were read. */
export const loaded = (history: History, stored: readonly string[], most: number): History => ({
  ...emptyHistory(most),
  entries: [...stored, ...history.entries.filter((entry) => !stored.includes(entry))].slice(
    most === 0 ? stored.length : -most,
  ),
});

export type Stepped = { readonly history: History; readonly draft: Draft };

/** One entry back or forward; null at either end. @param draft what the composer holds now */
export function step(history: History, by: 1 | -1, draft: Draft): Stepped | null {
  const back = history.back + by;
  if (back < 0 || back > history.entries.length) return null;
  const kept = history.back === 0 ? draft : history.kept;
  if (back === 0) return { history: { ...history, back: 0, kept: null }, draft: kept ?? draftOf('') };
  const entry = history.entries[history.entries.length - back] ?? '';
  // Going back, the caret stands where the next step back works; going forward, at the end.
  return { history: { ...history, back, kept }, draft: draftOf(entry) };
}

/** Entries that fit a search, newest first among equals, each text once. */
export const searched = (history: History, query: string, count: number): readonly string[] =>
  fuzzyBest(query, [...new Set(history.entries.toReversed())], (entry) => entry, count);

/** One line of the history file. */
export const historyLine = (at: string, text: string, session: string | null): string =>
  `${JSON.stringify({ at, text, session })}\n`;

/** The texts of a history file, oldest first; a line that cannot be read is skipped. */
export function readHistory(file: string, most: number): readonly string[] {
  const texts: string[] = [];
  for (const line of file.split('\n')) {
    const text = textOf(line);
    if (text !== null && texts.at(-1) !== text) texts.push(text);
  }
  return most === 0 ? [] : texts.slice(-most);
}

function textOf(line: string): string | null {
  try {
    const value: unknown = JSON.parse(line);
    const text = typeof value === 'object' && value !== null && 'text' in value ? value.text : null;
    return typeof text === 'string' && text.trim() !== '' ? text : null;
  } catch {
    return null;
  }
}
