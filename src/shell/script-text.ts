import type { Piece } from './script.ts';

/** The parser is slow on openers that stay open, and on here-documents in great number. */
const maxOpen = 32;
const maxHereDocuments = 32;

/** Openers that are never closed, counted without regard to quotes: a bound on work, not a reading. */
export function tooOpen(text: string): string | null {
  let open = 0;
  let hereDocuments = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '(' || (char === '{' && text.charAt(at - 1) === '$')) open += 1;
    else if (char === ')' || char === '}') open = Math.max(0, open - 1);
    else if (char === '<' && text.charAt(at + 1) === '<') hereDocuments += 1;
    if (open > maxOpen) return 'parentheses are nested too deep';
    if (hereDocuments > maxHereDocuments) return 'there are too many here-documents';
  }
  return null;
}

/** Behind an unquoted delimiter the shell takes away the backslash before what it would expand. */
export function hereText(text: string, quoted: boolean): string {
  return quoted ? text : text.replace(/\\([$`\\])|\\\n/g, '$1');
}

/** Only the shell knows where `~root` lies, or `~2`. */
const homeOfUser = /^~[+-]?[A-Za-z0-9_][A-Za-z0-9_.-]*(?=$|[/:])/;

/**
 * Unquoted text: a tilde at the begin, or behind `=` or `:`, is the home directory when a slash or nothing follows, and
 * that of somebody else when a name does.
 */
export function unquotedPieces(text: string, value: string, first: boolean): readonly Piece[] {
  if (!text.includes('~')) return [{ kind: 'text', value }];
  const found: Piece[] = [];
  let literal = '';
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    const opens = at === 0 ? first : '=:'.includes(text.charAt(at - 1)) && text.charAt(at - 2) !== '\\';
    if (char === '\\') {
      at += 1;
      if (text.charAt(at) !== '\n') literal += text.charAt(at);
    } else if (char === '~' && opens && /^(?:$|[/:])/.test(text.slice(at + 1, at + 2))) {
      if (literal !== '') found.push({ kind: 'text', value: literal });
      found.push({ kind: 'home' });
      literal = '';
    } else if (char === '~' && opens && /^[+-](?:$|[/:])/.test(text.slice(at + 1, at + 3))) {
      if (literal !== '') found.push({ kind: 'text', value: literal });
      found.push({
        kind: 'variable',
        name: text.charAt(at + 1) === '+' ? 'PWD' : 'OLDPWD',
        text: text.slice(at, at + 2),
        quoted: true,
      });
      literal = '';
      at += 1;
    } else if (char === '~' && opens && homeOfUser.test(text.slice(at))) {
      if (literal !== '') found.push({ kind: 'text', value: literal });
      const [name = ''] = homeOfUser.exec(text.slice(at)) ?? [];
      found.push({ kind: 'open', text: name });
      literal = '';
      at += name.length - 1;
    } else {
      literal += char;
    }
  }
  return literal === '' ? found : [...found, { kind: 'text', value: literal }];
}
