import type { Item } from '../src/view/items.ts';
import { plural } from '../src/view/format.ts';
import { foreign, type Line, say, type Span } from '../src/view/line.ts';
import { signs } from '../src/view/rows.ts';
import { cutLine, fitLine, lineColumns } from '../src/view/wrap.ts';
import { markHits } from './hits.ts';
import type { Layout } from './layout.ts';
import type { State } from './state.ts';
import type { Glyphs } from '../src/view/escape.ts';
import type { LineCache } from './transcript/line-cache.ts';
import { welcomeLines } from './welcome.ts';
import { shownItems } from './transcript/stretch.ts';
import { type Blocks, endPlace, rowsInView } from './transcript/viewport.ts';

/** Whether an item is drawn whole: reasoning with `--think`, everything else when a key opened it. */
export const isOpened = (state: Pick<State, 'toggled' | 'thinkOpen'>, item: Item): boolean =>
  state.toggled.has(item.id) !== (item.kind === 'reasoning' && state.thinkOpen);

/** What can be scrolled to, as blocks of rows. */
export const blocksOf = (state: State, cache: LineCache, glyphs: Glyphs): Blocks =>
  blocksOfItems(state, shownItems(state), cache, glyphs);

/** The newest items as blocks of rows, whatever is in view. */
export const newestBlocks = (state: State, cache: LineCache, glyphs: Glyphs): Blocks =>
  blocksOfItems(state, state.items, cache, glyphs);

const blocksOfItems = (state: State, items: readonly Item[], cache: LineCache, glyphs: Glyphs): Blocks =>
  cache.blocks(items, {
    columns: state.size.columns,
    glyphs,
    collapse: state.collapse,
    now: state.now,
    opened: (item) => isOpened(state, item),
    unfolded: ({ id }) => state.toggled.has(id),
  });

/** The rows of the body of the chat pane, exactly as many as it has. */
export function chatLines(state: State, blocks: Blocks, rows: number): readonly Line[] {
  const shown = rowsInView(blocks, state.anchor, rows);
  const selected = selectedBlock(state, blocks);
  const drawn = shown.map(({ line, index }) => drawnRow(state, line, index === selected));
  const lines = withLoading(drawn, state, shown[0]?.index === 0);
  const isNew = state.welcome !== null && state.session === null && state.turn === null;
  const welcome = isNew ? welcomeLines(state.welcome ?? [], state.size.columns, state.glyphs) : [];
  const said = [...lines, ...atMost(welcome, Math.max(0, rows - lines.length), state.glyphs)];
  const empty: readonly Line[] = Array.from({ length: Math.max(0, rows - said.length) }, () => []);
  // A short transcript stands at the top, like a page.
  return [...said, ...empty];
}

/** What a small screen has no room for is to be found elsewhere. */
const atMost = (welcome: readonly Line[], rows: number, glyphs: Glyphs): readonly Line[] =>
  welcome.length <= rows
    ? welcome
    : [...welcome.slice(0, Math.max(0, rows - 1)), [say(`  ${signs[glyphs].more} /doctor shows all`, 'dim')]].slice(
        0,
        rows,
      );

/** In the place of rows that are still read. */
function withLoading(lines: readonly Line[], { slowPage, going }: State, atTop: boolean): readonly Line[] {
  const row: Line = [say('  loading…', 'dim')];
  if (slowPage === 'bottom') return [...lines.slice(0, -1), row];
  return slowPage === 'top' && (atTop || going !== null) ? [row, ...lines.slice(1)] : lines;
}

/** Where the item stands that reading mode has chosen; -1 = nowhere. One of a folded batch stands where the batch does. */
export function selectedBlock({ reading }: Pick<State, 'reading'>, blocks: Blocks): number {
  if (reading === null || reading.selected === null) return -1;
  return standingOf(blocks, blocks.indexOf(reading.selected));
}

export const standingOf = (blocks: Blocks, index: number): number => {
  const fold = blocks.foldOf(index);
  return fold === null ? index : index - fold.calls.findIndex(({ id }) => id === blocks.idOf(index));
};

/** A row as it is drawn: what a search looks for is marked in it, and the chosen item has a sign. */
export function drawnRow(state: Pick<State, 'search'>, line: Line, isChosen: boolean): Line {
  const found = state.search === null ? line : markHits(line, state.search.query);
  return isChosen && line.length > 0 ? chosen(found) : found;
}

/** The chosen item has a bar in the second column, which is chrome in every row. */
function chosen(line: Line): Line {
  const [first, ...rest] = line;
  if (first === undefined || first.text.length < 2) return line;
  // A part of a safe text is safe.
  const after = first.text.slice(2) as Span['text'];
  return [
    { ...first, text: first.text.slice(0, 1) as Span['text'] },
    say('▌', 'accent'),
    { ...first, text: after },
    ...rest,
  ];
}

/** `▼ 34 new lines · End` while the view is paused. */
export function newLinesText(state: State, blocks: Blocks, rows: number): Line {
  if (state.anchor === null || state.paused === null) return [];
  const end = endPlace(blocks, rows);
  if (end.index < 0) return [];
  let count = -state.paused.lines;
  for (let index = Math.max(0, state.paused.items - 1); index < blocks.count; index += 1)
    count += blocks.linesOf(index).length;
  if (count <= 0) return [];
  const open = new Set(state.asks.map(({ id }) => id));
  const asks = state.items.slice(Math.max(0, state.paused.items - 1)).map(askOf);
  if (asks.some((id) => id !== null && open.has(id))) return [say('▼ an ask waits · Ctrl+N', 'ask')];
  return [say(`▼ ${count} new ${count === 1 ? 'line' : 'lines'} · End`, 'accent')];
}

/** The ask of an item, open or not. */
export const askOf = (item: Item): string | null =>
  item.kind === 'ask' ? item.id : item.kind === 'call' ? item.ask_id : null;

/** The rule above the composer, with what has to be said there. */
export function composerRule(state: State, news: Line): Line {
  const { columns } = state.size;
  const left: Line = [
    say('─ ', 'border'),
    say(state.composer.held ? 'queue held: Enter sends the next' : 'message', 'dim'),
    ...(state.composer.images.length === 0
      ? []
      : [say(` · with ${plural(state.composer.images.length, 'image')}`, 'accent')]),
    say(' ', 'border'),
  ];
  const right: Line = [
    ...(news.length === 0 ? [] : [say(' '), ...news]),
    ...(state.composer.queue.length === 0 ? [] : [say(` ${state.composer.queue.length} queued`, 'dim')]),
  ];
  const fill = columns - lineColumns(left) - lineColumns(right) - (right.length === 0 ? 0 : 2);
  return cutLine(
    [...left, say('─'.repeat(Math.max(0, fill)), 'border'), ...right, say(right.length === 0 ? '' : ' ─', 'border')],
    columns,
  );
}

export function queueLines(state: State, layout: Layout): readonly Line[] {
  const { queue } = state.composer;
  return queue.slice(0, layout.queue).map(({ text }, index) => {
    const more =
      index === layout.queue - 1 && queue.length > layout.queue ? `  +${queue.length - layout.queue} more` : '';
    return fitLine(
      [say('  … ', 'dim'), ...foreign(text.split('\n')[0] ?? '', state.glyphs, 'dim'), say(more, 'dim')],
      layout.columns,
    );
  });
}
