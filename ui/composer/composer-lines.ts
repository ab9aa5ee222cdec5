import type { Glyphs } from '../../src/view/escape.ts';
import { foreign, type Line, say, type Span } from '../../src/view/line.ts';
import { columnsOf, cutLine, spread, wrapLine } from '../../src/view/wrap.ts';
import { keyOf, type KeyMap } from '../keys/key-map.ts';
import { isCut } from './completion.ts';
import type { ComposerState } from './composer-state.ts';
import { found } from './composer-lists.ts';
import { layOut } from './visual-lines.ts';

/** Rows that the text takes, at most `most`. @param columns those of the text alone */
export const composerRows = (state: ComposerState, columns: number, most: number, glyphs: Glyphs): number =>
  state.search === null ? Math.min(most, layOut(state.editing, columns, columnsOf, glyphs).lines.length) : 1;

/** Rows of the composer around its caret. The caret is marked while the composer has the keys. */
export function composerLines(
  state: ComposerState,
  columns: number,
  rows: number,
  focused: boolean,
  glyphs: Glyphs,
): readonly Line[] {
  if (state.search !== null) {
    const query = foreign(state.search.query, glyphs);
    return [[say('search: ', 'accent'), ...query, { ...say(' '), ...(focused ? { caret: true as const } : {}) }]];
  }
  const { editing } = state;
  const laid = layOut(editing, columns, columnsOf, glyphs);
  const from = Math.max(0, Math.min(laid.row - rows + 1, laid.lines.length - rows));
  return laid.lines.slice(from, from + rows).map((line, index): Line => {
    const here = focused && from + index === laid.row;
    const spans: Span[] = line.cells.map(({ shown, at, paste }) => ({
      text: shown,
      ...(paste ? { token: 'accent' as const } : {}),
      ...(here && at === editing.caret ? { caret: true as const } : {}),
    }));
    const end: Span[] = here && !line.cells.some(({ at }) => at >= editing.caret) ? [{ ...say(' '), caret: true }] : [];
    return [say(index === 0 && from === 0 ? '› ' : '  ', 'accent'), ...spans, ...end];
  });
}

const mostRows = 8;
/** What is wrong ends with what is accepted: it is not cut at the edge. */
const mostProblemRows = 3;

/** What stands above the composer's rule: a list to choose from, entries of the history, or what was refused. */
export function aboveComposer(state: ComposerState, columns: number, keys: KeyMap, glyphs: Glyphs): readonly Line[] {
  if (state.search !== null) {
    const entries = found(state);
    if (entries.length === 0) return [[say('  nothing in the history fits', 'dim')]];
    return chosenOf(
      entries.map((text): Line => foreign(text.split('\n')[0] ?? '', glyphs)),
      state.search.chosen,
      columns,
    );
  }
  if (state.completion !== null) {
    const { items, kind } = state.completion;
    const rows = items.map(({ label, detail }) =>
      spread(
        foreign(label, glyphs),
        foreign(detail, glyphs, 'dim'),
        Math.max(10, Math.min(columns - 2, kind === 'file' ? columns - 2 : 100)),
      ),
    );
    const hint = `  ${keyOf(keys, 'completion.accept') ?? 'Tab'} takes it   ${isCut(state.completion) ? `the best ${items.length}` : `${items.length} fit`}`;
    return [...chosenOf(rows, state.chosen, columns), [say(hint, 'dim')]];
  }
  return state.problems.flatMap((text) =>
    wrapLine(foreign(text, glyphs, 'warn'), columns, [say('! ', 'warn')], [say('  ')]).slice(0, mostProblemRows),
  );
}

/** The rows around the chosen one, which is marked. */
function chosenOf(rows: readonly Line[], chosen: number, columns: number): readonly Line[] {
  const from = Math.max(0, Math.min(chosen - mostRows + 1, rows.length - mostRows));
  return rows
    .slice(from, from + mostRows)
    .map((row, index) =>
      from + index === chosen
        ? cutLine(
            [say('> ', 'accent'), ...row.map((span): Span => ({ ...span, token: span.token ?? 'accent' }))],
            columns,
          )
        : cutLine([say('  '), ...row], columns),
    );
}
