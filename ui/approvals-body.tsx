import { formatRemaining } from '../src/view/format.ts';
import { foreign, type Line, say } from '../src/view/line.ts';
import { fitLine } from '../src/view/wrap.ts';
import { Rows } from './rows.tsx';
import type { State } from './state.ts';
import type { Theme } from './theme.ts';

/** The open asks of every run, soonest deadline first. */
export function ApprovalsBody({
  state,
  theme,
  rows,
}: {
  readonly state: State;
  readonly theme: Theme;
  readonly rows: number;
}) {
  const lines: Line[] =
    state.asks.length === 0
      ? [[], [say('  Nothing waits for an answer.')]]
      : state.asks.flatMap((ask) => [
          [
            say(
              `  ${(ask.expires_at === null ? '-' : formatRemaining(Date.parse(ask.expires_at) - state.now)).padStart(8)}  `,
              'ask',
            ),
            ...foreign(`${ask.session_name ?? '-'}  ${ask.tools}.${ask.tool}`),
          ],
          [say('            '), ...foreign(ask.summary, 'dim')],
        ]);
  const shown = Array.from({ length: rows }, (_, index): Line => fitLine(lines[index] ?? [], state.size.columns));
  return <Rows lines={shown} theme={theme} />;
}
