/** Tool providers that every installation has (05 §1.1), whether or not a run registers them. No other may take their names. */
export const builtInProviders = [
  'local_fs',
  'local_shell',
  'web',
  'webhook',
  'echo',
  'print',
  'plan_manager',
  'plan_summary',
  'model_pull',
] as const;
export type BuiltInProvider = (typeof builtInProviders)[number];
