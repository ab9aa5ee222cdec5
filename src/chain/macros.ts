import { ownMember } from '../text/own-member.ts';
import { isHidden } from './allowlist.ts';
import { formatTime } from './clock.ts';
import { type Macro, macroOf, macroSites } from './macro-syntax.ts';
import { edgeCount } from './transition.ts';
import { taskError } from './values.ts';

/** What macros may read (04 §10): the instant and the live state of one attempt. */
export type MacroScope = {
  readonly task_id: string;
  readonly chain_id: string;
  /** The caller's variables. */
  readonly variables: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch; one instant for all fields of an attempt. */
  readonly now: number;
  /** IANA name; empty = the zone of this process, which costs nothing. */
  readonly timezone: string;
  readonly host: { readonly os: string; readonly arch: string };
  /** The tools of this task after its allowlist; those of `hide_tools` may still be in it. */
  readonly tools: readonly { readonly tools: string; readonly tool: string }[];
  readonly hide_tools?: readonly string[];
  readonly edge_counts: Readonly<Record<string, number>>;
};

/**
 * Expands the macros of a plain field (`system_instruction`, `execute_config`). What is inserted is never parsed again;
 * a `{{…}}` that is no macro stays as it is. Template fields go through `renderTemplate`, which does both steps.
 * @throws RuntimeError task_error naming task, field and variable
 */
export function expandMacros(text: string, scope: MacroScope, field: string): string {
  let result = '';
  let from = 0;
  for (const site of macroSites(text)) {
    const macro = macroOf(site);
    if (macro === null) continue;
    result += text.slice(from, site.start) + expandMacro(macro, scope, field);
    from = site.end;
  }
  return from === 0 ? text : result + text.slice(from);
}

/** The same for every string of a JSON value, at any depth; names of members stay. @throws as expandMacros */
export function expandStrings<T>(value: T, scope: MacroScope, field: string): T {
  // Strings become strings, arrays arrays and objects objects with the same names, so the shape is that of T.
  return expandValue(value, scope, field) as T;
}

function expandValue(value: unknown, scope: MacroScope, field: string): unknown {
  if (typeof value === 'string') return expandMacros(value, scope, field);
  if (Array.isArray(value)) return value.map((item) => expandValue(item, scope, field));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, expandValue(item, scope, `${field}.${name}`)]),
  );
}

/** What one macro yields. @throws RuntimeError task_error */
export function expandMacro(macro: Macro, scope: MacroScope, field: string): string {
  switch (macro.kind) {
    case 'var':
      return variable(macro, scope, field);
    case 'time':
      return formatTime(scope.now, scope.timezone, macro.layout);
    case 'chain':
      return scope.chain_id;
    case 'tools_by_provider':
      return JSON.stringify(Object.fromEntries(toolNames(scope)));
    case 'providers':
      return JSON.stringify([...toolNames(scope).keys()]);
    case 'tools_of':
      return JSON.stringify(toolNames(scope).get(macro.provider) ?? []);
    case 'host':
      return scope.host[macro.part];
    case 'edge_count':
      return String(edgeCount(scope.edge_counts, macro.edge));
    case 'bad':
      throw taskError('bad_macro', `task ${scope.task_id}, ${field}: ${macro.message}`);
  }
}

function variable(macro: Macro & { readonly kind: 'var' }, scope: MacroScope, field: string): string {
  for (const name of macro.names) {
    for (const spelling of [name, name.replaceAll('-', '_'), name.replaceAll('_', '-')]) {
      const value = ownMember(scope.variables, spelling);
      if (value !== undefined && value !== '') return value;
    }
  }
  if (macro.text !== null) return macro.text;
  const one = macro.names.length === 1 ? `variable ${macro.names[0]} is` : `variables ${macro.names.join(', ')} are`;
  throw taskError('missing_variable', `task ${scope.task_id}, ${field}: the ${one} not set; pass --var name=value`);
}

/** Providers in order with their sorted tool names, without hidden tools. */
function toolNames(scope: MacroScope): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const shown = scope.tools.filter(({ tools, tool }) => !isHidden(scope.hide_tools, tools, tool));
  for (const provider of [...new Set(shown.map(({ tools }) => tools))].sort()) {
    found.set(
      provider,
      shown
        .filter(({ tools }) => tools === provider)
        .map(({ tool }) => tool)
        .sort(),
    );
  }
  return found;
}
