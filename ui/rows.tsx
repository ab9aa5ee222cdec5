import { Text } from 'ink';
import { memo } from 'react';
import type { Line } from '../src/view/line.ts';
import type { Theme } from './theme.ts';

/** Rows of the screen as one node: what is drawn costs by the row and by the node. No row may be wider than its place. */
export const Rows = memo(({ lines, theme }: { readonly lines: readonly Line[]; readonly theme: Theme }) =>
  lines.length === 0 ? null : (
    // An empty row would be left out of the layout.
    <Text wrap="truncate">{lines.map((line) => theme.paint(line) || ' ').join('\n')}</Text>
  ),
);
