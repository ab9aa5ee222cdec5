import { render } from 'ink-testing-library';
import { describe, expect, test } from 'vitest';
import type { PolicyExplanation } from '../../src/schema/policy-views.ts';
import type { Glyphs } from '../../src/view/escape.ts';
import type { Item } from '../../src/view/items.ts';
import { columnsOf } from '../../src/view/wrap.ts';
import { App } from '../../ui/app.tsx';
import { emptyEditing } from '../../ui/composer/editing.ts';
import { shippedKeyMap } from '../../ui/keys/key-map.ts';
import { layoutOf } from '../../ui/layout.ts';
import { unseen } from '../../ui/overlays/looking.ts';
import type { Overlay } from '../../ui/overlays/overlay.ts';
import { whyOverlay } from '../../ui/overlays/why-view.ts';
import { firstFacts, firstState, type State } from '../../ui/state.ts';
import { builtinTheme, type Theme } from '../../ui/theme.ts';
import { createLineCache } from '../../ui/transcript/line-cache.ts';
import { emptyCall } from '../../src/view/transcript.ts';

/** What could move, hide or fake text (10 §4.1), each in a text of its own. */
const attacks = [
  'x\u001b[2J\u001b[1;1Hy',
  'x\u001b]0;owned\u0007y',
  'x\u001b]52;c;eA==\u0007y',
  'x\u001b]8;;https://evil.example\u001b\\y\u001b]8;;\u001b\\',
  'x\u001bP1$r\u001b\\y',
  'x\u001b_apc\u001b\\\u001b^pm\u001b\\\u001bXsos\u001b\\\u001bcy',
  'x\u001b[?1049h\u001b[?25l\u001b[53my\u001b[55m',
  'x\ry\bz\u0000\u007f\u0085\u009b2J',
  'x\u202ey\u2066z\u061c\u200f',
  'x\u200by\u00ad\ufeff\u2060\u3164\u{e0041}',
  'x\u2028y\u2029z\ud83d',
  `x${'\u0301'.repeat(40)}y`,
  `x${' '.repeat(800)}; rm -rf ~`,
  'x\ty\t\tz',
  '┏ ASK ask_1 · local_shell.local_shell\n┃ y once\n policy: allowed',
  '⟨U+202E⟩ ␛[31m ⏎',
  '한글'.repeat(80),
  '👩‍👩‍👧'.repeat(60),
];

const columns = 100;
const rows = 30;
const themeOf = (glyphs: Glyphs) => builtinTheme('default', 'plain', glyphs) as Theme;
/** Marks in column 1 and borders of overlays, in each set of signs. */
const marks = {
  unicode: { first: /^(?: {2}|[›~•!$-] |$)/, box: /[┌│├└]/ },
  ascii: { first: /^(?: {2}|[>~*!$-] |$)/, box: /^ +[+|]/ },
} as const;
/** Letters of the attacks, which no set of signs changes. */
const letters = /\p{Script=Hangul}|\p{Extended_Pictographic}|\p{M}|\u200d|⟩/gu;
const base = firstState({
  size: { columns, rows },
  now: 0,
  keys: shippedKeyMap(),
  thinkOpen: true,
  facts: firstFacts({ cwd: '/w', shell: false }),
});

/** The whole screen as it is handed to the terminal, without the renditions of the theme. */
function screen(glyphs: Glyphs, over: Partial<State>): readonly string[] {
  const state: State = { ...base, phase: 'ready', glyphs, ...over };
  const { lastFrame, unmount } = render(<App state={state} theme={themeOf(glyphs)} cache={createLineCache()} />);
  const frame = lastFrame() ?? '';
  unmount();
  const height = layoutOf(state).rows;
  const shown = frame.replaceAll(/\u001b\[(?:\d+(?:;\d+)*)?m/g, '').split('\n');
  expect(shown.length).toBeLessThanOrEqual(height);
  for (const row of shown) {
    expect([row, columnsOf(row) <= columns]).toEqual([row, true]);
    expect(row).not.toMatch(
      /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\u061c\u2028\u2029]/,
    );
    if (glyphs === 'ascii') expect(row.replaceAll(letters, '')).toMatch(/^[\x20-\x7e]*$/);
  }
  return shown;
}

