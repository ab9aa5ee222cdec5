import { Box } from 'ink';
import { type Line, say } from '../../src/view/line.ts';
import { cutLine, fitLine, lineColumns } from '../../src/view/wrap.ts';
import type { Layout } from '../layout.ts';
import { Rows } from '../rows.tsx';
import type { State } from '../state.ts';
import type { Theme } from '../theme.ts';
import { overlayWidth, roomOf } from './overlay-size.ts';
import { viewOf } from './views.ts';

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
  const width = overlayWidth(columns);
  const view = viewOf(overlay, state, width - 4);
  const head = view.head.length === 0 ? 0 : view.head.length + 1;
  const room = roomOf(view.head.length, view.body.length, layout.body);
  // A chosen row stays in view; a text scrolls by its first row.
  const wanted = view.chosen ? Math.max(0, view.at - Math.floor(room / 2)) : view.at;
  const top = Math.max(0, Math.min(wanted, view.body.length - room));
  const inner = (line: Line): Line => [say('│ ', 'border'), ...fitLine(line, width - 4), say(' │', 'border')];
  const shown = view.body.slice(top, top + room);
  const lines = [
    edge('┌', '┐', view.title, view.right, width),
    ...view.head.map(inner),
    ...(head === 0 ? [] : [edge('├', '┤', '', [], width)]),
    ...shown.map(inner),
    ...Array.from({ length: room - shown.length }, () => inner([])),
    edge('└', '┘', view.foot, [], width),
  ];
  return (
    <Box position="absolute" marginLeft={Math.floor((columns - width) / 2)} marginTop={1}>
      <Rows lines={lines} theme={theme} />
    </Box>
  );
}

/** A border with a text at its left and one at its right. */
function edge(from: string, to: string, text: string, right: Line, width: number): Line {
  const end: Line = right.length === 0 ? [] : [say(' '), ...cutLine(right, Math.floor(width / 2)), say(' ')];
  const left: Line = text === '' ? [] : cutLine([say(` ${text} `, undefined, ['bold'])], width - 2 - lineColumns(end));
  const fill = Math.max(0, width - 2 - lineColumns(left) - lineColumns(end));
  return [say(from, 'border'), ...left, say('─'.repeat(fill), 'border'), ...end, say(to, 'border')];
}
