import { array, boolean, enums, type Infer, nullable, number, record, string, type, unknown } from 'superstruct';

/** Where tools come from beside the built-in ones: an OpenAPI service, an MCP server. */
export type SourceKind = 'hook' | 'mcp';

/** What is pinned of a tool (05 §2.6.1): plain JSON. */
export type Definition = Readonly<Record<string, unknown>>;

const ToolState = enums(['ready', 'quarantined', 'unavailable', 'needs_auth']);

/** One tool of a source as it is shown (05 §1.3, §2.6). */
export const SourceTool = type({
  tool: string(),
  /** As it came; only models get it cleaned and cut. */
  description: string(),
  sha256: string(),
  state: ToolState,
  /** What is odd about it: hidden characters, a description or schema that was cut or is too long. */
  flags: array(string()),
});
export type SourceTool = Infer<typeof SourceTool>;

/** A definition that differs from what was accepted. */
export const Drift = type({
  tool: string(),
  change: enums(['new', 'changed']),
  sha256: string(),
  /** What was accepted before; null for a new tool. */
  before: nullable(record(string(), unknown())),
  after: record(string(), unknown()),
  /** Of both as indented JSON. */
  diff: string(),
});
export type Drift = Infer<typeof Drift>;

/** An OpenAPI service as it is shown (05 §9.1, 09 §6.10): names of headers and injects, never their values. */
export const HookView = type({
  name: string(),
  url: string(),
  /** Null = `<url>/openapi.json`. */
  spec: nullable(string()),
  headers: array(string()),
  inject: array(string()),
  timeout_ms: number(),
  allow_private: boolean(),
  created_at: string(),
  updated_at: string(),
  /** `idle`: nothing has been fetched yet. */
  state: enums(['ready', 'quarantined', 'unavailable', 'idle']),
  tools: array(SourceTool),
  /** Of the names and pins of the last listing; null before the first. */
  definition_sha256: nullable(string()),
  drift: array(Drift),
  /** Operations that are no tools, with the reason. */
  skipped: array(type({ operation: string(), reason: string() })),
  notes: array(string()),
  spec_fetched_at: nullable(string()),
  last_error: nullable(string()),
});
export type HookView = Infer<typeof HookView>;

/** How `doctor` found a hook or a tool server. */
export const SourceCheck = type({
  kind: enums(['hook', 'mcp']),
  name: string(),
  /** URL, or the command that is started. */
  place: string(),
  /** `pending`: not asked. */
  state: enums(['ready', 'error', 'pending']),
  tools: number(),
  /** Tools whose definitions wait to be accepted. */
  waiting: array(string()),
  latencyMs: nullable(number()),
  errorClass: nullable(string()),
  error: nullable(string()),
});
export type SourceCheck = Infer<typeof SourceCheck>;

/** One tool of any provider, as a page lists it (09 §6.10). */
export const ListedTool = type({
  tools: string(),
  tool: string(),
  source: enums(['builtin', 'hook', 'mcp']),
  description: string(),
  schema: record(string(), unknown()),
  state: ToolState,
  /** What the policy says of a call without arguments. */
  default_decision: enums(['allow', 'approve', 'deny']),
});
export type ListedTool = Infer<typeof ListedTool>;

/** A tool of a registered source from its last listing; nobody is contacted. */
export type RegisteredTool = Omit<ListedTool, 'default_decision'>;
