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
  /** The tools of this task after its allowlist and `hide_tools`. */
  readonly tools: readonly { readonly tools: string; readonly tool: string }[];
  readonly edge_counts: Readonly<Record<string, number>>;
};

/**
 * Expands the macros of a plain field (`system_instruction`, `execute_config`). What is inserted is never parsed again;
 * a `{{…}}` that is no macro stays as it is. Template fields go through `renderTemplate`, which does both steps.
 * @throws RuntimeError task_error naming task, field and variable
 */
export function expandMacros(text: string, _scope: MacroScope, _field: string): string {
  return text;
}

/** The same for every string of a JSON value, at any depth; keys stay. */
export function expandStrings<T>(value: T, _scope: MacroScope, _field: string): T {
  return value;
}
