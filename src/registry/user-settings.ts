import { lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import { messageOf } from '../text/thrown.ts';
import { writeAtomic } from '../workspace/files.ts';
import type { UserSettings } from './ports.ts';

/** Larger files are not ours. */
const maxBytes = 1024 * 1024;

/**
 * Settings of the user in `<REINS_HOME>/config.json`, mode 0600: what a project must not decide. A file that is missing,
 * not the user's own or not readable holds nothing.
 */
export function createUserSettings(deps: { readonly reinsHome: string }): UserSettings {
  const path = join(deps.reinsHome, 'config.json');
  const write = (values: Readonly<Record<string, unknown>>): void => {
    try {
      mkdirSync(deps.reinsHome, { recursive: true, mode: 0o700 });
      writeAtomic(path, `${JSON.stringify(values, null, 2)}\n`, 0o600);
    } catch (error) {
      throw new RuntimeError('storage', `The settings file ${path} cannot be written (${messageOf(error)}).`, {
        cause: error,
      });
    }
  };
  return {
    get(key) {
      const values = read(path);
      return Object.hasOwn(values, key) ? JSON.stringify(values[key]) : null;
    },
    set: (key, json) => write({ ...read(path), [key]: JSON.parse(json) }),
    delete(key) {
      const { [key]: _removed, ...rest } = read(path);
      if (_removed !== undefined) write(rest);
    },
  };
}

function read(path: string): Readonly<Record<string, unknown>> {
  try {
    const state = lstatSync(path);
    const uid = process.getuid?.();
    if (!state.isFile() || state.size > maxBytes || (uid !== undefined && state.uid !== uid)) return {};
    // Writable by others: not the user's word alone.
    if ((state.mode & 0o022) !== 0) return {};
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
    return Object.fromEntries(Object.entries(value));
  } catch {
    return {};
  }
}
