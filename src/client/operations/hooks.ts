import { array, boolean, nullable, number, object, optional, record, string } from 'superstruct';
import { HookView } from '../../schema/tool-sources.ts';
import { masked, operation, returns } from '../operation.ts';

const named = object({ name: string() });

/** The fields of 05 §9.1; null = not given. A value of null inside a map keeps the stored one (09 §5.5). */
const fields = {
  url: nullable(string()),
  spec: nullable(string()),
  headers: nullable(record(string(), nullable(string()))),
  inject: nullable(record(string(), nullable(string()))),
  timeout_ms: nullable(number()),
  allow_private: nullable(boolean()),
};

const changed = returns<{
  readonly hook: HookView;
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
}>();

/** OpenAPI services as tools (09 §6.10). */
export const hooks = {
  addHook: operation('acts', object({ name: string(), ...fields }), changed),
  listHooks: operation('reads', object({}), masked(array(HookView))),
  showHook: operation('reads', named, masked(HookView)),
  updateHook: operation('acts', object({ name: string(), ...fields }), changed),
  refreshHook: operation('acts', named, masked(HookView)),
  acceptHook: operation(
    'acts',
    object({ name: string(), definition_sha256: string(), tools: optional(array(string())) }),
    masked(HookView),
  ),
  removeHook: operation('acts', named, returns<null>()),
} as const;
