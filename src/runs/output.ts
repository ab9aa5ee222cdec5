import type { History, Message } from '../schema/message.ts';
import type { HistoryRanges } from '../schema/protocol.ts';
import type { NumberedMessage } from '../schema/run-record.ts';

/** Messages of a run by number: its base, parsed when it is first needed, and its own rows. */
export type RunMessages = {
  at(number: number): Message | undefined;
};

export function runMessages(
  base: string,
  own: readonly { readonly seq: number; readonly payload: string }[],
): RunMessages {
  const rows = new Map(own.map((row) => [row.seq, row.payload]));
  let parsed: readonly Message[] | undefined;
  return {
    at(number) {
      const payload = rows.get(number);
      // Rows and base are our own JSON of checked messages.
      if (payload !== undefined) return JSON.parse(payload) as Message;
      parsed ??= JSON.parse(base) as readonly Message[];
      return parsed[number - 1];
    },
  };
}

/** The whole history that the engine named by ranges. */
export function materialise(ranges: HistoryRanges, messages: RunMessages): History {
  const { $history, ...rest } = ranges;
  const all: Message[] = [];
  for (const [from, to] of $history) {
    for (let number = from; number <= to; number += 1) {
      const message = messages.at(number);
      if (message !== undefined) all.push(message);
    }
  }
  return { messages: all, ...rest };
}

/** The last assistant message that has text; read from the end, so that a long history is not parsed for it. */
export function lastAnswer(ranges: HistoryRanges, messages: RunMessages): NumberedMessage | null {
  for (const [from, to] of ranges.$history.toReversed()) {
    for (let number = to; number >= from; number -= 1) {
      const message = messages.at(number);
      if (message?.role === 'assistant' && message.content !== '') return { number, message };
    }
  }
  return null;
}

/** What text format prints of an output that is no history (06 §8.1). */
export function outputText(type: string, value: unknown): string {
  switch (type) {
    case 'string':
      return String(value);
    case 'nil':
      return '';
    case 'int':
    case 'float':
    case 'bool':
      return JSON.stringify(value);
    default:
      return JSON.stringify(value, null, 2);
  }
}
