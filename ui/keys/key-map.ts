import {
  contextStacks,
  deliberate,
  type KeyCommand,
  type KeyContext,
  keyCommands,
  refusing,
  textContexts,
} from './commands.ts';
import { isPrintable, type Key, notation, shownKey } from './key.ts';

/** The keys in effect: every command of the table with the keys that it has now. */
export type KeyMap = {
  readonly commands: readonly KeyCommand[];
  /** Ids whose keys come from `keys.json`. */
  readonly remapped: ReadonlySet<string>;
  readonly lookup: ReadonlyMap<string, string>;
};

/** What a key means where it was pressed. */
export type Resolved =
  | { readonly kind: 'command'; readonly id: string }
  /** The first key of a chord: `chord` is handed in with the next key. */
  | { readonly kind: 'chord'; readonly chord: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'none' };

const place = (context: KeyContext, keys: string): string => `${context}\u0000${keys}`;

export function keyMapOf(commands: readonly KeyCommand[], remapped: ReadonlySet<string> = new Set()): KeyMap {
  const lookup = new Map<string, string>();
  for (const { id, context, keys } of commands) {
    for (const key of keys) {
      lookup.set(place(context, key), id);
      const [first, second] = key.split(' ');
      if (first !== undefined && second !== undefined) lookup.set(place(context, `${first} `), '');
    }
  }
  return { commands, remapped, lookup };
}

/** The shipped keys. */
export const shippedKeyMap = (): KeyMap => keyMapOf(keyCommands);

/**
 * Looks a key up in the contexts that are at hand, innermost first. A chord that nothing continues does nothing.
 * @param chord the first key of a chord that waits, or null
 */
export function resolveKey(map: KeyMap, contexts: readonly KeyContext[], key: Key, chord: string | null): Resolved {
  const written = notation(key);
  const whole = chord === null ? written : `${chord} ${written}`;
  for (const context of contexts) {
    const id = map.lookup.get(place(context, whole));
    if (id !== undefined) return { kind: 'command', id };
    if (chord === null && map.lookup.has(place(context, `${written} `))) return { kind: 'chord', chord: written };
    if (chord === null && key.text !== '' && textContexts.has(context)) return { kind: 'text', text: key.text };
  }
  return { kind: 'none' };
}

/** The first key of a command as people read it; null when it has none. */
export function keyOf(map: KeyMap, id: string): string | null {
  const first = map.commands.find((command) => command.id === id)?.keys[0];
  return first === undefined ? null : shownKey(first);
}

/** The commands of a context with their keys, for the help. */
export const commandsIn = (map: KeyMap, context: KeyContext): readonly KeyCommand[] =>
  map.commands.filter((command) => command.context === context && command.keys.length > 0);

/** `Enter card   Space select   n deny selected`: the hint line, most useful first; a command without a key is left out. */
export function hints(map: KeyMap, ids: readonly string[]): readonly string[] {
  return ids.flatMap((id) => {
    const command = map.commands.find((one) => one.id === id);
    const first = command?.keys[0];
    return command === undefined || first === undefined ? [] : [`${shownKey(first)} ${command.hint}`];
  });
}

export type Conflict = {
  /** The commands that it is about; the first is the one whose key is at fault. */
  readonly ids: readonly string[];
  readonly why: string;
};

/** Everything that is wrong with a set of keys, for every combination of contexts that can be at hand (10 §12.5). */
export function conflicts(commands: readonly KeyCommand[]): readonly Conflict[] {
  return [...forbidden(commands), ...sameKeys(commands), ...brokenChords(commands), ...hidden(commands)];
}

const inContext = (commands: readonly KeyCommand[], context: KeyContext) =>
  commands.filter((command) => command.context === context);

function sameKeys(commands: readonly KeyCommand[]): readonly Conflict[] {
  const found: Conflict[] = [];
  const owners = new Map<string, string>();
  for (const { id, context, keys } of commands) {
    for (const key of keys) {
      const owner = owners.get(place(context, key));
      if (owner === undefined) owners.set(place(context, key), id);
      else found.push({ ids: [id, owner], why: `${shownKey(key)} is also ${owner}` });
    }
  }
  return found;
}

function brokenChords(commands: readonly KeyCommand[]): readonly Conflict[] {
  const found = new Map<string, Conflict>();
  for (const stack of contextStacks) {
    const active = stack.flatMap((context) => inContext(commands, context));
    for (const command of active) {
      for (const key of command.keys.filter((one) => one.includes(' '))) {
        const first = key.split(' ')[0] ?? '';
        const alone = active.find((other) => other.keys.includes(first));
        if (alone !== undefined)
          found.set(`${command.id} ${alone.id}`, {
            ids: [command.id, alone.id],
            why: `${shownKey(key)} begins with ${shownKey(first)}, which is ${alone.id}`,
          });
      }
    }
  }
  return [...found.values()];
}

/** Keys of an inner context that leave a command of an outer one without any key there. */
function hidden(commands: readonly KeyCommand[]): readonly Conflict[] {
  const found = new Map<string, Conflict>();
  for (const stack of contextStacks) {
    for (const [depth, context] of stack.entries()) {
      for (const outer of inContext(commands, context)) {
        const inner = stack.slice(0, depth).flatMap((one) => inContext(commands, one));
        const hiders = outer.keys.map((key) => inner.find((one) => one.keys.includes(key)));
        const [hider] = hiders;
        if (hider === undefined || hiders.includes(undefined)) continue;
        if (hiders.every((one) => one?.hides.includes(outer.id)) || sharedByDesign(outer, stack[0])) continue;
        found.set(`${hider.id} ${outer.id}`, {
          ids: [hider.id, outer.id],
          why: `it hides ${outer.keys.map(shownKey).join(', ')}, the only key of ${outer.id}`,
        });
      }
    }
  }
  return [...found.values()];
}

/** While a field takes the text, the lists and cards under it rest. */
const sharedByDesign = (outer: KeyCommand, innermost: KeyContext | undefined): boolean =>
  innermost === 'field' && outer.context !== 'global';

function forbidden(commands: readonly KeyCommand[]): readonly Conflict[] {
  const found: Conflict[] = [];
  const refusals = new Map(
    commands.filter(({ id }) => refusing.has(id)).flatMap(({ id, keys }) => keys.map((key) => [key, id] as const)),
  );
  for (const { id, context, keys } of commands) {
    for (const key of keys) {
      if (textContexts.has(context) && isPrintable(key))
        found.push({ ids: [id], why: `${shownKey(key)} is text where it is bound` });
      if (!deliberate.has(id)) continue;
      if (!isPrintable(key) || key === 'space')
        found.push({ ids: [id], why: `${shownKey(key)} is no printable character, and this approves` });
      const opposite = refusals.get(key);
      if (opposite !== undefined) found.push({ ids: [id], why: `${shownKey(key)} is ${opposite} on another card` });
    }
  }
  return found;
}
