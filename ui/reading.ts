import type { Item } from '../src/view/items.ts';
import { holding, reveal, type Ruler, scroll, toEnd, toTop, withMore } from './move.ts';
import { textOfItem, wholeItem } from './item-text.ts';
import { type Change, only, type State } from './state.ts';
import { saying } from './sending.ts';
import { layoutOf } from './layout.ts';
import { shownItems } from './transcript/stretch.ts';
import { rowsInView } from './transcript/viewport.ts';
import { blocksOf } from './chat-lines.ts';
import { isInPart } from './whole-result.ts';

/** The focus goes to the transcript, with the newest item in view chosen (10 §5.5). */
export function startReading(state: State, ruler: Ruler): Change {
  const items = shownItems(state);
  if (items.length === 0) return only(state);
  const rows = rowsInView(blocksOf(state, ruler.cache, ruler.glyphs), state.anchor, layoutOf(state).body);
  const last = rows.at(-1)?.index ?? items.length - 1;
  return only({ ...state, reading: { selected: items[last]?.id ?? null } });
}

/** The commands of reading mode. None of them answers an ask. */
export function readingCommand(state: State, ruler: Ruler, id: string): Change {
  const items = shownItems(state);
  const selected = state.reading?.selected ?? null;
  const at = items.findIndex((item) => item.id === selected);
  const item = items[at];
  switch (id) {
    case 'reading.up':
      return choose(state, ruler, at - 1);
    case 'reading.down':
      return choose(state, ruler, at + 1);
    case 'reading.previous-message':
      return choose(
        state,
        ruler,
        items.findLastIndex((each, index) => each.kind === 'user' && index < at),
      );
    case 'reading.next-message':
      return choose(
        state,
        ruler,
        items.findIndex((each, index) => each.kind === 'user' && index > at),
      );
    case 'reading.toggle':
      return item === undefined ? only(state) : only(holding(state, ruler, (now) => toggled(now, [item.id])));
    case 'reading.open-all': {
      const rows = rowsInView(blocksOf(state, ruler.cache, ruler.glyphs), state.anchor, layoutOf(state).body);
      const ids = [...new Set(rows.map((row) => items[row.index]?.id ?? ''))].filter(
        (each) => !state.toggled.has(each),
      );
      return only(holding(state, ruler, (now) => toggled(now, ids)));
    }
    case 'reading.close-all':
      return only(holding(state, ruler, (now) => ({ ...now, toggled: new Set<string>() })));
    case 'reading.copy':
      return item === undefined ? only(state) : only(state, { do: 'copy', text: textOfItem(item) });
    case 'reading.dump':
      return only(state, { do: 'dump', turns: null });
    case 'reading.page-up':
      return scroll(state, ruler, 2 - layoutOf(state).body);
    case 'reading.page-down':
      return scroll(state, ruler, layoutOf(state).body - 2);
    case 'reading.top':
      return toTop(state, ruler);
    case 'reading.bottom':
      return only(toEnd(state));
    case 'reading.fork': {
      const seq = item !== undefined && (item.kind === 'user' || item.kind === 'assistant') ? item.seq : null;
      return seq === null || state.session === null
        ? only(saying(state, 'a fork begins at a message of yours or of the model', state.now, false))
        : only(state, { do: 'fork-session', name: state.session.name, to: null, at: seq });
    }
    case 'reading.full':
      if (item?.kind === 'call' && isInPart(item)) return only(state, { do: 'view-result', item, part: 0, end: false });
      return item === undefined
        ? only(state)
        : only({ ...state, overlays: [...state.overlays, { kind: 'view', at: 0, ...wholeItem(item) }] });
    case 'reading.explain':
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

function choose(state: State, ruler: Ruler, at: number): Change {
  const item = shownItems(state)[at];
  // At an edge of what is in memory the next page is read.
  if (item === undefined) return withMore(state);
  return reveal({ ...state, reading: { selected: item.id } }, ruler, item.id);
}

function toggled(state: State, ids: readonly string[]): State {
  const next = new Set(state.toggled);
  for (const id of ids) if (!next.delete(id)) next.add(id);
  return { ...state, toggled: next };
}
