import { Box } from 'ink';
import type { Line } from '../src/view/line.ts';
import { cutLine, fitLine } from '../src/view/wrap.ts';
import { approvalsLines } from './approvals/list-view.ts';
import { waitingLines } from './approvals/waiting-lines.ts';
import { approvalsView, cardLines } from './asking.ts';
import { blocksOf, chatLines, composerRule, newestBlocks, newLinesText, queueLines } from './chat-lines.ts';
import { aboveComposer, composerLines } from './composer/composer-lines.ts';
import { composerColumns } from './composing.ts';
import { hintLine } from './hint-line.ts';
import { isTiny, isTooSmall, layoutOf, tooSmallLines } from './layout.ts';
import { OverlayBox } from './overlays/overlay-box.tsx';
import { planPaneLines } from './plan/plan-lines.ts';
import { Rows } from './rows.tsx';
import type { State } from './state.ts';
import { bannerLine, statusLine, tabBar } from './status-lines.ts';
import type { Theme } from './theme.ts';
import type { LineCache } from './transcript/line-cache.ts';

export type AppProps = { readonly state: State; readonly theme: Theme; readonly cache: LineCache };

/** The whole screen but its last row (10 §2.1): layout only. */
export function App({ state, theme, cache }: AppProps) {
  const layout = layoutOf(state);
  // One row that is too wide would take the rows below it with it.
  const rows = (lines: readonly Line[]) => (
    <Rows lines={lines.map((line) => cutLine(line, layout.columns))} theme={theme} />
  );
  const below = layout.queue + layout.composer + 1;
  const covered = isCovered(state, theme.glyphs);
  const overlay = state.overlays.length === 0 ? null : <OverlayBox state={state} theme={theme} layout={layout} />;
  if (isTooSmall(state)) {
    // An overlay lies over the card that it was opened from, or that came under it.
    return (
      <Box height={layout.rows} width={layout.columns} overflowY="hidden">
        {rows(smallLines(state, theme.glyphs).map((line) => fitLine(line, layout.columns)))}
        {state.approvals.card === null || isTiny(state) ? null : overlay}
      </Box>
    );
  }
  return (
    <Box height={layout.rows} width={layout.columns} flexDirection="column">
      {rows([tabBar(state), ...(layout.banner === 0 ? [] : [bannerLine(state)])])}
      <Box height={covered ? layout.body + below : layout.body} width={layout.columns} flexDirection="column">
        {state.pane === 'chat' ? (
          <ChatBody state={state} theme={theme} cache={cache} />
        ) : state.pane === 'plan' ? (
          rows(planPaneLines(state, cache, theme.glyphs, cardLines(state, theme.glyphs)))
        ) : (
          rows(
            approvalsLines(
              state.approvals,
              approvalsView(state, theme.glyphs),
              { columns: layout.columns, rows: layout.body },
              policyWords(state),
            ),
          )
        )}
      </Box>
      {state.pane === 'chat' && !covered ? <ComposerArea state={state} theme={theme} cache={cache} /> : null}
      {rows([hintLine(state), statusLine(state)])}
      {overlay}
    </Box>
  );
}

/** A screen that is too small for the panes has room for a card all the same (10 §1.3). */
function smallLines(state: State, glyphs: Theme['glyphs']): readonly Line[] {
  const card = isTiny(state) ? [] : cardLines(state, glyphs);
  return card.length > 0 ? card : tooSmallLines(state);
}

const policyWords = ({ facts: { policy } }: State): string => `policy ${policy?.name ?? '-'}`;

/** A card that is higher than the body lies over the composer. */
const isCovered = (state: State, glyphs: Theme['glyphs']): boolean =>
  state.pane === 'chat' && cardLines(state, glyphs).length > layoutOf(state).body;

/** The transcript, and under it what has the keys: a card, or a list of the composer. */
function ChatBody({ state, theme, cache }: AppProps) {
  const { body, columns } = layoutOf(state);
  const card = cardLines(state, theme.glyphs);
  if (card.length > body) {
    const room = body + layoutOf(state).queue + layoutOf(state).composer + 1 - card.length;
    const above = chatLines(state, blocksOf(state, cache, theme.glyphs), Math.max(0, room));
    return <Rows lines={[...above, ...card]} theme={theme} />;
  }
  const waiting = waitingLines(state, columns);
  const asks = [...card, ...(card.length + waiting.length < body ? waiting : [])];
  const list =
    card.length > 0 ? [] : aboveComposer(state.composer, columns, state.keys, state.glyphs).slice(0, body - 1);
  const below = list.length > 0 ? list : asks;
  // A card stands apart from the transcript, where there is room.
  const gap = below === asks && asks.length > 0 && body - asks.length > 2 ? [[]] : [];
  const lines = chatLines(state, blocksOf(state, cache, theme.glyphs), body - below.length - gap.length);
  return <Rows lines={[...lines, ...gap, ...below]} theme={theme} />;
}

function ComposerArea({ state, theme, cache }: AppProps) {
  const layout = layoutOf(state);
  const news = newLinesText(state, newestBlocks(state, cache, theme.glyphs), layout.body);
  const focused = state.overlays.length === 0 && state.reading === null && state.approvals.card === null;
  const lines = [
    ...queueLines(state, layout),
    composerRule(state, news),
    ...composerLines(state.composer, composerColumns(layout.columns), layout.composer, focused, state.glyphs),
  ];
  return <Rows lines={lines} theme={theme} />;
}
