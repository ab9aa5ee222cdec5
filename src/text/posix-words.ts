/** Words of POSIX command lines, as far as they can be read without a grammar (02 §9.2). Pure, linear, never throws. */

/** What a string `args` becomes; `ungrantable` says why no allowlist may grant it, null = it may. */
export type SplitWords = { readonly words: readonly string[]; readonly ungrantable: string | null };

/** Space and tab: the only blanks (02 §9.2). */
export const isBlank = (char: string): boolean => char === ' ' || char === '\t';

/**
 * Splits a string `args` by POSIX quoting: single quotes, double quotes with the backslash before `"`, `\`, `$` and
 * `` ` ``, backslash. `$`, `~` and globs are ordinary.
 */
export function splitWords(text: string): SplitWords {
  const words: string[] = [];
  let ungrantable: string | null = text.includes('$(') || text.includes('`') ? 'a command substitution' : null;
  let word: string | null = null;
  const add = (part: string): void => {
    word = (word ?? '') + part;
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (isBlank(char) || char === '\n') {
      if (char === '\n') ungrantable ??= 'a line break';
      if (word !== null) words.push(word);
      word = null;
    } else if (char === "'") {
      const end = text.indexOf("'", at + 1);
      if (end === -1) ungrantable ??= 'an open quote';
      add(text.slice(at + 1, end === -1 ? text.length : end));
      at = end === -1 ? text.length : end;
    } else if (char === '"') {
      const inner = doubleQuoted(text, at + 1);
      if (!inner.closed) ungrantable ??= 'an open quote';
      add(inner.text);
      at = inner.end;
    } else if (char === '\\') {
      at += 1;
      if (at === text.length) ungrantable ??= 'a backslash at the end';
      // A backslash before a line break joins two lines.
      if (text.charAt(at) !== '\n') add(text.charAt(at));
    } else {
      if (';|&<>()'.includes(char)) ungrantable ??= `the operator ${char}`;
      add(char);
    }
  }
  if (word !== null) words.push(word);
  return { words, ungrantable };
}

/** What stands between `from` and the closing quote; `end` is the place of that quote. */
function doubleQuoted(text: string, from: number): { text: string; end: number; closed: boolean } {
  let inner = '';
  for (let at = from; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '"') return { text: inner, end: at, closed: true };
    if (char === '\\' && '"\\$`\n'.includes(text.charAt(at + 1)) && at + 1 < text.length) {
      at += 1;
      if (text.charAt(at) !== '\n') inner += text.charAt(at);
    } else {
      inner += char;
    }
  }
  return { text: inner, end: text.length, closed: false };
}

/** Why an element of an array `args` makes the call not grantable, or null. */
export function ungrantableElement(element: string): string | null {
  if (/^[;|&<>]+$/.test(element)) return `the operator ${element.slice(0, 8)}`;
  if (/[\n\r]/.test(element)) return 'a line break';
  if (element.includes('`') || element.includes('$(')) return 'a command substitution';
  return element.includes('<(') || element.includes('>(') ? 'a process substitution' : null;
}

/**
 * The raw scan of 02 §7.3: pieces of a text between all characters that are not a letter, a digit or one of `._+-/~$`.
 * `${HOME}` counts as `$HOME`.
 */
export function rawPieces(text: string): readonly string[] {
  const pieces = text.replace(/\$\{HOME\}/g, '$$HOME').split(/[^\p{L}\p{N}._+\-/~$]+/u);
  return pieces.filter((piece) => piece !== '');
}

/** A character that no command text may hold (02 §9.2). */
export type ForbiddenCharacter = { readonly codePoint: number; readonly index: number };

/** The first forbidden character of a text and its place in UTF-16 units, or null. */
export function forbiddenCharacter(text: string): ForbiddenCharacter | null {
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x20 && unit < 0x7f) continue;
    const codePoint = text.codePointAt(index) ?? unit;
    if (isForbidden(codePoint)) return { codePoint, index };
    if (codePoint > 0xffff) index += 1;
  }
  return null;
}

function isForbidden(code: number): boolean {
  if (code < 0x20) return code !== 0x09 && code !== 0x0a;
  if (code < 0xa0) return code >= 0x7f;
  if (code < 0x2000) return code === 0xa0 || code === 0x1680;
  if (code <= 0x206f) return code <= 0x200f || (code >= 0x2028 && code <= 0x202f) || code >= 0x205f;
  if (code >= 0xd800 && code <= 0xdfff) return true;
  return code === 0x3000 || code === 0xfeff || (code >= 0xe0000 && code <= 0xe007f);
}

/** `U+00A0` and its like. */
export const codePointName = (code: number): string => `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
