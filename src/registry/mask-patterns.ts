import type { MaskStream } from './mask-stream.ts';
import { type Body, createPatternStream, type Pattern } from './pattern-stream.ts';

/** Stands for what was hidden; a text that begins with it was masked before. */
export const hidden = '•••';

/** 11 §5.3.2: what looks like a secret whoever wrote it. Linear in the length of the text. */
export function maskPatterns(text: string): string {
  let masked = text;
  for (const pattern of patterns) {
    if (!pattern.hint(masked)) continue;
    const stream = createPatternStream(pattern);
    masked = stream.push(masked) + stream.end();
  }
  return masked;
}

/** The same for a text in pieces, in the same order. */
export const patternStreams = (): readonly MaskStream[] => patterns.map(createPatternStream);

const nothing = (): number => 0;

/** One or two dots may become the three that say that the value is hidden already. */
function dots(text: string): number {
  if (!text.endsWith('•') || text.endsWith(hidden)) return 0;
  return text.endsWith('••') ? 2 : 1;
}

/** Dropped as it comes, to the first character that ends it or to its greatest length. */
function value(stop: RegExp, longest: number): Body {
  let left = longest;
  return {
    take(text, at) {
      const shown = left === longest ? hidden : '';
      stop.lastIndex = at;
      const end = Math.min(stop.exec(text)?.index ?? text.length, at + left);
      left -= end - at;
      return { shown, over: end === text.length && left > 0 ? null : { at: end, from: end } };
    },
    rest: () => '',
  };
}

