import type { Glyphs } from '../../src/view/escape.ts';
import { Box } from 'ink';
import { foreign, type Line, say } from '../../src/view/line.ts';
import { columnsOf, cutLine, fitLine, lineColumns } from '../../src/view/wrap.ts';
import { caretInView } from '../field-line.ts';
import { isTooSmall, type Layout } from '../layout.ts';
import { Rows } from '../rows.tsx';
import type { State } from '../state.ts';
import type { Theme } from '../theme.ts';
import { placeOf } from './place.ts';
import type { OverlayView } from './overlay-view.ts';

/** Over the body, centred (10 §2.1). */
export function OverlayBox({
  state,
  theme,
  layout,
}: {
  readonly state: State;
  readonly theme: Theme;
  readonly layout: Layout;
}) {
  const overlay = state.overlays.at(-1);
  if (overlay === undefined) return null;
  const { columns } = layout;
  const { view, width, room, top, last } = placeOf(state, overlay);
  const head = view.head.length;
  const inner = (line: Line): Line => [
    say('│ ', 'border'),
    ...fitLine(caretInView(line, width - 4), width - 4),
    say(' │', 'border'),
  ];
  const shown = view.body.slice(top, top + room);
  const { glyphs } = theme;
  const doing = view.foot.filter((word) => last > 0 || view.scrolls?.includes(word) !== true);
  const keys = glyphs === 'ascii' ? doing.map((word) => word.replace('↑↓', 'Up Down')) : doing;
  const lines = [
    edge('┌┐', view.title, place(view, top, room, last), width, glyphs),
    ...view.head.map(inner),
    ...(head === 0 ? [] : [edge('├┤', '', [], width, glyphs)]),
    ...shown.map(inner),
    ...Array.from({ length: room - shown.length }, () => inner([])),
    ...(view.below.length === 0 ? [] : [edge('├┤', '', [], width, glyphs)]),
    ...view.below.map(inner),
    edge('└┘', footOf(keys, width - 4), [], width, glyphs),
  ];
  return (
    <Box
      position="absolute"
      marginLeft={Math.floor((columns - width) / 2)}
      marginTop={isTooSmall(state) ? 0 : 1 + layout.banner}
    >
      <Rows lines={lines} theme={theme} />
    </Box>
  );
}

/** What stands at the right of the title; for a text that scrolls also where one is. */
function place(view: OverlayView, top: number, room: number, last: number): Line {
  if (view.chosen || last === 0) return view.right;
  const where = say(`rows ${top + 1}-${top + room} of ${view.body.length}`, 'dim');
  return view.right.length === 0 ? [where] : [...view.right, say(' · ', 'dim'), where];
}

/** The first keys, as many as fit, and the last one, which closes. */
function footOf(words: readonly string[], columns: number): string {
  const last = words.at(-1) ?? '';
  let line = '';
  for (const word of words.slice(0, -1)) {
    const longer = `${line}${word}  `;
    if (columnsOf(longer + last) > columns) break;
    line = longer;
  }
  return (line + last).trimEnd();
}

/** A border with a text at its left and one at its right. @param ends its two corners */
function edge(ends: string, text: string, right: Line, width: number, glyphs: Glyphs): Line {
  const [from = '', to = ''] = ends;
  const end: Line = right.length === 0 ? [] : [say(' '), ...cutLine(right, Math.floor(width / 2)), say(' ')];
  const left: Line =
    text === ''
      ? []
      : cutLine(
          [say(' '), ...foreign(text, glyphs, undefined, 'line', ['bold']), say(' ')],
          width - 2 - lineColumns(end),
        );
  const fill = Math.max(0, width - 2 - lineColumns(left) - lineColumns(end));
  return [say(from, 'border'), ...left, say('─'.repeat(fill), 'border'), ...end, say(to, 'border')];
}
