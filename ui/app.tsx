import { Box } from 'ink';
import type { Line } from '../src/view/line.ts';
import { fitLine } from '../src/view/wrap.ts';
import { ApprovalsBody } from './approvals-body.tsx';
import { blocksOf, chatLines, composerRule, newLinesText, queueLines } from './chat-lines.ts';
import { composerLines } from './composer-lines.ts';
import { hintLine } from './hint-line.ts';
import { isTooSmall, layoutOf, tooSmallLines } from './layout.ts';
import { OverlayBox } from './overlays/overlay-box.tsx';
import { Rows } from './rows.tsx';
import type { State } from './state.ts';
import { bannerLine, statusLine, tabBar } from './status-lines.ts';
import type { Theme } from './theme.ts';
import type { LineCache } from './transcript/line-cache.ts';

export type AppProps = { readonly state: State; readonly theme: Theme; readonly cache: LineCache };

/** The whole screen but its last row (10 §2.1): layout only. */
export function App({ state, theme, cache }: AppProps) {
  const layout = layoutOf(state);
  const rows = (lines: readonly Line[]) => <Rows lines={lines} theme={theme} />;
  if (isTooSmall(state)) {
    return (
      <Box height={layout.rows} width={layout.columns} overflowY="hidden">
        {rows(tooSmallLines(state).map((line) => fitLine(line, layout.columns)))}
      </Box>
    );
  }
  return (
    <Box height={layout.rows} width={layout.columns} flexDirection="column">
      {rows([tabBar(state), ...(layout.banner === 0 ? [] : [bannerLine(state)])])}
      <Box height={layout.body} width={layout.columns} flexDirection="column">
        {state.pane === 'chat' ? (
          <ChatBody state={state} theme={theme} cache={cache} />
        ) : (
          <ApprovalsBody state={state} theme={theme} rows={layout.body} />
        )}
      </Box>
      {state.pane === 'chat' ? <ComposerArea state={state} theme={theme} cache={cache} /> : null}
      {rows([hintLine(state), statusLine(state)])}
      {state.overlays.length === 0 ? null : <OverlayBox state={state} theme={theme} layout={layout} />}
    </Box>
  );
}

function ChatBody({ state, theme, cache }: AppProps) {
  const { body } = layoutOf(state);
  return <Rows lines={chatLines(state, blocksOf(state, cache, theme.glyphs), body)} theme={theme} />;
}

function ComposerArea({ state, theme, cache }: AppProps) {
  const layout = layoutOf(state);
  const news = newLinesText(state, blocksOf(state, cache, theme.glyphs), layout.body);
  const focused = state.overlays.length === 0 && state.reading === null;
  const lines = [
    ...queueLines(state, layout),
    composerRule(state, news),
    ...composerLines(state.composer, layout.columns, layout.composer, focused),
  ];
  return <Rows lines={lines} theme={theme} />;
}
