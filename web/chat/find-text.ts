import { callName, callSummary } from '../../src/view/call-summary.ts';
import type { Item } from '../../src/view/items.ts';
import { jsonText } from '../parts/json-text.ts';
import { readableResult } from './call-result.ts';

/** What is looked for, in whatever case, and over whatever blanks; null where it says nothing. */
export function patternOf(text: string): RegExp | null {
  const words = text
    .normalize('NFC')
    .split(/\s+/u)
    .filter((word) => word !== '');
  if (words.length === 0) return null;
  return new RegExp(
    words.map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`)).join(String.raw`\s+`),
    'iu',
  );
}

/**
 * Ids of the items that hold what is looked for, the newest first, so that older ones which come later change no place.
 * What did not change since the last time is not read again.
 */
export function createFinder(pattern: RegExp): (items: readonly Item[]) => readonly string[] {
  const known = new WeakMap<Item, boolean>();
  const has = (item: Item): boolean => {
    const before = known.get(item);
    if (before !== undefined) return before;
    const found = textsOf(item).some((text) => pattern.test(text.normalize('NFC')));
    known.set(item, found);
    return found;
  };
  return (items) => items.flatMap((item) => (has(item) ? [item.id] : [])).toReversed();
}

/** Everything that can be seen of an item, also what is folded. */
function textsOf(item: Item): readonly string[] {
  switch (item.kind) {
    case 'call':
      return [
        callName(item),
        callSummary(item.args),
        item.diff ?? jsonText(item.args),
        item.result === null ? item.output : readableResult(item.result),
      ];
    case 'ask':
      return [item.summary];
    case 'end':
      return [item.class === item.status ? item.text : `${item.class}: ${item.text}`];
    case 'user':
    case 'assistant':
    case 'reasoning':
    case 'notice':
      return [item.text];
  }
}

/** Who has said an item, and a little of it around what was found: for who does not see where it is marked. */
export function foundWords(item: Item, pattern: RegExp): string {
  const text = (textsOf(item).find((each) => pattern.test(each)) ?? '').replaceAll(/\s+/gu, ' ');
  const at = Math.max(0, text.search(pattern));
  const from = Math.max(0, at - around);
  const piece = text.slice(from, at + around * 2).toWellFormed();
  return `${speakers[item.kind]}: ${from > 0 ? '…' : ''}${piece}${at + around * 2 < text.length ? '…' : ''}`;
}

const around = 40;
const speakers: Readonly<Record<Item['kind'], string>> = {
  user: 'you',
  assistant: 'Reins',
  reasoning: 'thought',
  call: 'tool call',
  ask: 'question',
  notice: 'notice',
  end: 'end of a run',
};
