import type { BuiltInProvider } from '../schema/tool-names.ts';

/** Tools of the built-in toolsets and the arguments that each requires (05 §1.1, §4.8, §5.1, §6, §7). */
const tools: Readonly<Record<BuiltInProvider, Readonly<Record<string, readonly string[]>>>> = {
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
};

/** The same, for a name that may be any. */
export const builtInTools: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = tools;
