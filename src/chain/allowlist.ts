import { onlyByName } from '../schema/tool-names.ts';
import { wireName } from '../text/wire-name.ts';

/**
 * The grammar of 04 §11: `*`, `a`, `!a`, `a.tool`, `!a.tool`. An exclusion wins wherever it stands; an entry for one
 * tool wins over entries for its provider. A provider's name holds no dot, a tool's name may.
 */

/** Whether a task's allowlist exposes a tool. Absent, null and empty lists expose nothing. */
export function isAllowed(list: readonly string[] | null | undefined, tools: string, tool: string): boolean {
  if (list === null || list === undefined) return false;
  const one = `${tools}.${tool}`;
  if (list.includes(`!${one}`)) return false;
  if (list.includes(one)) return true;
  if (list.includes(`!${tools}`) || list.includes('!*')) return false;
  return list.includes(tools) || (list.includes('*') && !onlyByName.has(tools));
}

/**
 * Whether `hide_tools` names the tool: `tool`, `provider.tool`, or the name that models are given (05 §1.2). The digits
 * that tell two of those names apart, or that shorten one, are not known here.
 */
export function isHidden(hide: readonly string[] | undefined, tools: string, tool: string): boolean {
  if (hide === undefined || hide.length === 0) return false;
  const full = `${tools}.${tool}`;
  return hide.includes(tool) || hide.includes(full) || hide.includes(wireName(full));
}

/** What an allowlist entry names. */
export type AllowlistEntry = {
  readonly exclude: boolean;
  /** `*` for every provider. */
  readonly provider: string;
  readonly tool: string | null;
};

export function readEntry(text: string): AllowlistEntry {
  const exclude = text.startsWith('!');
  const name = exclude ? text.slice(1) : text;
  const dot = name.indexOf('.');
  return dot < 0
    ? { exclude, provider: name, tool: null }
    : { exclude, provider: name.slice(0, dot), tool: name.slice(dot + 1) };
}

/** True for a list that has entries and exposes nothing, whatever is registered (`allowlist_empty`). */
export function exposesNothing(list: readonly string[]): boolean {
  if (list.length === 0) return false;
  return list.every((text) => {
    const entry = readEntry(text);
    if (entry.exclude) return true;
    if (entry.tool !== null) return list.includes(`!${text}`);
    return list.includes(`!${entry.provider}`) || list.includes('!*');
  });
}
