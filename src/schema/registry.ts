import { InstructionsView } from './instructions.ts';
import { SourceCheck } from './tool-sources.ts';
import {
  array,
  boolean,
  enums,
  type Infer,
  nullable,
  number,
  object,
  optional,
  record,
  string,
  type,
} from 'superstruct';

/** Provider types (06 §3, 08 §2.2). */
export const providerTypes = [
  'ollama',
  'openai',
  'vllm',
  'gemini',
  'anthropic',
  'openai-compatible',
  'local',
  'scripted',
] as const;
export type ProviderType = (typeof providerTypes)[number];

/** A backend as shown (06 §17): no secret, header names only. */
export const BackendView = type({
  id: string(),
  name: string(),
  type: enums(providerTypes),
  baseUrl: string(),
  /** `env:NAME`, `stored` or `none`. */
  keySource: string(),
  headers: array(string()),
  proxy: string(),
  timeouts: type({ connect: nullable(number()), firstByte: nullable(number()), idle: nullable(number()) }),
  createdAt: nullable(string()),
  updatedAt: nullable(string()),
  builtIn: boolean(),
});
export type BackendView = Infer<typeof BackendView>;

export const capabilityNames = ['chat', 'tools', 'think', 'vision', 'embed'] as const;

/** One row of `model list` (06 §16). */
export const ModelRow = type({
  backend: string(),
  model: string(),
  capabilities: record(string(), boolean()),
  /** Effective context in tokens; null = unknown. */
  context: nullable(number()),
  /** Of its files; null where the backend does not say. */
  size_bytes: nullable(number()),
  is_default: boolean(),
  /** `served`, `declared` (declared, not available) or `unreachable`, then `reason` says why. */
  state: enums(['served', 'declared', 'unreachable']),
  reason: nullable(string()),
});
export type ModelRow = Infer<typeof ModelRow>;

export const ModelDetail = type({
  model: string(),
  capabilities: record(string(), boolean()),
  context: type({ discovered: nullable(number()), declared: nullable(number()), effective: nullable(number()) }),
  max_output: nullable(number()),
  size_bytes: nullable(number()),
  digest: nullable(string()),
  backends: array(string()),
});
export type ModelDetail = Infer<typeof ModelDetail>;

/** 08 §12.1. */
export const SetupIssue = type({
  code: string(),
  severity: enums(['error', 'warning', 'info']),
  category: enums(['defaults', 'registration', 'health', 'storage', 'policy', 'security', 'tools', 'environment']),
  message: string(),
  fixPath: nullable(string()),
  cliCommand: nullable(string()),
  subject: nullable(string()),
});
export type SetupIssue = Infer<typeof SetupIssue>;

export const BackendCheck = type({
  id: string(),
  name: string(),
  type: enums(providerTypes),
  baseUrl: string(),
  status: enums(['ready', 'pending', 'error']),
  reachable: boolean(),
  defaultProvider: boolean(),
  modelCount: number(),
  chatModelCount: number(),
  /** At most 50 names. */
  chatModels: array(string()),
  latencyMs: nullable(number()),
  keySource: string(),
  errorClass: nullable(string()),
  error: nullable(string()),
  hint: nullable(string()),
});
export type BackendCheck = Infer<typeof BackendCheck>;

export const SetupStatus = type({
  defaultModel: string(),
  defaultModelSource: enums(['flag', 'environment', 'config', 'script', 'builtin']),
  defaultProvider: string(),
  defaultChain: string(),
  hitlPolicyName: string(),
  backendCount: number(),
  reachableBackendCount: number(),
  ready: boolean(),
  checkedAt: string(),
  issues: array(SetupIssue),
  backendChecks: array(BackendCheck),
});
export type SetupStatus = Infer<typeof SetupStatus>;

/** What `doctor` adds for people (06 §15). */
export const DoctorReport = type({
  status: SetupStatus,
  policy: type({ name: string(), source: string(), sha256: nullable(string()) }),
  dataDir: nullable(string()),
  /** Of the workspace: tools reach what lies below it, and relative paths of calls begin here. */
  root: string(),
  database: type({ path: string(), bytes: nullable(number()), schema: nullable(number()) }),
  toolSources: array(SourceCheck),
  /** The one that would be asked for the default model, where that is known. */
  defaultBackend: nullable(string()),
  /** Files with instructions for agents, and whether the model gets them. */
  instructions: array(InstructionsView),
  /** Variables that hold keys of known providers and are set: their names, never what they hold. */
  keysSet: array(type({ variable: string(), provider: enums(providerTypes) })),
});
export type DoctorReport = Infer<typeof DoctorReport>;

/** One config key with its effective value (06 §18). */
export const ConfigEntry = type({ key: string(), value: string(), source: enums(['set', 'default', 'unset']) });
export type ConfigEntry = Infer<typeof ConfigEntry>;

/** Arguments of the call that downloads a model; an empty backend is the first that can. */
export const ModelPull = object({ model: string(), backend: optional(string()) });
export type ModelPull = Infer<typeof ModelPull>;
