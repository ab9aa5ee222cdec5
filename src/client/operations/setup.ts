import { array, boolean, enums, nullable, number, object, optional, record, string } from 'superstruct';
import {
  BackendView,
  ConfigEntry,
  DoctorReport,
  ModelDetail,
  type ModelRow,
  providerTypes,
} from '../../schema/registry.ts';
import { masked, operation, returns } from '../operation.ts';

const named = object({ name: string() });
const backendFields = {
  url: nullable(string()),
  key_env: nullable(string()),
  key_literal: nullable(string()),
  /** null = leave as it is. */
  headers: nullable(record(string(), string())),
  proxy: nullable(string()),
  connect_timeout_ms: nullable(number()),
  first_byte_timeout_ms: nullable(number()),
  idle_timeout_ms: nullable(number()),
};

/** Backends, models, configuration, readiness. */
export const setup = {
  addBackend: operation(
    'POST',
    '/api/backends',
    'operator',
    object({ name: string(), type: enums(providerTypes), ...backendFields }),
    returns<{ readonly backend: BackendView; readonly warnings: readonly string[] }>(),
  ),
  listBackends: operation('GET', '/api/backends', 'read', object({}), masked(array(BackendView))),
  showBackend: operation('GET', '/api/backends/{name}', 'read', named, masked(BackendView)),
  updateBackend: operation(
    'PATCH',
    '/api/backends/{name}',
    'operator',
    object({ name: string(), ...backendFields }),
    returns<{ readonly backend: BackendView; readonly warnings: readonly string[] }>(),
  ),
  removeBackend: operation('DELETE', '/api/backends/{name}', 'operator', named, returns<null>()),
  testBackend: operation(
    'POST',
    '/api/backends/{name}/test',
    'operator',
    named,
    returns<{
      readonly reachable: boolean;
      readonly chat_models: number;
      readonly models: number;
      readonly latency_ms: number;
      readonly error_class: string | null;
      readonly error: string | null;
      readonly hint: string | null;
    }>(),
  ),
  listModels: operation(
    'GET',
    '/api/models',
    'read',
    object({ backend: nullable(string()), refresh: boolean() }),
    returns<{
      readonly rows: readonly ModelRow[];
      readonly notes: readonly string[];
      readonly answered: number;
      readonly backends: number;
    }>(),
  ),
  addModel: operation(
    'POST',
    '/api/models',
    'operator',
    object({
      name: string(),
      backend: nullable(string()),
      context: nullable(number()),
      max_output: nullable(number()),
      /** `tools`, `no-tools`, … */
      capabilities: array(string()),
      url: nullable(string()),
      sha256: nullable(string()),
    }),
    returns<null>(),
  ),
  removeModel: operation(
    'DELETE',
    '/api/models/{name}',
    'operator',
    object({ name: string(), backend: nullable(string()), delete_file: boolean() }),
    returns<{ readonly deleted_from: readonly string[] }>(),
  ),
  /** Lists the models of local servers that are not declared; with names it deletes those of them. */
  pruneModels: operation(
    'POST',
    '/api/models/prune',
    'operator',
    object({
      backend: nullable(string()),
      names: nullable(array(object({ backend: string(), model: string() }))),
    }),
    returns<{ readonly models: readonly { readonly backend: string; readonly model: string }[] }>(),
  ),
  showModel: operation(
    'GET',
    '/api/models/{name}',
    'read',
    object({ name: string(), backend: nullable(string()) }),
    masked(ModelDetail),
  ),
  setModelContext: operation(
    'PUT',
    '/api/models/{name}/context',
    'operator',
    object({ name: string(), backend: nullable(string()), context: number() }),
    returns<null>(),
  ),
  setConfig: operation(
    'PUT',
    '/api/config/{key}',
    'operator',
    object({ key: string(), value: string() }),
    masked(ConfigEntry),
  ),
  getConfig: operation('GET', '/api/config/{key}', 'read', object({ key: string() }), masked(ConfigEntry)),
  unsetConfig: operation('DELETE', '/api/config/{key}', 'operator', object({ key: string() }), masked(ConfigEntry)),
  listConfig: operation('GET', '/api/config', 'read', object({}), masked(array(ConfigEntry))),
  doctor: operation(
    'POST',
    '/api/setup-status/refresh',
    'read',
    /**
     * `sources: false`: hooks and tool servers are not asked, so nothing of the operator's is started. `policy`: looked at in
     * the place of the one that the settings name.
     */
    object({
      probe: boolean(),
      model: optional(string()),
      policy: optional(string()),
      sources: optional(boolean()),
    }),
    masked(DoctorReport),
  ),
  /** What to hand to somebody who helps: texts without secrets, messages, arguments and contents of files (06 §15). */
  doctorBundle: operation(
    'POST',
    '/api/setup-status/bundle',
    'operator',
    object({ probe: boolean(), policy: optional(string()) }),
    returns<{ readonly files: readonly { readonly name: string; readonly text: string }[] }>(),
  ),
} as const;
