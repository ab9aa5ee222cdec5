import { escapeText, type Glyphs, type SafeText } from './escape.ts';
import { type Line, say, shown, type Token } from './line.ts';
import { expandTabs, wrapLine } from './wrap.ts';

/** Signs in column 1 and elsewhere (10 §2.1, §11.5). */
export type Signs = {
  readonly user: string;
  readonly call: string;
  readonly more: string;
};
export const signs: Readonly<Record<Glyphs, Signs>> = {
  unicode: { user: '›', call: '•', more: '…' },
  ascii: { user: '>', call: '*', more: '...' },
};

export type ItemLook = {
  readonly columns: number;
  readonly glyphs: Glyphs;
  readonly opened: boolean;
  /** Lines of tool output that are shown before it is collapsed. */
  readonly collapse: number;
  /** For what still runs; milliseconds since the epoch. */
  readonly now: number;
  /** Lines of a text of the assistant: they are kept while it grows. */
  markdown(id: string, text: string, columns: number): readonly Line[];
};

/** Foreign text begins here, in every row (10 §2.1). */
export const indent: Line = [say('  ')];

/** Rows with a mark before the first one. */
export function wrapped(line: Line, mark: string, token: Token | undefined, look: ItemLook): readonly Line[] {
  const out: Line[] = [];
  for (const part of brokenLines(line)) {
    out.push(...wrapLine(part, look.columns, out.length === 0 ? [say(mark, token)] : indent, indent));
  }
  return out;
}

function brokenLines(line: Line): readonly Line[] {
  if (!line.some((span) => span.text.includes('\n'))) return [line];
  const out: (typeof line)[number][][] = [[]];
  for (const span of line) {
    for (const [index, piece] of span.text.split('\n').entries()) {
      if (index > 0) out.push([]);
      // A part of a safe text is safe.
      if (piece !== '') out.at(-1)?.push({ ...span, text: piece as SafeText });
    }
  }
  return out;
}

/** Rows of foreign prose without their indentation. */
export function proseRows(text: string, columns: number, glyphs: Glyphs, token?: Token): readonly Line[] {
  // Blanks in place of tabs leave a text as safe as it was.
  const safe = expandTabs(escapeText(text.replace(/\n+$/, ''), { mode: 'prose', glyphs })) as SafeText;
  return safe.split('\n').flatMap((line) => wrapLine(shown(line as SafeText, glyphs, token), columns - 2));
}

/** The number of rows that are hidden is always said. */
export function moreLine(hidden: number, look: ItemLook): readonly Line[] {
  return hidden <= 0
    ? []
    : [[...indent, say(`${signs[look.glyphs].more} ${hidden} more ${hidden === 1 ? 'line' : 'lines'}`, 'dim')]];
}

/** Output of a tool: the first rows of it, or the last ones while it runs. */
export function foreignRows(text: string, look: ItemLook, most: number, which: 'first' | 'last'): readonly Line[] {
  if (text.trim() === '') return [];
  // What cannot be shown need not be wrapped; a tool may have printed a megabyte.
  const cap = most === Number.POSITIVE_INFINITY ? 262_144 : Math.max(4000, most * 1000);
  const part = text.length <= cap ? text : which === 'first' ? text.slice(0, cap) : text.slice(-cap);
  const outside = text.length - part.length;
  const inside = { ...look, columns: look.columns - 2 };
  const rows = outputRows(part, inside).map((line): Line => [say('    '), ...line]);
  const hidden = Math.max(0, rows.length - most);
  const kept = hidden === 0 ? rows : which === 'first' ? rows.slice(0, most) : rows.slice(-most);
  const note =
    hidden === 0 && outside === 0
      ? []
      : [
          [
            say('    '),
            say(
              outside > 0 ? `${signs[look.glyphs].more} more` : `${signs[look.glyphs].more} ${hidden} more lines`,
              'dim',
            ),
          ],
        ];
  return which === 'first' ? [...kept, ...note] : [...note, ...kept];
}

const colours: Readonly<Record<Glyphs, { readonly run: RegExp; readonly mark: string }>> = {
  unicode: { run: /(?:\u241b\[[\d;:]*m)+/g, mark: '⟨sgr⟩' },
  ascii: { run: /(?:<ESC>\[[\d;:]*m)+/g, mark: '<sgr>' },
};

/** Runs of colours in the output of a program are one short mark; all else is shown byte by byte (10 §4.1). */
function outputRows(text: string, { columns, glyphs }: Pick<ItemLook, 'columns' | 'glyphs'>): readonly Line[] {
  const { run, mark } = colours[glyphs];
  const safe = expandTabs(escapeText(text.replace(/\n+$/, ''), { mode: 'prose', glyphs })).replaceAll(run, mark);
  // What is ours in place of what was made visible leaves a text as safe as it was.
  return safe.split('\n').flatMap((line) => wrapLine(shown(line as SafeText, glyphs), columns - 2));
}
