import { historyTokens, tokensOf } from '../chain/tokens.ts';
import type { History, Message, ToolCallPart } from '../schema/message.ts';
import { once } from '../text/once.ts';

/** First and last number, both included. */
export type Range = readonly [from: number, to: number];

/** A call without a result, and the message that asked for it. */
export type OpenCall = { readonly message: Message; readonly call: ToolCallPart };

/**
 * The messages of a run under one numbering from 1: those that stood before it, then its own (amendment 8). A history
 * is a list of numbers; a checkpoint holds ranges of them, never the messages. What a turn needs to know of a long
 * history is answered from its ranges, so the cost of a turn does not grow with the history; what only a lookup needs is
 * worked out at the first one.
 */
export type Ledger = {
  /** The number that the next new message gets. */
  readonly next: number;
  /** The history that the run began with: the base messages. */
  readonly base: History;
  /** Gives a message of the run's own its number, once; those of the base have theirs, as `unknown` knows. */
  add(message: Message): number;
  /** Messages of the history that have no number yet, in order. */
  unknown(messages: readonly Message[]): readonly Message[];
  /** The history plus one message, which gets a number. Costs no look at the earlier messages. */
  append(history: History, message: Message): History;
  /** Ranges of numbers of a history. @throws RangeError when a message is not known. */
  ranges(messages: readonly Message[]): readonly Range[];
  /** How many messages at the head of a history are exactly this other history: all of it, or 0. */
  sharedHead(messages: readonly Message[], head: readonly Message[]): number;
  /** The messages of ranges that this ledger wrote. @throws RangeError on a number that it never gave. */
  read(ranges: readonly Range[]): Message[];
  /** Estimated tokens of a list of messages, known or not (04 §13.2). */
  tokens(messages: readonly Message[]): number;
  /** Whether any message of the run is a system message, or holds images; a history without need not be looked through. */
  readonly hasSystem: boolean;
  readonly hasImages: boolean;
  /** Calls of the run's own messages that have no result yet, each with its message. */
  openCalls(): readonly OpenCall[];
  /** Whether a message with this call id is in the run, so that a new call may not use it (04 §6.3.2). */
  hasCallId(id: string): boolean;
  /** The results that a call has in the run, in whatever history, the oldest first. */
  resultsOf(callId: string): readonly Message[];
};

/** @param own messages that the run added before it was resumed, in order of their numbers. */
export function createLedger(base: readonly Message[], own: readonly Message[]): Ledger {
  const all: Message[] = [...base];
  const ownNumbers = new Map<Message, number>();
  const baseNumbers = once(() => new Map(base.map((message, index) => [message, index + 1])));
  const knownRanges = new WeakMap<readonly Message[], readonly Range[]>();
  const callIds = new Set<string>();
  /** How many messages have their calls in that set. */
  let callsRead = 0;
  /** Estimated tokens of the messages up to each number. */
  const sums = [0];
  let hasSystem = false;
  let hasImages = false;

  const look = (message: Message): void => {
    if (message.role === 'system') hasSystem = true;
    if (message.images !== undefined) hasImages = true;
  };
  const add = (message: Message): number => {
    const known = ownNumbers.get(message);
    if (known !== undefined) return known;
    all.push(message);
    ownNumbers.set(message, all.length);
    look(message);
    return all.length;
  };
  const numberOf = (message: Message): number | undefined => ownNumbers.get(message) ?? baseNumbers().get(message);
  const ranges = (messages: readonly Message[]): readonly Range[] => {
    const known = knownRanges.get(messages);
    if (known !== undefined) return known;
    const result: Range[] = [];
    let from = 0;
    let to = 0;
    for (const message of messages) {
      const number = numberOf(message);
      if (number === undefined) throw new RangeError(`message ${message.id} was never numbered`);
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
  const sumTo = (number: number): number => {
    for (let next = sums.length; next <= number; next += 1) {
      const message = all[next - 1];
      sums.push((sums[next - 1] ?? 0) + (message === undefined ? 0 : tokensOf(message)));
    }
    return sums[number] ?? 0;
  };

  for (const message of base) look(message);
  const baseMessages = [...base];
  knownRanges.set(baseMessages, base.length === 0 ? [] : [[1, base.length]]);
  for (const message of own) add(message);

  return {
    get next() {
      return all.length + 1;
    },
    base: { messages: baseMessages },
    add,
    unknown: (messages) =>
      knownRanges.has(messages) ? [] : messages.filter((message) => numberOf(message) === undefined),
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
    sharedHead: (messages, head) => (beginsWith(ranges(messages), ranges(head)) ? head.length : 0),
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
    tokens(messages) {
      const known = knownRanges.get(messages);
      if (known === undefined) return historyTokens(messages);
      return known.reduce((tokens, [from, to]) => tokens + sumTo(to) - sumTo(from - 1), 0);
    },
    get hasSystem() {
      return hasSystem;
    },
    get hasImages() {
      return hasImages;
    },
    openCalls() {
      const own = all.slice(base.length);
      const answered = new Set(own.map((message) => message.tool_call_id));
      return own
        .flatMap((message) => (message.tool_calls ?? []).map((call) => ({ message, call })))
        .filter(({ call }) => !answered.has(call.id));
    },
    hasCallId(id) {
      for (; callsRead < all.length; callsRead += 1) {
        for (const call of all[callsRead]?.tool_calls ?? []) callIds.add(call.id);
      }
      return callIds.has(id);
    },
    resultsOf: (callId) => all.filter(({ tool_call_id }) => tool_call_id === callId),
  };
}

function beginsWith(whole: readonly Range[], head: readonly Range[]): boolean {
  return head.every((range, index) => {
    const other = whole[index];
    if (other === undefined || other[0] !== range[0]) return false;
    return index === head.length - 1 ? other[1] >= range[1] : other[1] === range[1];
  });
}
