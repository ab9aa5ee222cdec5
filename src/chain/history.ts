import type { Message, ToolCallPart, ToolSpec } from '../schema/message.ts';

export function estimateTokens(_text: string): number {
  return 0;
}
export function messageTokens(_message: Message): number {
  return 0;
}
export function historyTokens(_messages: readonly Message[]): number {
  return 0;
}
export function toolsTokens(_specs: readonly ToolSpec[]): number {
  return 0;
}
/** A stretch `[start, end)` that is kept or left out as a whole (04 §13.3.2). */
export type Unit = {
  readonly kind: 'system' | 'user' | 'exchange' | 'other';
  readonly start: number;
  readonly end: number;
};
export function units(_messages: readonly Message[]): Unit[] {
  return [];
}
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
  /** Even the kept minimum is over the budget. */
  | { readonly kind: 'too_large'; readonly tokens: number };
export type ShiftParts = {
  /** Makes the user message of the gap line. */
  gap(text: string): Message;
  /** Shortens a tool result to at most this many bytes (04 §14.7). */
  shorten(result: Message, maxBytes: number): Message;
};
/** Drops old units until the history fits `budget` tokens (04 §13.3). */
export function shiftHistory(messages: readonly Message[], _budget: number, _parts: ShiftParts): Shifted {
  return { kind: 'fits', messages, tokens: 0 };
}
/** `--trim` (07 §2.4). */
export function trimHistory(messages: readonly Message[], _count: number): readonly Message[] {
  return messages;
}
export type Repaired = {
  /** The same array when nothing was wrong. */
  readonly messages: readonly Message[];
  readonly added: readonly Message[];
  readonly dropped: readonly Message[];
  readonly changed: boolean;
};
/** 04 §14.6. */
export function repairHistory(
  messages: readonly Message[],
  _makeResult: (call: ToolCallPart, assistant: Message) => Message,
): Repaired {
  return { messages, added: [], dropped: [], changed: false };
}
/** Start of the newest messages that compaction keeps: at least `keep` of them, never inside a unit (04 §13.4.1). */
export function cutBefore(_messages: readonly Message[], _keep: number): number {
  return 0;
}
