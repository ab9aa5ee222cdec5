/** Tool providers that every installation has (05 §1.1), whether or not a run registers them. No other may take their names. */
export const builtInProviders = [
  'local_fs',
  'local_shell',
  'web',
  'webhook',
  'echo',
  'print',
  'engine',
  'plan_manager',
  'plan_summary',
  'model_pull',
] as const;
export type BuiltInProvider = (typeof builtInProviders)[number];

/** What `*` in an allowlist leaves out: whoever writes a chain says whether its model may ask people. */
export const onlyByName: ReadonlySet<string> = new Set<BuiltInProvider>(['engine']);

/** The tools of those that come as they are with every installation, for whoever writes their names (`unknown_tool`). */
export const builtInTools: ReadonlyMap<string, readonly string[]> = new Map<BuiltInProvider, readonly string[]>([
  [
    'local_fs',
    [
      'read_file',
      'read_file_range',
      'list_dir',
      'find_files',
      'grep',
      'count_stats',
      'stat_file',
      'write_file',
      'edit_file',
      'sed',
    ],
  ],
  ['local_shell', ['local_shell']],
  ['web', ['web_get', 'web_head', 'web_post', 'web_put', 'web_patch', 'web_delete']],
  ['webhook', ['webhook']],
  ['echo', ['echo']],
  ['print', ['print']],
  ['engine', ['ask_human']],
]);
