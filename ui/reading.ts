import type { Batch } from '../src/view/batch.ts';
import type { Item } from '../src/view/items.ts';
import { standingOf } from './chat-lines.ts';
import { type Ruler, scroll, toEnd, toTop, withMore } from './move.ts';
import { textOfItem, wholeItem } from './item-text.ts';
import { planCommand } from './plan/plan-press.ts';
import { type Change, only, type State } from './state.ts';
import { saying } from './sending.ts';
import { layoutOf } from './layout.ts';
import { holding, itemsInView, reveal, transcriptView } from './transcript-view.ts';
import { rowsInView } from './transcript/viewport.ts';
import { isInPart } from './whole-result.ts';

/** The focus goes to the transcript, with the newest item in view chosen (10 §5.5). */
export function startReading(state: State, ruler: Ruler): Change {
  const items = itemsInView(state);
  if (items.length === 0) return only(saying(state, 'there is nothing to read yet', state.now, false));
  const inView = idsInView(state, ruler).filter((id) => items.some((item) => item.id === id));
  return only({ ...state, reading: { selected: inView.at(-1) ?? items.at(-1)?.id ?? null } });
}

/** Items in view, each once, from the top. */
function idsInView(state: State, ruler: Ruler): readonly string[] {
  const { blocks, anchor, rows } = transcriptView(state, ruler);
  return [...new Set(rowsInView(blocks, anchor, rows).map(({ index }) => blocks.idOf(index)))];
}

/** The commands of reading mode. None of them answers an ask. */
export function readingCommand(state: State, ruler: Ruler, id: string, now: number): Change {
  const { items, blocks } = transcriptView(state, ruler);
  const selected = state.reading?.selected ?? null;
  const at = items.findIndex((item) => item.id === selected);
  const item = items[at];
  const fold = item === undefined ? null : blocks.foldOf(blocks.indexOf(item.id));
  switch (id) {
    case 'reading.up':
      return beside(state, ruler, at, -1);
    case 'reading.down':
      return beside(state, ruler, at, 1);
    case 'reading.previous-message':
      return choose(
        state,
        ruler,
        items.findLast((each, index) => each.kind === 'user' && index < at),
      );
    case 'reading.next-message':
      return choose(
        state,
        ruler,
        items.find((each, index) => each.kind === 'user' && index > at),
      );
    case 'reading.toggle':
      return item === undefined ? only(state) : only(holding(state, ruler, (it) => toggled(it, [fold?.id ?? item.id])));
    case 'reading.open-all': {
      const ids = idsInView(state, ruler).map((each) => blocks.foldOf(blocks.indexOf(each))?.id ?? each);
      const closed = ids.filter((each) => !state.toggled.has(each));
      return only(holding(state, ruler, (it) => toggled(it, closed)));
    }
    case 'reading.close-all':
      return only(holding(state, ruler, (it) => ({ ...it, toggled: new Set<string>() })));
    case 'reading.page-up':
    case 'reading.page-down':
    case 'reading.top':
    case 'reading.bottom':
      return scrolled(state, ruler, id, now);
    case 'reading.copy':
      return item === undefined
        ? only(state)
        : only(state, { do: 'copy', text: (fold?.calls ?? [item]).map(textOfItem).join('\n\n') });
    case 'reading.dump':
      if (state.pane === 'plan') return only(saying(state, 'only a session can be printed', state.now, false));
      return only(state, { do: 'dump', turns: null });
    case 'reading.fork': {
      const seq = item !== undefined && (item.kind === 'user' || item.kind === 'assistant') ? item.seq : null;
      return seq === null || state.session === null
        ? only(saying(state, 'a fork begins at a message of yours or of the model', state.now, false))
        : only(state, { do: 'fork-session', of: state.session, to: null, at: seq });
    }
    case 'reading.full':
      if (fold !== null) return only(saying(state, openFirst(fold), state.now, false));
      if (item?.kind === 'call' && isInPart(item)) return only(state, { do: 'view-result', item, part: 0, end: false });
      return item === undefined
        ? only(state)
        : only({ ...state, overlays: [...state.overlays, { kind: 'view', at: 0, ...wholeItem(item) }] });
    case 'reading.explain':
      if (fold !== null) return only(saying(state, openFirst(fold), state.now, false));
      return item === undefined ? only(state) : explained(state, item);
    case 'reading.leave':
      return only({ ...state, reading: null, search: null });
    default:
      return only(state);
  }
}

/** Why a call was let through, asked about or refused: by its ask, or by the policy as it is now. */
function explained(state: State, item: Item): Change {
  const id = item.kind === 'ask' ? item.id : item.kind === 'call' ? item.ask_id : null;
  if (id !== null) return only(state, { do: 'explain-ask', ask_id: id });
  if (item.kind !== 'call' || typeof item.args !== 'object' || item.args === null)
    return only(saying(state, 'only a call was decided about', state.now, false));
  const { tools, tool } = item;
  return only(state, { do: 'explain-call', call: { tools, tool, args: { ...item.args } } });
}

const openFirst = ({ calls }: Batch): string => `these are ${calls.length} calls: Enter shows each`;

/** The item above or below; the calls of a folded batch are one. */
function beside(state: State, ruler: Ruler, at: number, by: 1 | -1): Change {
  const { items, blocks } = transcriptView(state, ruler);
  const placeOf = (index: number): number => standingOf(blocks, blocks.indexOf(items[index]?.id ?? ''));
  let next = at + by;
  while (items[next] !== undefined && items[at] !== undefined && placeOf(next) === placeOf(at)) next += by;
  return choose(state, ruler, items[next]);
}

function choose(state: State, ruler: Ruler, item: Item | undefined): Change {
  // At an edge of what is in memory the next page is read.
  if (item === undefined) return state.pane === 'plan' ? only(state) : withMore(state);
  const { blocks } = transcriptView(state, ruler);
  // A folded batch is chosen by its first call.
  const selected = blocks.idOf(standingOf(blocks, blocks.indexOf(item.id)));
  return reveal({ ...state, reading: { selected } }, ruler, selected);
}

function scrolled(state: State, ruler: Ruler, id: string, now: number): Change {
  if (state.pane === 'plan') return planCommand(state, ruler, id.replace('reading.', 'plan.'), now);
  switch (id) {
    case 'reading.page-up':
      return scroll(state, ruler, 2 - layoutOf(state).body);
    case 'reading.page-down':
      return scroll(state, ruler, layoutOf(state).body - 2);
    case 'reading.top':
      return toTop(state, ruler);
    default:
      return only(toEnd(state));
  }
}

function toggled(state: State, ids: readonly string[]): State {
  const next = new Set(state.toggled);
  for (const id of ids) if (!next.delete(id)) next.add(id);
  return { ...state, toggled: next };
}
