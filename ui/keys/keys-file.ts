import { messageOf } from '../../src/text/thrown.ts';
import { type KeyCommand, keyCommands } from './commands.ts';
import { readKey } from './key.ts';
import { conflicts, type KeyMap, keyMapOf, shippedKeyMap } from './key-map.ts';
import { isObject } from '../../src/text/json-object.ts';

export type LoadedKeys = {
  readonly map: KeyMap;
  /** One line for each entry that was refused: its name and why. The file's own path goes before them. */
  readonly notices: readonly string[];
};

const mostKeys = 4;

/** The keys of a file that may not be readable: the program opens all the same. Never throws. */
export function loadKeys(text: () => string | null): LoadedKeys {
  try {
    return readKeysFile(text());
  } catch (error) {
    return { map: shippedKeyMap(), notices: [messageOf(error)] };
  }
}

/**
 * Reads `keys.json` (10 §12.5): what is good takes effect, what is not is refused with its reason and keeps its default.
 * Never throws. @param text null = there is no file
 */
export function readKeysFile(text: string | null): LoadedKeys {
  if (text === null) return { map: shippedKeyMap(), notices: [] };
  const whole = (why: string): LoadedKeys => ({ map: shippedKeyMap(), notices: [why] });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return whole(`is not JSON: ${messageOf(error)}`);
  }
  if (!isObject(value)) return whole('must be an object with "version" and "bindings"');
  if (value['version'] !== 1) return whole('has a version other than 1');
  const bindings = value['bindings'];
  if (!isObject(bindings)) return whole('must have an object "bindings"');
  const notices: string[] = [];
  const wanted = new Map<string, readonly string[]>();
  for (const [id, keys] of Object.entries(bindings)) {
    const read = readEntry(id, keys);
    if (typeof read === 'string') notices.push(`${JSON.stringify(id)} ${read}`);
    else wanted.set(id, read);
  }
  return settle(wanted, notices);
}

/** @returns the keys, or why the entry is refused */
function readEntry(id: string, keys: unknown): readonly string[] | string {
  const command = keyCommands.find((one) => one.id === id);
  if (command === undefined) return 'is no command';
  if (command.fixed) return 'cannot be moved';
  if (!Array.isArray(keys) || keys.some((key) => typeof key !== 'string')) return 'must have a list of keys';
  if (keys.length > mostKeys) return `has more than ${mostKeys} keys`;
  const written: string[] = [];
  for (const key of keys) {
    const read = readKey(String(key));
    if (!read.ok) return `has ${JSON.stringify(key)}, which ${read.why}`;
    const [first = ''] = read.keys;
    if (reserved.has(first)) return `has ${JSON.stringify(key)}, which cannot be moved`;
    // One that is written twice would be at odds with itself.
    if (!written.includes(first)) written.push(first);
  }
  return written;
}

/** Keys that have one meaning everywhere. */
const reserved: ReadonlySet<string> = new Set(['escape', 'ctrl+c', 'ctrl+d', 'ctrl+z', 'ctrl+\\']);

/** Takes out what conflicts until nothing does; both sides of a conflict go back to their defaults. */
function settle(wanted: Map<string, readonly string[]>, notices: string[]): LoadedKeys {
  for (;;) {
    const commands = keyCommands.map((command): KeyCommand => {
      const keys = wanted.get(command.id);
      return keys === undefined ? command : { ...command, keys };
    });
    const found = conflicts(commands).filter(({ ids }) => ids.some((id) => wanted.has(id)));
    if (found.length === 0) return { map: keyMapOf(commands, new Set(wanted.keys())), notices };
    for (const { ids, why } of found) {
      for (const id of ids.filter((one) => wanted.has(one))) {
        wanted.delete(id);
        notices.push(`${JSON.stringify(id)}: ${id === ids[0] ? why : `${ids[0]} is at odds with it: ${why}`}`);
      }
    }
  }
}
