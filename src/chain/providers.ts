import type { Chain } from '../schema/chain.ts';
import { onlyByName } from '../schema/tool-names.ts';
import { isAllowed, readEntry } from './allowlist.ts';

/**
 * Whether some task of a chain may call a tool of a provider, or this one of its tools: by an allowlist, or by naming it.
 * What is only known when the task runs counts as any. Pure; a provider that no task may use need not be contacted
 * (05 §10.2).
 */
export function mayUse(chain: Chain, provider: string, tool?: string): boolean {
  return chain.tasks.some(({ execute_config, tools }) => {
    if (tools !== undefined && (isOpen(tools.name) || tools.name === provider)) {
      const named = tools.tool_name ?? '';
      if (tool === undefined || named === '' || isOpen(named) || named === tool) return true;
    }
    const list = execute_config?.tools ?? [];
    if (list.some(isOpen)) return true;
    return tool === undefined ? exposes(list, provider) : isAllowed(list, provider, tool);
  });
}

const isOpen = (text: string): boolean => text.includes('{{');

function exposes(list: readonly string[], provider: string): boolean {
  const entries = list.map(readEntry);
  const names = (excluded: boolean, whole: boolean) =>
    entries.some(
      (entry) =>
        entry.exclude === excluded &&
        (entry.tool === null) === whole &&
        (entry.provider === provider || (whole && entry.provider === '*' && (excluded || !onlyByName.has(provider)))),
    );
  return names(false, false) || (names(false, true) && !names(true, true));
}
