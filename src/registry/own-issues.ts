import { userLevelKeys } from '../schema/config.ts';
import type { SetupIssue } from '../schema/registry.ts';
import type { BackendRow } from '../store/registry.ts';
import { issue } from './issue.ts';
import type { UserSettingsFault } from './ports.ts';

/** What the registry itself contributes to the doctor's list. */
export type OwnFindings = {
  readonly backends: readonly BackendRow[];
  /** Types whose missing key is an error: the default provider's; empty = all. */
  readonly defaultType: string;
  /** Backends whose missing key is told by a readiness issue already. */
  readonly told: ReadonlySet<string>;
  readonly isSet: (variable: string) => boolean;
  readonly unreadableKeys: readonly string[];
  /** Why nothing of the user's own settings file counts. */
  readonly settingsFault: UserSettingsFault | null;
};

/** About keys of backends and about settings, in the order of 06 §15. */
export const ownIssues = (own: OwnFindings): readonly SetupIssue[] => [...keyIssues(own), ...settingsIssues(own)];

function* keyIssues(own: OwnFindings): Generator<SetupIssue> {
  for (const { name, type, key_env } of own.backends) {
    if (key_env === null || own.isSet(key_env) || own.told.has(name)) continue;
    yield issue({
      code: 'api_key_env_unset',
      severity: type === own.defaultType ? 'error' : 'warning',
      category: 'health',
      message: `The variable ${key_env}, which backend "${name}" names, is not set.`,
      fixPath: '/backends',
      cliCommand: `export ${key_env}=…`,
      subject: name,
    });
  }
  for (const { name, key_literal } of own.backends) {
    if (key_literal === null) continue;
    yield issue({
      code: 'api_key_literal',
      severity: 'warning',
      category: 'security',
      message: `The key of backend "${name}" is stored in the database.`,
      fixPath: '/backends',
      cliCommand: `reins backend update ${name} --api-key-env NAME`,
      subject: name,
    });
  }
}

function* settingsIssues(own: OwnFindings): Generator<SetupIssue> {
  if (own.settingsFault !== null) {
    const { path, message, mend } = own.settingsFault;
    yield issue({
      code: 'config_unreadable',
      severity: 'warning',
      category: 'storage',
      message: `${message} The defaults count for its keys: ${[...userLevelKeys].join(', ')}.`,
      cliCommand: mend,
      subject: path,
    });
  }
  for (const key of own.unreadableKeys) {
    yield issue({
      code: 'config_unreadable',
      severity: 'warning',
      category: 'storage',
      message: `The stored value of the config key ${key} cannot be read; its default counts.`,
      fixPath: '/settings',
      cliCommand: `reins config unset ${key}`,
      subject: key,
    });
  }
}
