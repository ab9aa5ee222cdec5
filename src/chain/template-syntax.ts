import { type Macro, type MacroSite, macroOf, macroSites } from './macro-syntax.ts';

/** A piece of a template that needs no template engine. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'macro'; readonly index: number }
  /** A variable and the members read from it. */
  | { readonly kind: 'path'; readonly path: readonly string[]; readonly at: number };

/** A template made ready for its engine. */
export type PreparedTemplate = {
  /** Every macro stands in it as a variable of the name `macroName(index)`; leading dots are gone (04 §9.5). */
  readonly text: string;
  readonly macros: readonly Macro[];
  /** All of the template when it is text, macros and plain variables only; else null. */
  readonly parts: readonly Part[] | null;
  /** Where a macro stands inside a quoted text, which has no place for a value; else null. */
  readonly misplaced: number | null;
  /** Index in the written text of an index in `text`. */
  sourceIndex(index: number): number;
};

type FoundMacro = { readonly site: MacroSite; readonly macro: Macro };

/** What is wrong where a macro is `misplaced`. */
export const misplacedMacro = 'a macro stands inside a quoted text; take it out of the quotes';

/** The name under which the value of a macro is handed to the engine. */
export const macroName = (index: number): string => `__macro_${index}__`;

/**
 * Prepares a template field: macros first (04 §9.1), each becoming a reference to data; then leading dots.
 * @param dot what a lone dot stands for
 */
export function prepareTemplate(source: string, dot: 'vars' | 'output'): PreparedTemplate {
  const list: FoundMacro[] = [];
  for (const site of macroSites(source)) {
    const macro = macroOf(site);
    if (macro !== null) list.push({ site, macro });
  }
  const sites = new Map(list.map((found) => [found.site.start, found]));
  const macros: Macro[] = [];
  const parts: Part[] = [];
  const out = writer();
  let simple = true;
  let misplaced: number | null = null;

  const place = (macro: Macro): number => macros.push(macro) - 1;

  /** Copies an output or a tag, with its inner macros and dots; returns what was written. */
  const copyRegion = (start: number, end: number): string => {
    const inner = start + 2;
    let written = '';
    let quote = '';
    const write = (text: string, from: number): void => {
      written += text;
      out.write(text, from);
    };
    write(source.slice(start, inner), start);
    let at = inner;
    while (at < end) {
      const char = source.charAt(at);
      const found = sites.get(at);
      if (found !== undefined) {
        if (quote !== '') misplaced ??= at;
        write(` ${macroName(place(found.macro))} `, at);
        at = found.site.end;
        continue;
      }
      if (quote !== '') quote = char === quote ? '' : quote;
      else if (char === '"' || char === "'") quote = char;
      const operand = quote === '' && char === '.' ? dotAt(source, inner, at, dot) : null;
      write(operand ?? char, at);
      at += 1;
    }
    return written;
  };

  let at = 0;
  while (at < source.length) {
    const open = nextOpening(source, at);
    if (open > at) {
      const text = source.slice(at, open);
      out.write(text, at);
      parts.push({ kind: 'text', text });
    }
    if (open >= source.length) break;
    const found = sites.get(open);
    if (found !== undefined) {
      const index = place(found.macro);
      out.write(`{{ ${macroName(index)} }}`, open);
      parts.push({ kind: 'macro', index });
      at = found.site.end;
      continue;
    }
    const isOutput = source.charAt(open + 1) === '{';
    const end = isOutput ? outputEnd(source, open, sites) : tagEnd(source, open);
    at = end;
    if (isOutput) {
      const path = plainPath(copyRegion(open, end));
      if (path === null) simple = false;
      else parts.push({ kind: 'path', path, at: open });
      continue;
    }
    simple = false;
    const name = tagName(source, open);
    if (name === '#') out.write(source.slice(open, end), open);
    else copyRegion(open, end);
    if (name === 'raw') at = copyRaw(source, end, list, out, place);
  }
  return { text: out.text(), macros, parts: simple ? parts : null, misplaced, sourceIndex: out.sourceIndex };
}

