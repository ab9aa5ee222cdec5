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
    'acts',
    object({ name: string(), type: enums(providerTypes), ...backendFields }),
    returns<{ readonly backend: BackendView; readonly warnings: readonly string[] }>(),
  ),
  listBackends: operation('reads', object({}), masked(array(BackendView))),
  showBackend: operation('reads', named, masked(BackendView)),
  updateBackend: operation(
    'acts',
    object({ name: string(), ...backendFields }),
    returns<{ readonly backend: BackendView; readonly warnings: readonly string[] }>(),
  ),
  removeBackend: operation('acts', named, returns<null>()),
  testBackend: operation(
    'acts',
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
    'reads',
    object({ backend: nullable(string()), refresh: boolean() }),
    returns<{
      readonly rows: readonly ModelRow[];
      readonly notes: readonly string[];
      readonly answered: number;
      readonly backends: number;
    }>(),
  ),
  addModel: operation(
    'acts',
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
    'acts',
    object({ name: string(), backend: nullable(string()), delete_file: boolean() }),
    returns<{ readonly deleted_from: readonly string[] }>(),
  ),
  /** Lists the models of local servers that are not declared; with names it deletes those of them. */
  pruneModels: operation(
    'acts',
    object({
      backend: nullable(string()),
      names: nullable(array(object({ backend: string(), model: string() }))),
    }),
    returns<{ readonly models: readonly { readonly backend: string; readonly model: string }[] }>(),
  ),
  showModel: operation('reads', object({ name: string(), backend: nullable(string()) }), masked(ModelDetail)),
  setModelContext: operation(
    'acts',
    object({ name: string(), backend: nullable(string()), context: number() }),
    returns<null>(),
  ),
  setConfig: operation('acts', object({ key: string(), value: string() }), masked(ConfigEntry)),
  getConfig: operation('reads', object({ key: string() }), masked(ConfigEntry)),
  unsetConfig: operation('acts', object({ key: string() }), masked(ConfigEntry)),
  listConfig: operation('reads', object({}), masked(array(ConfigEntry))),
  doctor: operation(
    'reads',
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
    'acts',
    object({ probe: boolean(), policy: optional(string()) }),
    returns<{ readonly files: readonly { readonly name: string; readonly text: string }[] }>(),
  ),
} as const;
