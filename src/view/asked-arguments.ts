import type { Ask } from '../schema/ask.ts';
import { jsonErrorPosition } from '../text/json-position.ts';

/** The arguments of an ask as a person edits them. */
export const argumentsText = (ask: Pick<Ask, 'args'>): string =>
  `${JSON.stringify(ask.args, null, 2).replace(unseen, escaped)}\n`;

// What an editor may hide or use to reorder a line is written as the escape that JSON has for it.
const unseen = /[^\P{C}\n]|[\u2028\u2029]/gu;
const escaped = (found: string): string =>
  found.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

export type ReadArguments =
  | { readonly ok: true; readonly args: Record<string, unknown> }
  | { readonly ok: false; readonly message: string };

/** Reads edited arguments. @param original the text that editing began with */
export function readArguments(text: string, original: string): ReadArguments {
  const unread = (message: string): ReadArguments => ({ ok: false, message });
  if (text.trim() === original.trim()) return unread('nothing was changed');
  const place = jsonErrorPosition(text);
  if (place !== null) return unread(`that is not JSON: line ${place.line}, column ${place.column}; e opens it again`);
  const args: unknown = JSON.parse(text);
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return unread('the arguments must be a JSON object; e opens them again');
  }
  // True because JSON that is neither a scalar nor a list is an object.
  return { ok: true, args: args as Record<string, unknown> };
}
