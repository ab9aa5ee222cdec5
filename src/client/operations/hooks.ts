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
  addHook: operation('POST', '/api/hooks', 'operator', object({ name: string(), ...fields }), changed),
  listHooks: operation('GET', '/api/hooks', 'read', object({}), masked(array(HookView))),
  showHook: operation('GET', '/api/hooks/{name}', 'read', named, masked(HookView)),
  updateHook: operation('PATCH', '/api/hooks/{name}', 'operator', object({ name: string(), ...fields }), changed),
  refreshHook: operation('POST', '/api/hooks/{name}/refresh', 'operator', named, masked(HookView)),
  acceptHook: operation(
    'POST',
    '/api/hooks/{name}/accept',
    'operator',
    object({ name: string(), definition_sha256: string(), tools: optional(array(string())) }),
    masked(HookView),
  ),
  removeHook: operation('DELETE', '/api/hooks/{name}', 'operator', named, returns<null>()),
} as const;
