import { type ConfigKey, configTable, isConfigKey } from '../schema/config.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { ConfigEntry, SetupStatus } from '../schema/registry.ts';
import type { Settings } from './settings.ts';

export type ConfigRouteDeps = {
  readonly settings: Pick<Settings, 'setConfig' | 'getConfig' | 'unsetConfig' | 'listConfig'>;
  readonly status: () => Promise<SetupStatus>;
  /** Asks the backends now. */
  readonly probe: () => Promise<SetupStatus>;
  /** What a flag or variable of this process says about a key, which then counts. */
  readonly given: (key: ConfigKey) => { readonly value: string; readonly source: 'flag' | 'env' } | null;
};

type Key = { readonly key: string };

/** The operations of `client/routes/system.ts` on settings and readiness. */
export function createConfigRoutes(deps: ConfigRouteDeps) {
  const { settings } = deps;
  const item = (entry: ConfigEntry) => {
    const key = known(entry.key);
    const { fallback, meaning } = configTable[key];
    const given = deps.given(key);
    return { key, value: entry.value, default: fallback, source: entry.source, ...given, description: meaning };
  };
  return {
    getSetupStatus: () => deps.status(),
    refreshSetupStatus: () => deps.probe(),
    pageConfig: async () => (await settings.listConfig()).map(item),
    getConfigItem: async ({ key }: Key) => item(await settings.getConfig({ key: known(key) })),
    putConfigItem: async ({ key, value }: Key & { readonly value: string }) =>
      item(await settings.setConfig({ key: known(key), value })),
    deleteConfigItem: async ({ key }: Key) => item(await settings.unsetConfig({ key: known(key) })),
  };
}

/** @throws RuntimeError not_found */
function known(key: string): ConfigKey {
  if (isConfigKey(key)) return key;
  throw new RuntimeError('not_found', `There is no config key "${key}".`);
}
