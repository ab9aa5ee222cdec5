import { Box } from 'ink';
import { chrome, type Line, say } from '../../src/view/line.ts';
import { fitLine, lineColumns } from '../../src/view/wrap.ts';
import { helpSections } from '../keys/help.ts';
import type { Layout } from '../layout.ts';
import { Rows } from '../rows.tsx';
import type { State } from '../state.ts';
import type { Theme } from '../theme.ts';
import type { Overlay } from './overlay.ts';

/** What an overlay has to show: a title with something at its right, what stays at the top, what scrolls, and its keys. */
export type OverlayView = {
  readonly title: string;
  readonly right: Line;
  readonly head: readonly Line[];
  readonly body: readonly Line[];
  /** The first row of `body` that is shown. */
  readonly top: number;
  readonly foot: string;
};

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
  const width = columns < 80 ? columns - 2 : columns < 100 ? 78 : Math.min(columns - 10, 110);
  const most = Math.max(6, layout.rows - 3);
  const view = viewOf(overlay, state, width - 4);
  const room = most - 2 - (view.head.length === 0 ? 0 : view.head.length + 1);
  const top = Math.max(0, Math.min(view.top, view.body.length - room));
  const inner = (line: Line): Line => [say('│ ', 'border'), ...fitLine(line, width - 4), say(' │', 'border')];
  const edge = (from: string, to: string, left: string, right: Line): Line => {
    const fill = width - 2 - left.length - (left === '' ? 0 : 2) - lineColumns(right) - (right.length === 0 ? 0 : 2);
    return [
      say(left === '' ? from : `${from} `, 'border'),
      say(left, undefined, ['bold']),
      say(`${left === '' ? '' : ' '}${'─'.repeat(Math.max(0, fill))}${right.length === 0 ? '' : ' '}`, 'border'),
      ...right,
      say(`${right.length === 0 ? '' : ' '}${to}`, 'border'),
    ];
  };
  const lines = [
    edge('┌', '┐', view.title, view.right),
    ...view.head.map(inner),
    ...(view.head.length === 0 ? [] : [edge('├', '┤', '', [])]),
    ...view.body.slice(top, top + room).map(inner),
    edge('└', '┘', view.foot, []),
  ];
  return (
    <Box position="absolute" marginLeft={Math.floor((columns - width) / 2)} marginTop={1}>
      <Rows lines={lines} theme={theme} />
    </Box>
  );
}

function viewOf(overlay: Overlay, state: State, columns: number): OverlayView {
  const sections = helpSections(state.keys, ['global', 'composer'], overlay.filter);
  const body = sections.flatMap((section): readonly Line[] => [
    [say(section.title, undefined, ['bold'])],
    ...section.lines.map(
      (line): Line => [
        say(line.keys.padEnd(28), 'accent'),
        { text: chrome(line.help) },
        ...(line.remapped ? [say('  (keys.json)', 'dim')] : []),
      ],
    ),
    [],
  ]);
  return {
    title: 'Keys',
    right: [],
    head: [],
    body: body.map((line) => fitLine(line, columns)),
    top: overlay.top,
    foot: 'PgDn more  Esc close',
  };
}
