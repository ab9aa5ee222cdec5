import type { Message, ToolCallPart } from '../schema/message.ts';

/** A stretch `[start, end)` of a history that is kept or left out as a whole (04 §13.3.2). */
export type Unit = {
  readonly kind: 'system' | 'user' | 'exchange' | 'other';
  readonly start: number;
  readonly end: number;
};

/**
 * Splits a history into units: each system message, each assistant message with calls together with its results, each
 * other message. In a history that was not repaired a unit also takes what stands between a call and its result.
 */
export function units(messages: readonly Message[]): Unit[] {
  const reach = reaches(messages);
  const found: Unit[] = [];
  let start = 0;
  while (start < messages.length) {
    let end = start + 1;
    for (let index = start; index < end; index += 1) end = Math.max(end, reach[index] ?? end);
    found.push({ kind: kindOf(messages[start]), start, end });
    start = end;
  }
  return found;
}

function kindOf(message: Message | undefined): Unit['kind'] {
  if (message?.role === 'system' || message?.role === 'user') return message.role;
  return (message?.tool_calls?.length ?? 0) > 0 ? 'exchange' : 'other';
}

/** For each message the index behind the last one that belongs to it. */
function reaches(messages: readonly Message[]): number[] {
  const reach = messages.map((_, index) => index + 1);
  const first = new Map<string, number>();
  messages.forEach((message, index) => {
    const ids =
      message.role === 'tool' ? [message.tool_call_id ?? ''] : (message.tool_calls ?? []).map((call) => call.id);
    for (const id of ids) {
      const owner = first.get(id);
      if (owner === undefined) first.set(id, index);
      else reach[owner] = index + 1;
    }
  });
  return reach;
}

/**
 * Where compaction cuts (04 §13.4.1): the index before which everything is replaced, so that at least the `keep`
 * newest messages stay and no assistant message is separated from its results.
 */
export function cutBefore(messages: readonly Message[], keep: number): number {
  const wanted = Math.max(0, messages.length - Math.max(0, keep));
  return units(messages).find((unit) => unit.end > wanted)?.start ?? wanted;
}

export type Repaired = {
  /** The same array when nothing was wrong. */
  readonly messages: readonly Message[];
  /** Results that were made for calls without one, in order. */
  readonly added: readonly Message[];
  /** Results without call and second results. */
  readonly dropped: readonly Message[];
  readonly changed: boolean;
};

/** What the result says of a call that an earlier run left behind, and that may have run (04 §14.6). */
export const noResultRecorded = 'no result was recorded; do not assume that it ran or did not run';

type Slot = { readonly call: ToolCallPart; result: Message | null };

/**
 * Gives every call exactly one result, directly behind its assistant message and in call order (04 §14.6). Linear; a
 * history that is in order, as most are, costs one look and no copy.
 * `makeResult` makes the result of a call that has none; the caller knows whether it was interrupted or not executed.
 */
export function repairHistory(
  messages: readonly Message[],
  makeResult: (call: ToolCallPart, assistant: Message) => Message,
): Repaired {
  if (isOrderly(messages)) return { messages, added: [], dropped: [], changed: false };
  const { slots, dropped } = match(messages);
  const added: Message[] = [];
  const repaired: Message[] = [];
  messages.forEach((message, index) => {
    if (message.role === 'tool') return;
    repaired.push(message);
    for (const slot of slots.get(index) ?? []) {
      const result = slot.result ?? makeResult(slot.call, message);
      if (slot.result === null) added.push(result);
      repaired.push(result);
    }
  });
  return { messages: repaired, added, dropped, changed: true };
}

/** Whether behind every message stand the results of its calls, each once and in their order, and no others. */
function isOrderly(messages: readonly Message[]): boolean {
  let next = 0;
  while (next < messages.length) {
    const message = messages[next];
    if (message === undefined || message.role === 'tool') return false;
    next += 1;
    const calls = message.tool_calls ?? [];
    if (calls.length > 1 && new Set(calls.map((call) => call.id)).size < calls.length) return false;
    for (const call of calls) {
      const result = messages[next];
      if (result?.role !== 'tool' || (result.tool_call_id ?? '') !== call.id) return false;
      next += 1;
    }
  }
  return true;
}

/** The calls of each assistant message, by its index, with the first result of each; and the results left over. */
function match(messages: readonly Message[]): { slots: ReadonlyMap<number, readonly Slot[]>; dropped: Message[] } {
  const slots = new Map<number, Slot[]>();
  const open = new Map<string, Slot>();
  const early: Message[] = [];
  const dropped: Message[] = [];
  messages.forEach((message, index) => {
    if (message.role !== 'tool') {
      const own = (message.tool_calls ?? []).map((call): Slot => ({ call, result: null }));
      if (own.length > 0) slots.set(index, own);
      for (const slot of own) open.set(slot.call.id, slot);
      return;
    }
    const slot = open.get(message.tool_call_id ?? '');
    if (slot === undefined) early.push(message);
    else if (slot.result === null) slot.result = message;
    else dropped.push(message);
  });
  for (const message of early) {
    const slot = open.get(message.tool_call_id ?? '');
    if (slot !== undefined && slot.result === null) slot.result = message;
    else dropped.push(message);
  }
  return { slots, dropped };
}
