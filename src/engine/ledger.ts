import type { History, Message, ToolCallPart } from '../schema/message.ts';

/** First and last number, both included. */
export type Range = readonly [from: number, to: number];

/**
 * The messages of a run under one numbering from 1: those that stood before it, then its own (amendment 8). A history
 * is a list of numbers; a checkpoint holds ranges of them, never the messages.
 */
export type Ledger = {
  /** The number that the next new message gets. */
  readonly next: number;
  /** The history that the run began with: the base messages. */
  readonly base: readonly Message[];
  isBase(message: Message): boolean;
  /** Gives a new message its number. @throws never; a known message keeps the number it has. */
  add(message: Message): number;
  /** Messages of the history that have no number yet, in order. */
  unknown(messages: readonly Message[]): readonly Message[];
  /** The history plus one message, which gets a number. Costs no look at the earlier messages. */
  append(history: History, message: Message): History;
  /** Ranges of numbers of a history whose messages are all known. */
  ranges(messages: readonly Message[]): readonly Range[];
  /** The messages of ranges that this ledger wrote. @throws RangeError on a number that it never gave. */
  read(ranges: readonly Range[]): Message[];
  /** Calls of the run's own messages that have no result yet. */
  openCalls(): readonly ToolCallPart[];
  /** Whether a message with this call id is in the run, so that a new call may not use it (04 §6.3.2). */
  hasCallId(id: string): boolean;
};

/** @param own messages that the run added before it was resumed, in order of their numbers. */
export function createLedger(base: readonly Message[], own: readonly Message[]): Ledger {
  const all: Message[] = [];
  const numbers = new WeakMap<Message, number>();
  const knownRanges = new WeakMap<readonly Message[], readonly Range[]>();
  const callIds = new Set<string>();

  const add = (message: Message): number => {
    const known = numbers.get(message);
    if (known !== undefined) return known;
    all.push(message);
    numbers.set(message, all.length);
    for (const call of message.tool_calls ?? []) callIds.add(call.id);
    return all.length;
  };
  const numberOf = (message: Message): number => {
    const number = numbers.get(message);
    if (number === undefined) throw new RangeError(`message ${message.id} was never numbered`);
    return number;
  };
  const ranges = (messages: readonly Message[]): readonly Range[] => {
    const known = knownRanges.get(messages);
    if (known !== undefined) return known;
    const result: Range[] = [];
    let from = 0;
    let to = 0;
    for (const message of messages) {
      const number = numberOf(message);
      if (from > 0 && number === to + 1) {
        to = number;
        continue;
      }
      if (from > 0) result.push([from, to]);
      from = number;
      to = number;
    }
    if (from > 0) result.push([from, to]);
    knownRanges.set(messages, result);
    return result;
  };

  for (const message of base) add(message);
  for (const message of own) add(message);

  return {
    get next() {
      return all.length + 1;
    },
    base,
    isBase: (message) => (numbers.get(message) ?? all.length + 1) <= base.length,
    add,
    unknown: (messages) => (knownRanges.has(messages) ? [] : messages.filter((message) => !numbers.has(message))),
    append(history, message) {
      const before = ranges(history.messages);
      const number = add(message);
      const messages = [...history.messages, message];
      const last = before.at(-1);
      knownRanges.set(
        messages,
        last !== undefined && last[1] === number - 1
          ? [...before.slice(0, -1), [last[0], number]]
          : [...before, [number, number]],
      );
      return { ...history, messages };
    },
    ranges,
    read(wanted) {
      const messages: Message[] = [];
      for (const [from, to] of wanted) {
        for (let number = from; number <= to; number += 1) {
          const message = all[number - 1];
          if (message === undefined) throw new RangeError(`the run has no message ${number}`);
          messages.push(message);
        }
      }
      knownRanges.set(messages, wanted);
      return messages;
    },
    openCalls() {
      const own = all.slice(base.length);
      const answered = new Set(own.map((message) => message.tool_call_id));
      return own.flatMap((message) => message.tool_calls ?? []).filter((call) => !answered.has(call.id));
    },
    hasCallId: (id) => callIds.has(id),
  };
}
