import {
  type ConfigKey,
  type ConfigValue,
  configKeys,
  configTable,
  isConfigKey,
  parseConfig,
  userLevelKeys,
} from '../schema/config.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { ConfigEntry } from '../schema/registry.ts';
import type { Settings as SettingsStore } from '../store/settings.ts';
import { hidden, maskPatterns } from './mask-patterns.ts';
import type { RecordChange, UserSettings, UserSettingsFault } from './ports.ts';

export type SettingsDeps = {
  readonly store: Pick<SettingsStore, 'get' | 'set' | 'delete' | 'list'>;
  /** Where keys of the user level are kept; nothing of a project's database counts for them. */
  readonly user: UserSettings;
  readonly record: RecordChange;
  readonly now: () => number;
};

const rowKey = (key: ConfigKey): string => `config.${key}`;

/**
 * Config keys with their effective values (06 §18). A stored value that cannot be read counts as the default; `unreadable`
 * lists such keys.
 */
export function createSettings(deps: SettingsDeps) {
  const stored = (key: ConfigKey): string | null => {
    const json = userLevelKeys.has(key) ? deps.user.get(key) : deps.store.get(rowKey(key));
    return json === null ? null : textOf(json);
  };
  /** The checked stored value, or null when none is set or it does not parse. */
  const current = <K extends ConfigKey>(key: K) => {
    const text = stored(key);
    return text === null ? null : parseConfig(key, text);
  };
  const entryOf = (key: ConfigKey): ConfigEntry => {
    const set = current(key);
    // The password of a proxy is shown nowhere (11 §5.2).
    if (set !== null) return { key, value: maskPatterns(set.text), source: 'set' };
    const { fallback } = configTable[key];
    return { key, value: fallback, source: fallback === '' ? 'unset' : 'default' };
  };
  const known = (key: string): ConfigKey => {
    if (isConfigKey(key)) return key;
    throw new RuntimeError('usage', `There is no config key "${key}"; the keys are ${configKeys.join(', ')}.`, {
      hints: ['reins config list'],
    });
  };

  return {
    /** @throws RuntimeError usage for an unknown key or a value that is not acceptable. */
    async setConfig(input: { readonly key: string; readonly value: string }): Promise<ConfigEntry> {
      const key = known(input.key);
      const parsed = parseConfig(key, input.value);
      if (parsed === null) {
        throw new RuntimeError(
          'usage',
          `"${input.value}" is not a value of ${key}; it takes ${configTable[key].accepts}.`,
          { hints: [...(input.value === '' ? [`reins config unset ${key}`] : []), 'reins help config'] },
        );
      }
      if (parsed.text.includes(hidden)) {
        // What was read, and is saved again as it was shown, stays as it is.
        if (parsed.text === entryOf(key).value) return entryOf(key);
        throw new RuntimeError('usage', `${hidden} stands for a value that is not shown; give ${key} as a whole.`);
      }
      const json = JSON.stringify(parsed.text);
      deps.record('config_changed', { key, change: 'set' }, () => {
        if (userLevelKeys.has(key)) deps.user.set(key, json);
        else deps.store.set(rowKey(key), json, deps.now());
      });
      return entryOf(key);
    },

    /** The effective value without its password; empty when there is none. @throws RuntimeError usage for an unknown key. */
    async getConfig(input: { readonly key: string }): Promise<ConfigEntry> {
      return entryOf(known(input.key));
    },

    /** Back to the default. @throws RuntimeError usage for an unknown key. */
    async unsetConfig(input: { readonly key: string }): Promise<ConfigEntry> {
      const key = known(input.key);
      deps.record('config_changed', { key, change: 'unset' }, () => {
        if (userLevelKeys.has(key)) deps.user.delete(key);
        else deps.store.delete(rowKey(key));
      });
      return entryOf(key);
    },

    /** Every key with its effective value, sorted by name. */
    async listConfig(_input: Readonly<Record<string, never>> = {}): Promise<ConfigEntry[]> {
      return configKeys.map(entryOf);
    },

    /** The effective value in the type of its key: milliseconds, tokens, words; null where there is none. */
    value<K extends ConfigKey>(key: K): ConfigValue<K> {
      const set = current(key) ?? parseConfig(key, configTable[key].fallback);
      if (set === null) throw new TypeError(`the default of ${key} does not parse`);
      return set.value;
    },

    /** True when the operator has set the key to something readable. */
    isSet: (key: ConfigKey): boolean => current(key) !== null,

    /** Why no key of the user level is read; null where they are. */
    userFault: (): UserSettingsFault | null => deps.user.fault(),

    /** Keys whose stored value cannot be read; each counts as its default. */
    unreadable: (): readonly ConfigKey[] =>
      configKeys.filter((key) => {
        const text = stored(key);
        return text !== null && parseConfig(key, text) === null;
      }),
  };
}

export type Settings = ReturnType<typeof createSettings>;

/** The text inside a stored JSON string; what is not one never parses as a value. */
function textOf(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : '\u0000';
  } catch {
    return '\u0000';
  }
}
