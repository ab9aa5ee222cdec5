import { Marked, type Token as Markdown, type Tokens } from 'marked';
import { escapeText, type Glyphs } from './escape.ts';
import { type Line, type Mark, say, shown, type Span, type Token } from './line.ts';
import { tableLines, toldTable } from './markdown-table.ts';
import { expandTabs, wrapLine } from './wrap.ts';

/** How the lines are drawn: escapes, and the bars of code and quotes, differ by the set of signs. */
export type MarkdownLook = {
  readonly columns: number;
  readonly glyphs: Glyphs;
  /** Rows of lines of code by width and text, kept by who lays out the same block again and again. */
  readonly laid?: Map<string, readonly Line[]>;
};
const bars: Readonly<Record<Glyphs, string>> = { unicode: '│', ascii: '|' };

/**
 * References between blocks are not followed: a definition at the end of a text would change what stands above it.
 */
const marked = new Marked({ gfm: true, tokenizer: { def: () => undefined } });

/** A carriage return of its own is a control character and no line end; the parser would take it for one. */
const loneReturn = '\ufffe';

/** The text as the parser gets it: each character stays where it is, but for the return before a line end. */
export const prepared = (text: string): string =>
  text.includes('\r') ? text.replaceAll('\r\n', '\n').replaceAll('\r', loneReturn) : text;

const visible = (text: string, glyphs: Glyphs) =>
  escapeText(text.includes(loneReturn) ? text.replaceAll(loneReturn, '\r') : text, { mode: 'prose', glyphs });

/** Blocks of a prepared text; `raw` is each one's own part of it. */
export const blocksOf = (text: string): readonly Markdown[] => marked.lexer(text);

/** The lines of blocks, with an empty one between two blocks. Links are not followed and nothing is fetched (10 §5.3). */
export function blockLines(blocks: readonly Markdown[], look: MarkdownLook): readonly Line[] {
  const out: Line[] = [];
  for (const block of blocks) {
    const lines = linesOf(block, look);
    if (lines.length === 0) continue;
    if (out.length > 0) out.push([]);
    out.push(...lines);
  }
  return out;
}

function linesOf(block: Markdown, look: MarkdownLook): readonly Line[] {
  switch (block.type) {
    case 'space':
      return [];
    case 'heading':
      return rows(
        [
          say(`${'#'.repeat((block as Tokens.Heading).depth)} `, undefined, ['bold']),
          ...inlineOf(block, ['bold'], look.glyphs),
        ],
        look,
      );
    case 'code':
      return codeLines(block as Tokens.Code, look);
    case 'list':
      return listLines(block as Tokens.List, look);
    case 'blockquote':
      return quoted((block as Tokens.Blockquote).tokens, look);
    case 'hr':
      return [[say('─'.repeat(Math.min(look.columns, 40)), 'border')]];
    case 'table':
      return tableLines(block as Tokens.Table, look.columns, (cell) => inlineOf(cell, [], look.glyphs));
    case 'paragraph':
    case 'text':
      return rows(inlineOf(block, [], look.glyphs), look);
    default:
      return plainLines(block.raw, look);
  }
}

/** Rows of spans that may hold line breaks. */
function rows(spans: Line, look: MarkdownLook): readonly Line[] {
  return brokenAt(spans).flatMap((line) => wrapLine(line, look.columns));
}

function brokenAt(spans: Line): readonly Line[] {
  const out: Span[][] = [[]];
  for (const span of spans) {
    for (const [index, piece] of span.text.split('\n').entries()) {
      if (index > 0) out.push([]);
      // A part of a safe text is safe.
      if (piece !== '') out.at(-1)?.push({ ...span, text: piece as Span['text'] });
    }
  }
  return out;
}

const plainLines = (text: string, look: MarkdownLook): readonly Line[] =>
  rows(leaf(text.replace(/\n+$/, ''), [], look.glyphs), look);

const leaf = (text: string, marks: readonly Mark[], glyphs: Glyphs, token?: Token): Line =>
  shown(visible(text.replaceAll('\t', ' '), glyphs), glyphs, token, marks.length === 0 ? undefined : marks);

type Inline = { readonly tokens?: readonly Markdown[] | undefined; readonly text?: string };

function inlineOf({ tokens, text }: Inline, marks: readonly Mark[], glyphs: Glyphs): Line {
  if (tokens === undefined) return leaf(text ?? '', marks, glyphs);
  return tokens.flatMap((token) => inlineSpans(token, marks, glyphs));
}