/** Collects the prepared text and remembers where each stretch of it was written. */
function writer() {
  const chunks: string[] = [];
  const marks: { readonly out: number; readonly source: number }[] = [];
  let length = 0;
  return {
    write(text: string, source: number): void {
      const last = marks.at(-1);
      if (last === undefined || source - last.source !== length - last.out) marks.push({ out: length, source });
      chunks.push(text);
      length += text.length;
    },
    text: (): string => chunks.join(''),
    sourceIndex(index: number): number {
      const mark = marks.findLast((each) => each.out <= index);
      return mark === undefined ? index : mark.source + (index - mark.out);
    },
  };
}

function nextOpening(source: string, from: number): number {
  for (let at = source.indexOf('{', from); at >= 0; at = source.indexOf('{', at + 1)) {
    const next = source.charAt(at + 1);
    if (next === '{' || next === '%') return at;
  }
  return source.length;
}

/** Behind the braces that close an output; quotes and macros are stepped over. The end of the text if it is open. */
function outputEnd(source: string, open: number, sites: ReadonlyMap<number, FoundMacro>): number {
  let quote = '';
  let at = open + 2;
  while (at < source.length) {
    const inner = sites.get(at);
    if (inner !== undefined) {
      at = inner.site.end;
      continue;
    }
    const char = source.charAt(at);
    if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === '"' || char === "'") quote = char;
    else if (char === '}' && source.charAt(at + 1) === '}') return at + 2;
    at += 1;
  }
  return source.length;
}

function tagEnd(source: string, open: number): number {
  const close = source.indexOf('%}', open + 2);
  return close < 0 ? source.length : close + 2;
}

function tagName(source: string, open: number): string {
  const name = /-?\s*([a-z_]+|#)/y;
  name.lastIndex = open + 2;
  return name.exec(source)?.[1] ?? '';
}

/** Copies the content of a `raw` block; a macro in it closes the block, stands as data, and opens it again. */
function copyRaw(
  source: string,
  from: number,
  list: readonly FoundMacro[],
  out: ReturnType<typeof writer>,
  place: (macro: Macro) => number,
): number {
  const close = /\{%-?\s*endraw\s*-?%\}/g;
  close.lastIndex = from;
  const end = close.exec(source)?.index ?? source.length;
  let at = from;
  for (let index = firstFrom(list, from); index < list.length; index += 1) {
    const found = list[index];
    if (found === undefined || found.site.start >= end) break;
    const { site, macro } = found;
    out.write(source.slice(at, site.start), at);
    out.write(`{% endraw %}{{ ${macroName(place(macro))} }}{% raw %}`, site.start);
    at = site.end;
  }
  out.write(source.slice(at, end), at);
  return end;
}

/** Index of the first macro that begins at this place or behind it. */
function firstFrom(list: readonly FoundMacro[], from: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle]?.site.start ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What stands for a dot that begins an operand (04 §9.5); null for every other dot, which stays. */
function dotAt(source: string, inner: number, at: number, dot: string): string | null {
  const first = at === inner || (at === inner + 1 && source.charAt(inner) === '-');
  if (!first && !/[\s|:,(=<>![]/.test(source.charAt(at - 1))) return null;
  const next = source.charAt(at + 1);
  if (/[A-Za-z_]/.test(next)) return '';
  return /[0-9.]/.test(next) ? null : dot;
}

/** Words that mean a value of their own, and members that the language computes. */
const special: ReadonlySet<string> = new Set([
  'nil',
  'null',
  'true',
  'false',
  'empty',
  'blank',
  'size',
  'first',
  'last',
]);

/** `{{ a.b }}` as its path; null for anything richer. */
function plainPath(output: string): string[] | null {
  const path = /^\{\{\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*\}\}$/.exec(output)?.[1]?.split('.');
  return path === undefined || path.some((name) => special.has(name)) ? null : path;
}
