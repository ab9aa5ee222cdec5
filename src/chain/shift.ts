import type { Message } from '../schema/message.ts';
import { type Unit, units } from './history.ts';
import { historyTokens, messageTokens } from './tokens.ts';

export type Shifted =
  | { readonly kind: 'fits'; readonly messages: readonly Message[]; readonly tokens: number }
  | {
      readonly kind: 'shifted';
      readonly messages: readonly Message[];
      readonly dropped_messages: number;
      readonly kept_messages: number;
      readonly before_tokens: number;
      readonly after_tokens: number;
    }
  /** Even the kept minimum is over the budget; `tokens` is the size of the whole history. */
  | { readonly kind: 'too_large'; readonly tokens: number };

export type ShiftParts = {
  /** Makes the user message of the gap line. */
  gap(text: string): Message;
  /** Shortens a tool result to at most this many bytes (04 §14.7). */
  shorten(result: Message, maxBytes: number): Message;
};

/**
 * Leaves out old units until the history fits `budget` tokens (04 §13.3). System units, the first user unit and the
 * newest unit stay; a gap is marked by one user line. Expects a repaired history; changes nothing in it.
 */
export function shiftHistory(messages: readonly Message[], budget: number, parts: ShiftParts): Shifted {
  const before = historyTokens(messages);
  if (before <= budget) return { kind: 'fits', messages, tokens: before };
  const sized = units(messages).map((unit) => ({
    ...unit,
    tokens: historyTokens(messages.slice(unit.start, unit.end)),
  }));
  const firstUser = sized.findIndex((unit) => unit.kind === 'user');
  const shifted = shiftAround(messages, sized, firstUser, before, budget, parts);
  // A first message that leaves no room for a later one would end its session for good: it goes like any other.
  const hasLater = sized.some((unit, index) => unit.kind === 'user' && index > firstUser);
  if (shifted.kind !== 'too_large' || !hasLater) return shifted;
  return shiftAround(messages, sized, null, before, budget, parts);
}

type SizedUnit = Unit & { readonly tokens: number };

/** @param first the unit that stays beside system units and the newest one, or null */
function shiftAround(
  messages: readonly Message[],
  sized: readonly SizedUnit[],
  first: number | null,
  before: number,
  budget: number,
  parts: ShiftParts,
): Shifted {
  const newest = sized.findLastIndex((unit) => unit.kind !== 'system');
  const kept = new Set<number>();
  let left = budget - messageTokens(parts.gap(gapLine(messages.length)));
  sized.forEach((unit, index) => {
    if (unit.kind !== 'system' && index !== first) return;
    kept.add(index);
    left -= unit.tokens;
  });
  let shortened: ReadonlyMap<number, Message> = new Map();
  for (let index = newest; index >= 0; index -= 1) {
    const unit = sized[index];
    if (unit === undefined || kept.has(index)) continue;
    if (unit.tokens > left) {
      if (index !== newest) break;
      const shorter = shortenResults(messages, unit, unit.tokens - left, parts);
      if (shorter === null) return { kind: 'too_large', tokens: before };
      kept.add(index);
      shortened = shorter;
      break;
    }
    left -= unit.tokens;
    kept.add(index);
  }
  return assemble(messages, sized, kept, shortened, before, budget, parts);
}

const gapLine = (count: number): string => `[earlier messages left out: ${count}]`;

function assemble(
  messages: readonly Message[],
  all: readonly Unit[],
  kept: ReadonlySet<number>,
  shortened: ReadonlyMap<number, Message>,
  before: number,
  budget: number,
  parts: ShiftParts,
): Shifted {
  const dropped = all.reduce((sum, unit, index) => (kept.has(index) ? sum : sum + unit.end - unit.start), 0);
  const result: Message[] = [];
  let gapStands = dropped === 0;
  all.forEach((unit, index) => {
    if (kept.has(index)) {
      for (let at = unit.start; at < unit.end; at += 1) {
        const message = shortened.get(at) ?? messages[at];
        if (message !== undefined) result.push(message);
      }
    } else if (!gapStands) {
      result.push(parts.gap(gapLine(dropped)));
      gapStands = true;
    }
  });
  const after = historyTokens(result);
  if (after > budget) return { kind: 'too_large', tokens: before };
  return {
    kind: 'shifted',
    messages: result,
    dropped_messages: dropped,
    kept_messages: messages.length - dropped,
    before_tokens: before,
    after_tokens: after,
  };
}

/** No result is cut below this many bytes (04 §14.7). */
const leastResultBytes = 2048;

/**
 * Shortens the largest tool results of a unit until it is `excess` tokens smaller (04 §13.3.3).
 * Returns the replaced messages by index, null when that is not enough.
 */
function shortenResults(
  messages: readonly Message[],
  unit: Unit,
  excess: number,
  parts: ShiftParts,
): ReadonlyMap<number, Message> | null {
  const results: { readonly at: number; readonly message: Message; readonly tokens: number }[] = [];
  for (let at = unit.start; at < unit.end; at += 1) {
    const message = messages[at];
    if (message?.role === 'tool') results.push({ at, message, tokens: messageTokens(message) });
  }
  results.sort((a, b) => b.tokens - a.tokens || a.at - b.at);
  const replaced = new Map<number, Message>();
  let left = excess;
  for (const { at, message, tokens } of results) {
    if (left <= 0) break;
    const wanted = tokens - left;
    // Three bytes a token, as in 04 §14.7, is too many for letters of two bytes, which are a token each.
    let bytes = Math.max(leastResultBytes, (wanted - 4) * 3);
    let shorter = parts.shorten(message, bytes);
    while (messageTokens(shorter) > wanted && bytes > leastResultBytes) {
      bytes = Math.max(leastResultBytes, Math.floor(bytes * 0.8));
      shorter = parts.shorten(message, bytes);
    }
    const saved = tokens - messageTokens(shorter);
    if (saved <= 0) continue;
    replaced.set(at, shorter);
    left -= saved;
  }
  return left <= 0 ? replaced : null;
}