function inlineSpans(token: Markdown, marks: readonly Mark[], glyphs: Glyphs): Line {
  switch (token.type) {
    case 'strong':
      return inlineOf(token as Tokens.Strong, [...marks, 'bold'], glyphs);
    case 'em':
      return inlineOf(token as Tokens.Em, [...marks, 'italic'], glyphs);
    case 'del':
      return inlineOf(token as Tokens.Del, [...marks, 'strike'], glyphs);
    case 'codespan':
      return leaf((token as Tokens.Codespan).text, marks, glyphs, 'accent');
    case 'br':
      return [say('\n')];
    case 'link': {
      const { href, text } = token as Tokens.Link;
      const inner = inlineOf(token as Tokens.Link, [...marks, 'underline'], glyphs);
      const same = href === text || href === `mailto:${text}` || href === `http://${text}`;
      return same ? inner : [...inner, ...leaf(` (${href})`, marks, glyphs, 'dim')];
    }
    case 'image': {
      const { href, text } = token as Tokens.Image;
      return leaf(`[image: ${text}] (${href})`, marks, glyphs);
    }
    case 'text':
    case 'escape':
      return inlineOf(token as Tokens.Text, marks, glyphs);
    default:
      return leaf(token.raw, marks, glyphs);
  }
}

/** Wrapped and never cut: a row that goes on ends in `\` (10 §5.3). */
function codeLines(code: Tokens.Code, { columns, glyphs, laid }: MarkdownLook): readonly Line[] {
  const edge = say(`${bars[glyphs]} `, 'border');
  const language = code.lang === undefined || code.lang === '' ? [] : [[edge, ...leaf(code.lang, [], glyphs, 'dim')]];
  const lines = code.text.split('\n');
  const rowsOf = (line: string, index: number): readonly Line[] => {
    // The last one may grow yet.
    if (laid === undefined || index === lines.length - 1) return codeRows(line, columns, glyphs, edge);
    const key = `${columns} ${line}`;
    const rows = laid.get(key) ?? codeRows(line, columns, glyphs, edge);
    laid.set(key, rows);
    return rows;
  };
  return [...language, ...lines.flatMap(rowsOf)];
}

function codeRows(text: string, columns: number, glyphs: Glyphs, edge: Span): readonly Line[] {
  const line = shown(visible(expandTabs(text), glyphs), glyphs);
  const wrapped = wrapLine(line, columns - 1, [edge]);
  return wrapped.map((row, index) => (index < wrapped.length - 1 ? [...row, say('\\', 'dim')] : row));
}

function quoted(tokens: readonly Markdown[], look: MarkdownLook): readonly Line[] {
  const edge = say(`${bars[look.glyphs]} `, 'dim');
  return blockLines(tokens, { ...look, columns: Math.max(8, look.columns - 2) }).map((line) => [
    edge,
    ...line.map((span): Span => (span.token === undefined ? { ...span, token: 'dim' } : span)),
  ]);
}

function listLines(list: Tokens.List, look: MarkdownLook): readonly Line[] {
  const out: Line[] = [];
  for (const [index, item] of list.items.entries()) {
    const start = typeof list.start === 'number' ? list.start : 1;
    const mark = `${list.ordered ? `${start + index}.` : '-'} ${item.task ? `[${item.checked === true ? 'x' : ' '}] ` : ''}`;
    const inner = { ...look, columns: Math.max(8, look.columns - mark.length) };
    const parts = item.tokens.filter((token) => token.type !== 'checkbox').map((token) => linesOf(token, inner));
    const lines = parts.flatMap((part, at) => (at > 0 && list.loose && part.length > 0 ? [[], ...part] : part));
    if (index > 0 && list.loose) out.push([]);
    out.push([say(mark), ...(lines[0] ?? [])]);
    for (const line of lines.slice(1)) out.push(line.length === 0 ? line : [say(' '.repeat(mark.length)), ...line]);
  }
  return out;
}

/** Markdown for ears (10 §10.2): a table is told cell by cell, each with its header; everything else stays as it is. */
export function toldMarkdown(text: string): string {
  if (!/^ {0,3}\|?[ :|-]*-[ :|-]*$/m.test(text)) return text;
  return blocksOf(prepared(text))
    .map((block) => (block.type === 'table' ? toldTable(block as Tokens.Table) : block.raw))
    .join('')
    .replaceAll(loneReturn, '\r');
}
