import type { Key } from './key.ts';

const letters: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  E: 'begin',
  F: 'end',
  H: 'home',
  P: 'f1',
  Q: 'f2',
  R: 'f3',
  S: 'f4',
};

const numbers: Readonly<Record<number, string>> = {
  1: 'home',
  2: 'insert',
  3: 'delete',
  4: 'end',
  5: 'pageup',
  6: 'pagedown',
  7: 'home',
  8: 'end',
  ...Object.fromEntries([11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24].map((code, index) => [code, `f${index + 1}`])),
};

/** Functional keys of `CSI … u` that are no characters; those of the keypad are their plain kin. */
const functional: Readonly<Record<number, string>> = {
  9: 'tab',
  13: 'enter',
  27: 'escape',
  127: 'backspace',
  57414: 'enter',
  57417: 'left',
  57418: 'right',
  57419: 'up',
  57420: 'down',
  57421: 'pageup',
  57422: 'pagedown',
  57423: 'home',
  57424: 'end',
  57425: 'insert',
  57426: 'delete',
};

type Modifiers = Pick<Key, 'ctrl' | 'alt' | 'shift'>;

/** `1` + a bit each for shift, alt, ctrl (super and the rest are not ours). */
const modifiersOf = (code: number): Modifiers => {
  const bits = Math.max(0, code - 1);
  return { shift: (bits & 1) !== 0, alt: (bits & 2) !== 0, ctrl: (bits & 4) !== 0 };
};

const named = (name: string, modifiers: Modifiers): Key => ({ ...modifiers, name, text: '' });

/**
 * The key of a `CSI` sequence in the legacy, modifyOtherKeys and `CSI u` encodings, which name the same key alike.
 * @returns null for what is no key, and for the release of one
 */
export function csiKey(body: string, final: string): Key | null {
  if (!/^[\d;:]*$/.test(body)) return null;
  const fields = body.split(';').map((field) => field.split(':').map((part) => (part === '' ? 0 : Number(part))));
  const [, [modifier = 1, event = 1] = []] = fields;
  if (event === 3) return null;
  const modifiers = modifiersOf(modifier);
  const first = fields[0]?.[0] ?? 0;
  if (final === 'Z') return named('tab', { ...modifiers, shift: true });
  if (final === 'u') return character(first, fields[0]?.[1] ?? 0, modifiers, fields[2]);
  if (final === '~' && first === 27) return character(fields[2]?.[0] ?? 0, 0, modifiers, undefined);
  const name = final === '~' ? numbers[first] : letters[final];
  return name === undefined || name === 'begin' ? null : named(name, modifiers);
}

/** The key of an `ESC O` sequence. */
export function ss3Key(final: string): Key | null {
  const name = final === 'M' ? 'enter' : letters[final];
  return name === undefined || name === 'begin' ? null : named(name, { ctrl: false, alt: false, shift: false });
}

/** @param shifted the character that shift makes of it, where the terminal says so @param typed the text, likewise */
function character(
  code: number,
  shifted: number,
  modifiers: Modifiers,
  typed: readonly number[] | undefined,
): Key | null {
  const name = functional[code];
  if (name !== undefined) return named(name, modifiers);
  // Other functional keys live in the private use area; none of them is a key of ours.
  if (code < 0x20 || (code >= 0xe000 && code <= 0xf8ff) || code > 0x10ffff || (code >= 0x7f && code <= 0x9f))
    return null;
  const plain = String.fromCodePoint(code);
  const made = typed?.[0] !== undefined && typed[0] >= 0x20 ? String.fromCodePoint(typed[0]) : null;
  const upper = shifted >= 0x20 ? String.fromCodePoint(shifted) : modifiers.shift ? plain.toUpperCase() : plain;
  if (plain === ' ') return { ...modifiers, name: 'space', text: modifiers.ctrl || modifiers.alt ? '' : ' ' };
  // With ctrl both cases are one key, as every terminal without the protocol sends them.
  if (modifiers.ctrl) return { ...modifiers, shift: false, name: plain.toLowerCase(), text: '' };
  const text = made ?? upper;
  return { ctrl: false, alt: modifiers.alt, shift: false, name: text, text: modifiers.alt ? '' : text };
}
