import { array, enums, type Infer, nullable, number, object, optional, size, string } from 'superstruct';
import { InstructionsView } from '../../schema/instructions.ts';
import { SetupStatus } from '../../schema/registry.ts';
import { count } from '../fields.ts';
import { route, shown } from '../operation.ts';

/** One config key with what it is about (09 §6.2). */
export const ConfigItem = object({
  key: string(),
  value: string(),
  default: string(),
  source: enums(['set', 'default', 'unset', 'flag', 'env']),
  description: string(),
});
export type ConfigItem = Infer<typeof ConfigItem>;

/** Keys that decide who may do what: changing one takes a recent proof (09 §6.2). */
const guardedKeys: ReadonlySet<string> = new Set([
  'approval-ceiling',
  'attention-chain',
  'shell-env',
  'allow-default-login',
  'max-rounds',
  'shell',
]);
const accessForKey = ({ key }: { readonly key: string }) =>
  guardedKeys.has(key) || key.startsWith('beam-') ? 'recent' : null;
const key = { key: string() };

/** A file with instructions for agents, and what of it would stand in a request; null = nothing. */
export const InstructionsItem = object({ ...InstructionsView.schema, path: string(), text: nullable(string()) });
export type InstructionsItem = Infer<typeof InstructionsItem>;

/** The program and its settings (09 §6.2). */
export const systemRoutes = {
  getVersion: route(
    'GET',
    '/api/version',
    'bootstrap',
    object({}),
    shown(
      object({
        version: string(),
        api_version: number(),
        schema_version: number(),
        instance_id: string(),
        tenant_id: string(),
        workspace: string(),
        /** Null where the workspace has none. */
        data_dir: nullable(string()),
        /** Its file. */
        database: string(),
        policy_schema_version: number(),
      }),
    ),
  ),
  /** As it is known, without asking a backend that was asked a moment ago. */
  getSetupStatus: route('GET', '/api/setup-status', 'bootstrap', object({}), shown(SetupStatus)),
  refreshSetupStatus: route('POST', '/api/setup-status/refresh', 'any', object({}), shown(SetupStatus)),
  pageConfig: route('GET', '/api/config', 'any', object({}), shown(array(ConfigItem)), { form: 'items' }),
  getConfigItem: route('GET', '/api/config/{key}', 'any', object(key), shown(ConfigItem)),
  putConfigItem: route(
    'PUT',
    '/api/config/{key}',
    'operator',
    object({ ...key, value: size(string(), 0, 65_536) }),
    shown(ConfigItem),
    { accessFor: accessForKey },
  ),
  deleteConfigItem: route('DELETE', '/api/config/{key}', 'operator', object(key), shown(ConfigItem), {
    accessFor: accessForKey,
  }),
  /** Files with instructions for agents, as the next message of a chat with this chain and policy would have them. */
  listInstructions: route(
    'GET',
    '/api/workspace/instructions',
    'any',
    object({ chain: optional(string()), policy: optional(string()) }),
    shown(array(InstructionsItem)),
    { form: 'items' },
  ),
  /** Relative paths for `@file`; ignored, protected and control-plane paths are left out. */
  findFiles: route(
    'GET',
    '/api/workspace/files',
    'any',
    object({ query: optional(size(string(), 0, 256)), limit: optional(count(1, 200)) }),
    shown(object({ items: array(object({ path: string(), size: number(), kind: enums(['file', 'directory']) })) })),
  ),
} as const;
