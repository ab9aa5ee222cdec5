import { setImmediate as nextTurn } from 'node:timers/promises';
import { ownMember } from '../text/own-member.ts';
import { parseUrl } from '../text/parse-url.ts';

/** What never shows text, up to its end tag. */
const rawElements: ReadonlySet<string> = new Set(
  'script style noscript template iframe object svg math canvas audio video select textarea'.split(' '),
);
const voidElements: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta param source track wbr'.split(' '),
);
const blockElements: ReadonlySet<string> = new Set(
  'address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form header html main nav ol p pre section summary table tbody tfoot thead tr ul title'.split(
    ' ',
  ),
);

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  times: '×',
  euro: '€',
};

type Tag = {
  readonly name: string;
  readonly closing: boolean;
  readonly selfClosing: boolean;
  readonly attributes: ReadonlyMap<string, string>;
  /** Index behind the tag. */
  readonly end: number;
};

/** A page may be built to take a second a megabyte, and everything else in the program waits meanwhile. */
const sliceMs = 10;
/** Text without a tag is taken in parts of this size. */
const partLength = 65_536;

/**
 * Reduces HTML to text with headings, lists and `[text](url)` links (05 §5.4). Scripts, styles and hidden elements are
 * left out. Linear in the length: every character is looked at once, whatever is left open. Lets others have their
 * turn every few milliseconds. Never throws; an abort ends it with what there is.
 */
export async function htmlToText(html: string, base: string, signal?: AbortSignal): Promise<string> {
  const writer = createWriter(base);
  let hidden: { readonly name: string; depth: number } | null = null;
  let pausedAt = performance.now();
  for (let at = 0; at < html.length; ) {
    if (performance.now() - pausedAt > sliceMs) {
      await nextTurn();
      if (signal?.aborted === true) break;
      pausedAt = performance.now();
    }
    const open = html.indexOf('<', at);
    const stop = open < 0 ? html.length : open;
    if (hidden === null && stop - at > partLength) {
      const part = wholePart(html, at);
      writer.text(html.slice(at, part));
      at = part;
      continue;
    }
    if (hidden === null) writer.text(html.slice(at, stop));
    if (open < 0) break;
    if (html.startsWith('<!--', open)) {
      at = behind(html, '-->', open + 4);
      continue;
    }
    const next = html.charAt(open + 1);
    if (next === '!' || next === '?') {
      at = behind(html, '>', open + 1);
      continue;
    }
    if (!/[A-Za-z/]/.test(next)) {
      if (hidden === null) writer.text('<');
      at = open + 1;
      continue;
    }
    const tag = readTag(html, open);
    at = tag.end;
    if (hidden !== null) {
      if (tag.name === hidden.name && !tag.selfClosing) hidden.depth += tag.closing ? -1 : 1;
      if (hidden.depth === 0) hidden = null;
    } else if (!tag.closing && rawElements.has(tag.name)) {
      if (!tag.selfClosing) at = behindEndTag(html, tag.name, at);
    } else if (!tag.closing && !tag.selfClosing && !voidElements.has(tag.name) && isHidden(tag)) {
      hidden = { name: tag.name, depth: 1 };
    } else {
      writer.tag(tag);
    }
  }
  return writer.end();
}

/** Where a part of a long text ends: ahead of what may be an entity. */
function wholePart(html: string, from: number): number {
  const end = from + partLength;
  const entity = html.lastIndexOf('&', end - 1);
  return entity > end - 12 ? entity : end;
}

function behind(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found + mark.length;
}

/** A raw element that is not closed hides the rest. */
function behindEndTag(html: string, name: string, from: number): number {
  for (let at = html.indexOf('</', from); at >= 0; at = html.indexOf('</', at + 2)) {
    if (html.slice(at + 2, at + 2 + name.length).toLowerCase() === name) return behind(html, '>', at);
  }
  return html.length;
}

function isHidden({ attributes }: Tag): boolean {
  if (attributes.has('hidden') || attributes.get('aria-hidden') === 'true') return true;
  const style = attributes.get('style')?.toLowerCase().replaceAll(' ', '') ?? '';
  return style.includes('display:none') || style.includes('visibility:hidden');
}

function readTag(html: string, open: number): Tag {
  const closing = html.charAt(open + 1) === '/';
  let at = open + (closing ? 2 : 1);
  const start = at;
  while (at < html.length && /[A-Za-z0-9-]/.test(html.charAt(at))) at += 1;
  const name = html.slice(start, at).toLowerCase();
  const attributes = new Map<string, string>();
  let selfClosing = false;
  while (at < html.length && html.charAt(at) !== '>') {
    const character = html.charAt(at);
    selfClosing = character === '/';
    if (character === '/' || character <= ' ') {
      at += 1;
      continue;
    }
    const attribute = readAttribute(html, at);
    attributes.set(attribute.name, attribute.value);
    at = attribute.end;
  }
  return { name, closing, selfClosing, attributes, end: at + 1 };
}

