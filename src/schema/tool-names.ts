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