const endOfLine = /[\r\n]/;
const endOfHeader = /['`\\]/;
/** Behind a quotation mark that opens something: one that ends the text around the header has none of these there. */
const inQuotes = /[\w%+./~-]/;
const longestHeader = 8193;
const scheme = /^[A-Za-z][A-Za-z0-9-]*$/;
const parameter = /^[^=;,]+=[^=]/;
/** `$TOKEN`, `${token}`, `{{token}}` and `<token>`, also where a sentence goes on or ends behind them. */
const placeholder = /^(?:\$[A-Za-z_]\w*|\$?\{{1,2}[\w.-]+\}{1,2}|<[\w.-]+>)[.,;:)]*$/;
const mayBePlaceholder = /^(?:[A-Za-z][A-Za-z0-9-]*[ \t]*)?(?:[$<{]|$)/;
const longestPlaceholder = 64;

/**
 * Of a header: one word, or two where the first may be a scheme (`Bearer`), since the rest of the line may be the
 * sentence that speaks of it. Where one of them is a parameter or a cookie, the line is hidden. Held back while it may
 * be a placeholder, which is what examples are made of.
 */
function headerValue(): Body {
  let held: string | null = '';
  let word = '';
  let behindScheme = false;
  let wholeLine = false;
  /** Of a parameter, `response="…"`; `maybe` at the end of a piece, since the next character tells. */
  let quoted: boolean | 'maybe' = false;
  let before = '';
  let left = longestHeader;

  /** At the end of a word: whether it was the last one. */
  const isLast = (): boolean => {
    if (parameter.test(word)) wholeLine = true;
    else if (behindScheme || !scheme.test(word)) return true;
    behindScheme = true;
    word = '';
    return false;
  };
  const finish = (): string => {
    if (held === null) return '';
    return held.length <= longestPlaceholder && placeholder.test(word) ? held : hidden;
  };

  /** Whether the value goes on with this character. */
  const goesOn = (char: string, next: string | undefined): boolean => {
    if (endOfLine.test(char)) return false;
    if (quoted === true) {
      quoted = char !== '"';
      return true;
    }
    if (char === '"') {
      if (before !== '=' || (next !== undefined && !inQuotes.test(next))) return false;
      quoted = next === undefined ? 'maybe' : true;
      wholeLine = true;
      return true;
    }
    if (endOfHeader.test(char)) return false;
    const space = char === ' ' || char === '\t';
    if (space && word !== '' && !wholeLine && isLast()) return false;
    if (!space && !wholeLine) word += char;
    return true;
  };

  return {
    take(text, at) {
      if (quoted === 'maybe') {
        quoted = inQuotes.test(text.charAt(at));
        if (!quoted) return { shown: '"', over: { at, from: at } };
      }
      const stop = Math.min(text.length, at + left);
      let end = at;
      while (end < stop && goesOn(text.charAt(end), text[end + 1])) {
        before = text.charAt(end);
        end += 1;
      }
      left -= end - at;
      if (held !== null) held += text.slice(at, end);
      if (end < text.length || left === 0) return { shown: finish(), over: { at: end, from: end } };
      const open = held !== null && held.length <= longestPlaceholder && mayBePlaceholder.test(held);
      if (held === null || open) return { shown: '', over: null };
      held = null;
      return { shown: hidden, over: null };
    },
    rest: () => `${finish()}${quoted === 'maybe' ? '"' : ''}`,
  };
}

const pemEnd = '-----END ';

/** Dropped to the last line; without one, all that follows. */
function privateKey(): Body {
  let begun = false;
  let taken = 0;
  return {
    take(text, at) {
      const shown = begun ? '' : hidden;
      begun = true;
      // The last line may have begun in the text before.
      const end = text.indexOf(pemEnd, at - Math.min(taken, pemEnd.length - 1));
      taken += text.length - at;
      if (end === -1) return { shown, over: null };
      return { shown: shown + text.slice(end, at), over: { at: Math.max(end, at), from: end } };
    },
    rest: () => '',
  };
}

const endOfUserInfo = /[\s/?#@"'<>]/g;
const longestUserInfo = 512;

/** Held back until a character says what it is: `@` ends a user-info, every other one a host. */
function userInfo(): Body {
  let held = '';
  return {
    take(text, at) {
      endOfUserInfo.lastIndex = at;
      const stop = endOfUserInfo.exec(text)?.index ?? text.length;
      const end = Math.min(stop, at + longestUserInfo - held.length);
      if (text[end] === '@') return { shown: hidden, over: { at: end, from: end } };
      const all = held + text.slice(at, end);
      if (end === text.length) {
        held = all;
        return { shown: '', over: null };
      }
      // It may have been the scheme of another address.
      return { shown: all, over: { at: end, from: end - all.length } };
    },
    rest: () => held,
  };
}

/** Of a JSON web token behind its first three characters. */
const segments = [8192, 16_384, 2048] as const;
const shortestSegment = 5;

const isTokenCharacter = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 45 || code === 95;
const dot = 46;

/** Held back until its third segment is long enough; what follows of that is dropped. */
function webToken(): Body {
  const held: string[] = [];
  let segment = 0;
  // The first three characters do not count.
  let count = -3;
  let known = false;
  return {
    take(text, at) {
      const before = known;
      let end = at;
      for (; end < text.length; end += 1) {
        const code = text.charCodeAt(end);
        if (isTokenCharacter(code) && count < (segments[segment] ?? 0)) count += 1;
        else if (code === dot && segment < 2 && count >= shortestSegment) {
          segment += 1;
          count = 0;
        } else break;
        if (segment === 2 && count === shortestSegment) known = true;
      }
      const over = end === text.length ? null : { at: end, from: end };
      if (known) return { shown: before ? '' : hidden, over };
      held.push(text.slice(at, end));
      return { shown: over === null ? '' : held.join(''), over };
    },
    rest: () => (known ? '' : held.join('')),
  };
}

const headerHint = /auth|cookie|api-key/i;
const endOfQueryValue = /[\s&#"'<>]/g;
const beginsToken = /(?<![A-Za-z0-9_-])ey?$/;

const patterns: readonly Pattern[] = [
  {
    // The first line of a private key: `RSA`, `OPENSSH`, `EC`, `ENCRYPTED` or nothing stands in it.
    hint: (text) => text.includes('PRIVATE KEY-----'),
    sign: 'PRIVATE KEY-----',
    introduction: /(-----BEGIN [\s\S]{0,33}?PRIVATE KEY-----)/g,
    reach: 60,
    undecided: nothing,
    body: privateKey,
  },
  {
    // A header in text, or a member of JSON text.
    hint: (text) => text.includes(':') && headerHint.test(text),
    sign: ':',
    introduction:
      /(\b(?:proxy-authorization|authorization|set-cookie|cookie|x-api-key|x-goog-api-key)\\?["']?[ \t]{0,4}:[ \t*]{0,6}\\?["'`]?)(?!•••)[^\s"'`\\*]/gi,
    reach: 36,
    undecided: dots,
    body: headerValue,
  },
  {
    // User-info of a URL.
    hint: (text) => text.includes('://') && text.includes('@'),
    sign: '://',
    introduction: /(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/?#@"'<>]/gi,
    reach: 24,
    undecided: nothing,
    body: userInfo,
  },
  {
    hint: (text) => text.includes('=') && (text.includes('?') || text.includes('&')),
    sign: '=',
    introduction:
      /([?&](?:[a-z0-9._-]{0,32}[._-])?(?:(?:access|api|auth|client|id|refresh|session)_?)?(?:token|key|secret|password|code|signature|sig)=)(?!•••)[^\s&#"'<>]/gi,
    reach: 54,
    undecided: dots,
    body: () => value(endOfQueryValue, 4096),
  },
  {
    // A JSON web token.
    hint: (text) => text.includes('eyJ'),
    sign: 'eyJ',
    introduction: /(?<![A-Za-z0-9_-])()eyJ/g,
    reach: 0,
    undecided: (text) => beginsToken.exec(text.slice(-3))?.[0].length ?? 0,
    body: webToken,
  },
];
