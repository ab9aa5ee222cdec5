import type { Message, ToolSpec } from '../schema/message.ts';
import { estimateTokens } from '../text/tokens.ts';

/** An image counts this many tokens (08 §9.1). */
const imageTokens = 1000;

/** Messages and tools are never changed once made, so their size is worked out once. */
const sizes = new WeakMap<object, number>();

function remembered<T extends object>(thing: T, size: (thing: T) => number): number {
  const known = sizes.get(thing);
  if (known !== undefined) return known;
  const tokens = size(thing);
  sizes.set(thing, tokens);
  return tokens;
}

/** Tokens of a message: 4, its content, the names and arguments of its calls, its images; not its `thinking`. */
export const messageTokens = (message: Message): number => remembered(message, tokensOf);

/** The same, for a caller that remembers it: ten thousand weak references cost more than the look itself. */
export function tokensOf({ content, tool_calls, images }: Message): number {
  let tokens = 4 + estimateTokens(content) + imageTokens * (images?.length ?? 0);
  for (const call of tool_calls ?? []) {
    tokens += estimateTokens(call.function.name) + estimateTokens(call.function.arguments);
  }
  return tokens;
}

export function historyTokens(messages: readonly Message[]): number {
  let tokens = 0;
  for (const message of messages) tokens += messageTokens(message);
  return tokens;
}

/** Tokens of the JSON of the offered tools: wire form of name, description and schema. */
export function toolsTokens(specs: readonly ToolSpec[]): number {
  let tokens = 0;
  for (const spec of specs) {
    tokens += remembered(spec, ({ tools, tool, description, input_schema }) =>
      estimateTokens(JSON.stringify({ name: `${tools}.${tool}`, description, parameters: input_schema })),
    );
  }
  return tokens;
}