function readAttribute(html: string, start: number): { name: string; value: string; end: number } {
  let at = start + 1;
  while (at < html.length && !/[\s=>/]/.test(html.charAt(at))) at += 1;
  const name = html.slice(start, at).toLowerCase();
  let after = at;
  while (after < html.length && html.charAt(after) <= ' ') after += 1;
  if (html.charAt(after) !== '=') return { name, value: '', end: at };
  at = after + 1;
  while (at < html.length && html.charAt(at) <= ' ') at += 1;
  const quote = html.charAt(at);
  if (quote === '"' || quote === "'") {
    const end = html.indexOf(quote, at + 1);
    const stop = end < 0 ? html.length : end;
    return { name, value: decodeEntities(html.slice(at + 1, stop)), end: stop + 1 };
  }
  const from = at;
  while (at < html.length && !/[\s>]/.test(html.charAt(at))) at += 1;
  return { name, value: decodeEntities(html.slice(from, at)), end: at };
}

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return entities[String(name).toLowerCase()] ?? whole;
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff)
      ? String.fromCodePoint(point)
      : '\ufffd';
  });
}

/** Collects the text: blanks collapse, blocks stand on lines of their own. */
function createWriter(base: string) {
  const parts: string[] = [];
  const links: { readonly at: number; readonly url: string }[] = [];
  let lists = 0;
  let pre = 0;
  /** What the text so far ends with, so that it need not be joined to be known. */
  let tail = '\n\n';

  const put = (text: string): void => {
    if (text === '') return;
    parts.push(text);
    tail = (tail + text).slice(-2);
  };
  const breakLine = (count: number): void => {
    const has = tail.endsWith('\n\n') ? 2 : tail.endsWith('\n') ? 1 : 0;
    if (has < count) put('\n'.repeat(count - has));
  };
  const endLink = (): void => {
    const link = links.pop();
    if (link === undefined) return;
    const text = parts.splice(link.at).join('').trim();
    tail = '  ';
    put(text === '' ? '' : `[${text}](${link.url})`);
  };

  const heading = (level: number, closing: boolean): void => {
    breakLine(2);
    if (!closing) put(`${'#'.repeat(level)} `);
  };
  // The end of a cell may be left out: where the next one begins, its text would go on that of this one.
  const cell = (): void => {
    if (!/\s$/.test(tail)) put(' ');
  };
  const block = ({ name, closing }: Tag): void => {
    breakLine(name === 'p' || name === 'pre' || name === 'table' ? 2 : 1);
    const step = closing ? -1 : 1;
    if (name === 'ul' || name === 'ol') lists = Math.max(0, lists + step);
    if (name === 'pre') pre = Math.max(0, pre + step);
  };
  const byName: Readonly<Record<string, (tag: Tag) => void>> = {
    br: () => breakLine(1),
    hr: () => breakLine(2),
    li: ({ closing }) => {
      breakLine(1);
      if (!closing) put(`${'  '.repeat(Math.min(Math.max(lists - 1, 0), 10))}- `);
    },
    td: cell,
    th: cell,
    a: ({ closing, attributes }) => {
      endLink();
      const url = closing ? null : linkUrl(attributes.get('href'), base);
      if (url !== null) links.push({ at: parts.length, url });
    },
  };

  return {
    text(raw: string): void {
      const text = decodeEntities(raw);
      if (pre > 0) {
        put(text);
        return;
      }
      const collapsed = text.replace(/\s+/g, ' ');
      put(/\s$/.test(tail) ? collapsed.replace(/^ /, '') : collapsed);
    },
    tag(tag: Tag): void {
      const level = /^h([1-6])$/.exec(tag.name)?.[1];
      const own = ownMember(byName, tag.name);
      if (level !== undefined) heading(Number(level), tag.closing);
      else if (own !== undefined) own(tag);
      else if (blockElements.has(tag.name)) block(tag);
    },
    end(): string {
      endLink();
      return parts
        .join('')
        .split('\n')
        .map((line) => line.trimEnd())
        .join('\n')
        .replace(/\n{3,}/g, '\n\n')
        .trim();
    },
  };
}

/** Only links that lead somewhere: no script, no data, no place on the same page. */
function linkUrl(href: string | undefined, base: string): string | null {
  if (href === undefined || href === '' || href.startsWith('#')) return null;
  const url = parseUrl(href, base);
  return url !== null && /^(?:https?|mailto):$/.test(url.protocol) ? url.href : null;
}
