import { lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RuntimeError } from '../schema/errors.ts';
import { isObject, type JsonObject } from '../text/json-object.ts';
import { jsonErrorPosition } from '../text/json-position.ts';
import { quote } from '../text/quote.ts';
import { lookAt, systemReason, writeFault } from '../text/system-reason.ts';
import { codeOf } from '../text/thrown.ts';
import { writeAtomic } from '../workspace/files.ts';
import type { UserSettings, UserSettingsFault } from './ports.ts';

/** Larger files are not ours. */
const maxBytes = 1024 * 1024;

/**
 * Settings of the user in `<REINS_HOME>/config.json`, mode 0600: what a project must not decide. A file that is missing
 * or cannot be used holds nothing; one that cannot be used is not written over either, for it may hold what somebody
 * typed. @throws RuntimeError config_invalid, storage when it is changed
 */
export function createUserSettings(deps: { readonly reinsHome: string }): UserSettings {
  const path = join(deps.reinsHome, 'config.json');
  const write = (values: JsonObject): void => {
    try {
      mkdirSync(deps.reinsHome, { recursive: true, mode: 0o700 });
      writeAtomic(path, `${JSON.stringify(values, null, 2)}\n`, 0o600);
    } catch (error) {
      // It names the file already.
      if (error instanceof RuntimeError) throw error;
      throw new RuntimeError(
        writeFault(error),
        `The settings file ${path} cannot be written: ${systemReason(error)}.`,
        {
          cause: error,
          hints: [lookAt(error, deps.reinsHome)],
        },
      );
    }
  };
  const faultOf = ({ what, mend }: Extract<SettingsFile, { readonly ok: false }>): UserSettingsFault => ({
    path,
    message: `The settings file ${path} is not used: it ${what}.`,
    mend,
  });
  const toChange = (): JsonObject => {
    const file = read(path);
    if (file.ok) return file.values;
    const { message, mend } = faultOf(file);
    throw new RuntimeError('config_invalid', message, { hints: [mend] });
  };
  return {
    fault() {
      const file = read(path);
      return file.ok ? null : faultOf(file);
    },
    get(key) {
      const file = read(path);
      return file.ok && Object.hasOwn(file.values, key) ? JSON.stringify(file.values[key]) : null;
    },
    set: (key, json) => write({ ...toChange(), [key]: JSON.parse(json) }),
    delete(key) {
      const { [key]: removed, ...rest } = toChange();
      if (removed !== undefined) write(rest);
    },
  };
}

type SettingsFile =
  | { readonly ok: true; readonly values: JsonObject }
  | { readonly ok: false; readonly what: string; readonly mend: string };

function read(path: string): SettingsFile {
  const aside = `mv ${quote(path)} ${quote(`${path}.bak`)}`;
  const refuse = (what: string, mend = aside): SettingsFile => ({ ok: false, what, mend });
  try {
    const state = lstatSync(path);
    const uid = process.getuid?.();
    if (!state.isFile()) return refuse('is not a regular file');
    if (state.size > maxBytes) return refuse('is larger than 1 MiB');
    if (uid !== undefined && state.uid !== uid) return refuse('belongs to another user');
    // Writable by others: not the user's word alone.
    if ((state.mode & 0o022) !== 0) return refuse('can be written by other users', `chmod 600 ${quote(path)}`);
    const text = readFileSync(path, 'utf8').replace(/^\ufeff/, '');
    if (text.trim() === '') return { ok: true, values: {} };
    const slip = jsonErrorPosition(text);
    if (slip !== null) return refuse(`is not JSON (line ${slip.line}, column ${slip.column})`);
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { ok: true, values: value } : refuse('is not one JSON object');
  } catch (error) {
    return codeOf(error) === 'ENOENT'
      ? { ok: true, values: {} }
      : refuse(`cannot be read (${systemReason(error)})`, `ls -ld ${quote(path)}`);
  }
}
