import type { Ask } from '../schema/ask.ts';
import type { Context } from './context.ts';
import { editText } from './editor.ts';
import { jsonErrorPosition } from './json-position.ts';
import type { Keys } from './keys.ts';

export type EditedArguments =
  | { readonly kind: 'changed'; readonly args: Record<string, unknown>; readonly text: string }
  /** `text` is what was saved, to go on with; null when nothing was. */
  | { readonly kind: 'not_changed'; readonly message: string; readonly text: string | null };

/** The arguments of an ask as a person edits them. */
export const argumentsText = (ask: Ask): string => `${JSON.stringify(ask.args, null, 2).replace(unseen, escaped)}\n`;

// What an editor may hide or use to reorder a line is written as the escape that JSON has for it.
const unseen = /[^\P{C}\n]|[\u2028\u2029]/gu;
const escaped = (found: string): string =>
  found.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Gives the terminal to the editor, and reads what was saved. @param text what it begins with */
export async function editArguments(context: Context, keys: Keys, text: string): Promise<EditedArguments> {
  const { process, terminal } = context;
  keys.lend();
  const edited = await terminal
    .lend(() => editText(process.environment, 'arguments.json', text))
    .finally(() => keys.take());
  if (edited.kind === 'failed') return { kind: 'not_changed', message: edited.message, text: null };
  const unread = (message: string): EditedArguments => ({ kind: 'not_changed', message, text: edited.text });
  if (edited.text === text) return unread('nothing was changed');
  const place = jsonErrorPosition(edited.text);
  if (place !== null) return unread(`that is not JSON: line ${place.line}, column ${place.column}; e opens it again`);
  const args: unknown = JSON.parse(edited.text);
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return unread('the arguments must be a JSON object; e opens them again');
  }
  // True because JSON that is neither a scalar nor a list is an object.
  return { kind: 'changed', args: args as Record<string, unknown>, text: edited.text };
}
