/** The tools that the program itself has, by provider, with the arguments that each requires (05 §1.1, §4.8, §5.1, §6, §7). */
const tools = {
  local_fs: {
    read_file: ['path'],
    read_file_range: ['path'],
    list_dir: [],
    find_files: ['pattern'],
    grep: ['pattern'],
    count_stats: ['path'],
    stat_file: ['path'],
    write_file: ['path', 'content'],
    edit_file: ['path', 'old_string', 'new_string'],
    sed: ['path', 'pattern', 'replacement'],
  },
  local_shell: { local_shell: ['command'] },
  web: {
    web_get: ['url'],
    web_head: ['url'],
    web_post: ['url'],
    web_put: ['url'],
    web_patch: ['url'],
    web_delete: ['url'],
  },
  webhook: { webhook: ['url'] },
  echo: { echo: ['input'] },
  print: { print: ['message'] },
  engine: { ask_human: ['question'] },
  plan_manager: {
    create_plan: ['goal'],
    run_next_step: [],
    get_plan_status: [],
    retry_step: ['ordinal'],
    skip_step: ['ordinal'],
  },
  plan_summary: { persist: ['text'], fallback: ['text'] },
  model_pull: { pull: ['model', 'backend'] },
} as const;

export type BuiltInProvider = keyof typeof tools;

/** The same, for a name that may be any. */
export const builtInTools: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = tools;

/** No hook and no tool server may take their names, whether or not a run registers them. */
export const builtInProviders: readonly string[] = Object.keys(tools);

/** What `*` in an allowlist leaves out: whoever writes a chain says whether its model may ask people. */
export const onlyByName: ReadonlySet<string> = new Set<BuiltInProvider>(['engine']);

/** Providers that runs of one kind are given; the catalog of any other run does not hold them. */
const ofOneKind: ReadonlySet<string> = new Set<BuiltInProvider>(['plan_manager', 'plan_summary', 'model_pull']);

/** What the catalog of every installation holds, for whoever writes the names of its tools (`unknown_tool`). */
export const catalogTools: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(builtInTools).flatMap(([provider, own]) =>
    ofOneKind.has(provider) ? [] : [[provider, Object.keys(own)] as const],
  ),
);
