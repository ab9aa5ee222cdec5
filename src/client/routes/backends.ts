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
  size,
  string,
} from 'superstruct';
import { capabilityNames, providerTypes } from '../../schema/registry.ts';
import { count, flag } from '../fields.ts';
import { returns, route, shown } from '../operation.ts';

const named = { name: string() };
const ifMatch = { if_match: optional(string()) };
const milliseconds = optional(nullable(count(1, 3_600_000)));

/** A backend as it is shown: names of headers, and where the key comes from (09 §5.5, §6.9). */
export const BackendState = object({
  id: string(),
  name: string(),
  type: enums(providerTypes),
  base_url: string(),
  key_source: string(),
  key_present: boolean(),
  headers: array(string()),
  proxy: string(),
  connect_timeout_ms: nullable(number()),
  first_byte_timeout_ms: nullable(number()),
  idle_timeout_ms: nullable(number()),
  status: enums(['ready', 'pending', 'error']),
  error_class: nullable(string()),
  error: nullable(string()),
  hint: nullable(string()),
  model_count: number(),
  latency_ms: nullable(number()),
  created_at: nullable(string()),
  updated_at: nullable(string()),
  /** Of the registration, for `If-Match`. */
  etag: string(),
});
export type BackendState = Infer<typeof BackendState>;

/** What may be set; secrets go in and never come out. */
const settable = {
  base_url: optional(string()),
  api_key_env: optional(string()),
  api_key: optional(size(string(), 1, 8192)),
  /** The whole map; a null keeps the stored value of that name. */
  headers: optional(record(string(), nullable(string()))),
  proxy: optional(string()),
  connect_timeout_ms: milliseconds,
  first_byte_timeout_ms: milliseconds,
  idle_timeout_ms: milliseconds,
};
const tagged = { headers: ({ etag }: { readonly etag: string }) => ({ etag: `"${etag}"` }) };

const ModelListed = object({
  backend: string(),
  model: string(),
  context_length: nullable(number()),
  can_chat: boolean(),
  can_embed: boolean(),
  can_tools: boolean(),
  is_default: boolean(),
});

/** Backends and models (09 §6.9). */
export const backendRoutes = {
  pageBackends: route('GET', '/api/backends', 'any', object({}), shown(array(BackendState)), { form: 'items' }),
  createBackend: route(
    'POST',
    '/api/backends',
    'recent',
    object({ ...named, type: enums(providerTypes), ...settable }),
    shown(BackendState),
    { status: 201, repeatable: true, ...tagged },
  ),
  getBackend: route('GET', '/api/backends/{name}', 'any', object(named), shown(BackendState), tagged),
  patchBackend: route(
    'PATCH',
    '/api/backends/{name}',
    'recent',
    object({ ...named, ...settable, ...ifMatch }),
    shown(BackendState),
    { precondition: 'if-match', ...tagged },
  ),
  deleteBackend: route(
    'DELETE',
    '/api/backends/{name}',
    'operator',
    object({ ...named, ...ifMatch }),
    returns<null>(),
    {
      status: 204,
      precondition: 'if-match',
    },
  ),
  /** Asks the backend now. */
  checkBackend: route('POST', '/api/backends/{name}/check', 'any', object(named), shown(BackendState), tagged),
  pageModels: route(
    'GET',
    '/api/models',
    'any',
    object({ backend: optional(string()), refresh: optional(flag()) }),
    shown(object({ items: array(ModelListed), errors: array(object({ backend: string(), message: string() })) })),
  ),
  declareModel: route(
    'POST',
    '/api/models',
    'operator',
    object({
      backend: optional(string()),
      model: string(),
      context: optional(count(1, 1_000_000_000)),
      max_output: optional(count(1, 1_000_000_000)),
      capabilities: optional(record(enums(capabilityNames), boolean())),
    }),
    shown(ModelListed),
    { status: 201, repeatable: true },
  ),
  /** Lets a backend download a model; how far it has come are events of the run. */
  postPull: route(
    'POST',
    '/api/models/pull',
    'operator',
    object({
      backend: optional(string()),
      model: size(string(), 1, 512),
      url: optional(string()),
      sha256: optional(string()),
    }),
    shown(object({ run_id: string() })),
    { status: 202, repeatable: true },
  ),
  patchModel: route(
    'PATCH',
    '/api/models/{backend}/{model}',
    'operator',
    object({ backend: string(), model: string(), context: count(0, 1_000_000_000) }),
    shown(ModelListed),
  ),
  deleteModel: route(
    'DELETE',
    '/api/models/{backend}/{model}',
    'operator',
    object({ backend: string(), model: string(), delete_file: optional(flag()) }),
    returns<null>(),
    { status: 204, accessFor: ({ delete_file }) => (delete_file === true ? 'recent' : null) },
  ),
} as const;
