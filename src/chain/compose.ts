import type { Branch } from '../schema/chain.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { History, Message } from '../schema/message.ts';
import type { Value } from './values.ts';

/** The variable that holds a composed result (04 §6.4). A branch without `when` is named by its operator. */
export function composedName(taskId: string, branch: Branch): string {
  const when = branch.when === undefined || branch.when === '' ? branch.operator : branch.when;
  return `${taskId}_${when.toLowerCase().replace(/[\s-]/g, '_')}_composed`;
}

/**
 * Joins the current output with the variable that a taken branch names (04 §8.4); the output as it is when the branch
 * composes nothing.
 * @param other the value of `with_var`; undefined when there is no such variable
 * @param assistant makes an assistant message of a text
 * @throws RuntimeError compose_failed
 */
export function compose(
  branch: Branch,
  current: Value,
  other: Value | undefined,
  assistant: (text: string) => Message,
): Value {
  if (branch.compose === undefined) return current;
  const { with_var } = branch.compose;
  if (other === undefined) throw failed(`there is no variable ${with_var}`);
  switch (branch.compose.strategy ?? usual(current, other)) {
    case 'override':
      return override(current, other);
    case 'merge_chat_histories': {
      const first = historyOf(other);
      const second = historyOf(current);
      if (first !== null && second !== null) return { type: 'chat_history', value: merge(first, second) };
      throw failed(
        `merge_chat_histories needs two histories; ${with_var} is ${other.type}, the output ${current.type}`,
      );
    }
    case 'append_string_to_chat_history': {
      const history = historyOf(current) ?? historyOf(other);
      const text = current.type === 'string' ? current.value : other.type === 'string' ? other.value : null;
      if (history !== null && typeof text === 'string') {
        return { type: 'chat_history', value: { ...history, messages: [...history.messages, assistant(text)] } };
      }
      throw failed(
        `append_string_to_chat_history needs a string and a history; ${with_var} is ${other.type}, the output ${current.type}`,
      );
    }
  }
}

const failed = (reason: string): RuntimeError => new RuntimeError('compose_failed', `compose failed: ${reason}`);

function usual(current: Value, other: Value): 'override' | 'merge_chat_histories' | 'append_string_to_chat_history' {
  const types = [current.type, other.type];
  if (types.every((type) => type === 'chat_history')) return 'merge_chat_histories';
  return types.includes('chat_history') && types.includes('string') ? 'append_string_to_chat_history' : 'override';
}

// A value of type chat_history is made by readHistory or by a handler, both of which yield a History.
const historyOf = (value: Value): History | null => (value.type === 'chat_history' ? (value.value as History) : null);

const objectOf = (value: Value): Readonly<Record<string, unknown>> | null =>
  typeof value.value === 'object' && value.value !== null && !Array.isArray(value.value)
    ? // Neither null nor an array, so its members are read by name.
      (value.value as Readonly<Record<string, unknown>>)
    : null;

function override(current: Value, other: Value): Value {
  const own = objectOf(current);
  const given = objectOf(other);
  if (own !== null && given !== null) {
    // The merged object is a history only if its messages are those of one.
    const messagesFrom = Object.hasOwn(own, 'messages') ? current.type : other.type;
    const type = messagesFrom === 'chat_history' ? 'chat_history' : 'json';
    return { type, value: { ...given, ...own } };
  }
  return own === null && given !== null ? other : current;
}

function merge(first: History, second: History): History {
  const sum = (a: number | undefined, b: number | undefined): number | undefined =>
    a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
  const input = sum(first.input_tokens, second.input_tokens);
  const output = sum(first.output_tokens, second.output_tokens);
  // An earlier state of the same conversation shares messages, and no message stands twice in a history (04 §6.3.1).
  const there = new Set(first.messages.map(({ id }) => id));
  const added = second.messages.filter(({ id }) => !there.has(id));
  const sameModel = typeof second.model === 'string' && first.model === second.model;
  return {
    messages: [...first.messages, ...added],
    ...(sameModel ? { model: second.model } : {}),
    ...(input === undefined ? {} : { input_tokens: input }),
    ...(output === undefined ? {} : { output_tokens: output }),
    ...(second.finish_reason === undefined ? {} : { finish_reason: second.finish_reason }),
  };
}
