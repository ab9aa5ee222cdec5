import type { ToolSpec } from '../schema/message.ts';
import { wireName } from '../text/wire-name.ts';

/** Longer texts are not looked through: a call written as text is short. */
const longestLook = 65_536;
const name = /[A-Za-z0-9_.-]{1,130}/g;
const quotedName = /"([A-Za-z0-9_.-]{1,130})"/g;
const element = /<(?:tool_call|function_call|tool_use|function|invoke|tool)\b/;

/**
 * Whether an answer spells a call of an offered tool as text: in a fence, as a JSON object, in an element (04 §7.1.8).
 * Such a call is never executed; the caller only says so.
 */
export function spellsToolCall(text: string, offered: readonly ToolSpec[]): boolean {
  const shown = text.slice(0, longestLook);
  const names = new Set(offered.flatMap(({ tools, tool }) => [tool, `${tools}.${tool}`, wireName(`${tools}.${tool}`)]));
  const trimmed = shown.trim();
  const objects = shown.split('```').filter((part, index) => index % 2 === 1 && part.includes('{'));
  if (trimmed.startsWith('{')) objects.push(trimmed);
  if (objects.some((part) => holds(part.matchAll(quotedName), 1, names))) return true;
  const start = shown.search(element);
  return start >= 0 && holds(shown.slice(start).matchAll(name), 0, names);
}

function holds(matches: Iterable<RegExpMatchArray>, group: number, names: ReadonlySet<string>): boolean {
  for (const match of matches) if (names.has(match[group] ?? '')) return true;
  return false;
}
