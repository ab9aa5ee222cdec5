import { stripVTControlCharacters } from 'node:util';
import { render } from 'ink-testing-library';
import { expect, test } from 'vitest';
import { App } from '../../ui/app.tsx';
import type { State } from '../../ui/state.ts';
import { builtinTheme, type Theme } from '../../ui/theme.ts';
import { createLineCache } from '../../ui/transcript/line-cache.ts';
import { anAsk } from './approvals/an-ask.ts';
import { reduce } from '../../ui/reducer.ts';
import { pressAll, readyState } from './reducing.ts';

const theme = builtinTheme('default', 'plain', 'unicode') as Theme;

function screen(state: State): readonly string[] {
  const { lastFrame, unmount } = render(<App state={state} theme={theme} cache={createLineCache()} />);
  const frame = lastFrame() ?? '';
  unmount();
  return stripVTControlCharacters(frame).split('\n');
}

const asks = [anAsk()];
const small = (columns: number, rows: number): State => {
  const state = readyState({ size: { columns, rows }, asks });
  return { ...state, approvals: { ...state.approvals, asks } };
};

test('nothing opens out of sight over the card of a small screen', () => {
  const card = pressAll(small(40, 10), 'ctrl+n').state;
  expect(card.approvals.card?.id).toBe(asks[0]?.id);
  for (const key of ['f1', 'ctrl+p', 'tab', 'ctrl+o', 'f4']) {
    const pressed = pressAll(card, key).state;
    expect([pressed.overlays, pressed.pane, pressed.reading, pressed.approvals.card?.id]).toEqual([
      [],
      'chat',
      null,
      asks[0]?.id,
    ]);
    expect(screen(pressed).join('\n')).toContain('! make the terminal larger');
  }
});

test.each([
  [
    40,
    10,
    ['┌ Rule 1', '│  1  li', '│  2  li', '│  3  li', '│  4  li', '│  5  li', '│  6  li', '│  7  li', '└ ↑↓ Spa'],
  ],
  [20, 6, ['┌ Rul… r', '│  1  li', '│  2  li', '│  3  li', '└ Esc cl']],
])('what is read about it lies over the card at %ix%i, with the way back', (columns, rows, expected) => {
  const card = pressAll(small(columns, rows), 'ctrl+n').state;
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
  const reading: State = { ...card, overlays: [{ kind: 'view', title: 'Rule 14', at: 0, lines }] };
  const shown = screen(reading);
  expect(shown).toHaveLength(rows - 1);
  expect(shown.map((row) => row.slice(1, 9))).toEqual(expected);
  expect(screen(pressAll(reading, 'escape').state)[0]).toContain('ASK');
});

test('a card that is opened on a small screen is not covered by what lay over the pane', () => {
  const covered: State = { ...small(40, 10), overlays: [{ kind: 'view', title: 'Rule', at: 0, lines: ['a'] }] };
  const opened = pressAll(covered, 'ctrl+n').state;
  expect(opened.overlays).toEqual([]);
  expect(screen(opened)[0]).toContain('ASK');
});

test.each([
  ['over a card', ['ctrl+n', 'f1']],
  ['over the size', ['x']],
])('the word that the terminal is to be larger, said %s, goes when it has become so', (_, keys) => {
  const told = pressAll(small(40, 10), ...keys).state;
  const larger = { type: 'resize', size: { columns: 100, rows: 30 }, now: told.now } as const;
  const { state } = reduce(told, larger, { cache: createLineCache(), glyphs: 'unicode' });
  expect(screen(state).join('\n')).not.toContain('make the terminal larger');
});