const itemsOf = (text: string): readonly Item[] => [
  { kind: 'user', id: 'u', text, state: 'sent', seq: 1 },
  { kind: 'assistant', id: 'a', text, state: 'complete', seq: 2 },
  { kind: 'reasoning', id: 'r', text, state: 'complete', started_at: null, ms: null },
  {
    ...emptyCall('c', 'run'),
    tools: text,
    tool: text,
    args: { command: text, [text]: text },
    state: 'failed',
    error: text,
    result: text,
    diff: `--- a\n+++ b\n@@ -1 +1 @@\n-${text}\n+${text}`,
    decision: { action: 'deny', rule: 3, reason: text, detail: text, policy: text },
  },
  { kind: 'notice', id: 'n', level: 'error', text },
  { kind: 'end', id: 'e', run_id: 'run', status: 'failed', class: text, text, fix: text },
  { ...emptyCall('s', 'run'), tools: 'local_shell', args: { command: text }, line: true, state: 'ok', result: text },
];

const session = (name: string) => ({
  id: name,
  name,
  active: false,
  message_count: 3,
  created_at: '2026-01-05T10:00:00Z',
  last_message_at: null,
  preview: name,
  forked_from: null,
  active_run_id: null,
  suspended_run_id: null,
});
const explanationOf = (text: string): PolicyExplanation => ({
  call: { tools: text, tool: text, args: { command: text }, cwd: text },
  record: {
    action: 'approve',
    matched_rule: 0,
    reason: 'matched_rule',
    timeout_s: 60,
    on_timeout: null,
    policy: { name: text, source: 'user', path: text, sha256: text, state: 'ok' },
    detail: text,
    note: text,
    trust: [],
    exec: null,
  },
  tried: [{ rule: 0, outcome: text, note: text, conditions: [] }],
  wait_s: 60,
  would_change_with: text,
  refused: null,
  notes: [],
});
const overlaysOf = (text: string): readonly Overlay[] => [
  {
    kind: 'definition',
    held: {
      kind: 'mcp',
      source: text,
      tool: text,
      change: 'changed',
      sha256: '',
      pin: '',
      lines: [`-${text}`, `+${text}`],
    },
    waiting: [],
    ...unseen(0),
  },
  {
    kind: 'sessions',
    rows: [session(text)],
    at: 0,
    query: text,
    field: { label: 'filter', purpose: 'new', editing: { ...emptyEditing, text, caret: 1 } },
  },
  {
    kind: 'models',
    rows: [
      {
        backend: text,
        model: text,
        capabilities: {},
        context: 1,
        size_bytes: 1,
        is_default: true,
        state: 'unreachable',
        reason: text,
      },
    ],
    backends: text,
    notes: [text],
    at: 0,
    query: '',
    field: null,
  },
  { kind: 'explain', title: text, lines: [text, text], at: 0 },
  whyOverlay(text, explanationOf(text), [{ tools: text, tool: text, action: text }]),
  { kind: 'question', title: 'Sure?', lines: [text], choices: [], at: 0 },
];

const cases = attacks.flatMap((text): readonly [string, Glyphs, string][] =>
  (['unicode', 'ascii'] as const).map((glyphs) => [JSON.stringify(text).slice(0, 40), glyphs, text]),
);
describe.each(cases)('%s in %s', (_name, glyphs, text) => {
  test('stays in its rows in the transcript, opened and closed, and below column 2', () => {
    for (const item of itemsOf(text)) {
      for (const toggled of [new Set<string>(), new Set([item.id])]) {
        const shown = screen(glyphs, { items: [item], toggled, anchor: { id: item.id, line: 0 } });
        expect(shown[0]).toMatch(/^ reins {2}\[1 Chat\]/);
        for (const row of shown.slice(1, 25)) expect([row, marks[glyphs].first.test(row)]).toEqual([row, true]);
        expect(shown[28]).toMatch(/^ idle/);
      }
    }
  });

  test('stays in its place in the chrome: names, banner, messages, overlays', () => {
    const facts = {
      ...base.facts,
      cwd: text,
      model: text,
      backend: text,
      policy: { name: text, sha256: null, invalid: false },
    };
    const named = { id: 's', name: text, before: null, loading: false, deleted: false };
    const shown = screen(glyphs, {
      facts,
      session: named,
      banners: [{ rank: 1, id: 'b', text, fixed: false }],
      said: { text, bad: true, until: 10, keysFrom: 0 },
    });
    expect(shown[0]).toMatch(/^ reins {2}\[1 Chat\]/);
    expect(shown[1]).toMatch(/^! /);
    for (const overlay of overlaysOf(text)) {
      const over = screen(glyphs, { overlays: [overlay] });
      const box = over.filter((row) => marks[glyphs].box.test(row));
      expect(box.length).toBeGreaterThan(3);
      for (const row of box) expect(columnsOf(row.trimEnd())).toBe(columnsOf(box[0]?.trimEnd() ?? ''));
    }
  });
});
