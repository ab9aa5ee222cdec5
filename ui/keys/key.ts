/**
 * One key press as the decoder gives it. `name` is the produced character for a printable key (so `R`, never
 * `shift+r`), else one of `keyNames`; `shift` counts only where it does not change the character.
 */
export type Key = {
  readonly name: string;
  readonly ctrl: boolean;
  readonly alt: boolean;
  readonly shift: boolean;
  /** What it types; empty for keys that type nothing. */
  readonly text: string;
};

/** Names of the keys that produce no character, as `keys.json` writes them (10 §12.5). */
const keyNames: readonly string[] = [
  ...'enter tab space up down left right home end pageup pagedown insert delete backspace escape'.split(' '),
  ...Array.from({ length: 12 }, (_, index) => `f${index + 1}`),
];

const known: ReadonlySet<string> = new Set(keyNames);

/** The notation of a key in the table and in `keys.json`: `ctrl+x`, `shift+enter`, `y`. */
export const notation = (key: Key): string =>
  `${key.ctrl ? 'ctrl+' : ''}${key.alt ? 'alt+' : ''}${key.shift ? 'shift+' : ''}${key.name}`;

/** A key that types exactly one printable character and nothing else. */
export const isPrintable = (written: string): boolean =>
  written === 'space' || ([...written].length === 1 && !/[\p{C}\p{Z}]/u.test(written));

export type WrittenKey =
  | { readonly ok: true; readonly keys: readonly string[] }
  | { readonly ok: false; readonly why: string };

const refused = (why: string): WrittenKey => ({ ok: false, why });

/** Keys that terminals send as another key (10 §12.5). */
const same: Readonly<Record<string, string>> = {
  'ctrl+i': 'Tab',
  'ctrl+m': 'Enter',
  'ctrl+[': 'Esc',
  'ctrl+h': 'Backspace',
};

/** Reads one entry of `keys.json`: a key, or two that follow one another. Never throws. */
export function readKey(text: string): WrittenKey {
  const parts = text.split(' ');
  if (parts.length > 2 || parts.some((part) => part === ''))
    return refused('is not a key or two keys with one blank between');
  const keys: string[] = [];
  for (const part of parts) {
    const one = readOne(part);
    if (!one.ok) return one;
    keys.push(...one.keys);
  }
  if (keys.length === 2 && !/^(?:ctrl|alt)\+/.test(keys[0] ?? ''))
    return refused('begins with a key that has neither ctrl nor alt');
  return { ok: true, keys: [keys.join(' ')] };
}

function readOne(part: string): WrittenKey {
  const found = /^((?:ctrl\+|alt\+|shift\+)*)(.+)$/u.exec(part);
  const name = found?.[2] ?? '';
  const given = found?.[1] ?? '';
  const modifiers = ['ctrl', 'alt', 'shift'].filter((modifier) => given.includes(`${modifier}+`));
  if (given !== modifiers.map((modifier) => `${modifier}+`).join(''))
    return refused('has modifiers in another order than ctrl+alt+shift');
  const printable = isPrintable(name);
  if (!known.has(name) && !printable) return refused(`has the unknown key ${JSON.stringify(name)}`);
  if (printable && name !== 'space' && modifiers.includes('shift'))
    return refused('has shift with a character: write the character that shift makes');
  if (printable && modifiers.includes('ctrl') && name !== name.toLowerCase())
    return refused('has ctrl with a capital: terminals send both alike');
  const written = modifiers.map((modifier) => `${modifier}+`).join('') + name;
  const other = same[written];
  return other === undefined ? { ok: true, keys: [written] } : refused(`cannot be told from ${other} by a terminal`);
}

const shownNames: Readonly<Record<string, string>> = {
  pageup: 'PgUp',
  pagedown: 'PgDn',
  escape: 'Esc',
  delete: 'Del',
  insert: 'Ins',
};

/** A key as people read it: `Ctrl+X s`, `Shift+Enter`, `PgUp`. */
export const shownKey = (written: string): string =>
  written
    .split(' ')
    .map((key) =>
      key
        .split(/\+(?=.)/u)
        .map((part, index, all) => (index < all.length - 1 || all.length > 1 || known.has(part) ? title(part) : part))
        .join('+'),
    )
    .join(' ');

const title = (part: string): string => shownNames[part] ?? part.charAt(0).toUpperCase() + part.slice(1);
