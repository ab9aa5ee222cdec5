import { describe, expect, it } from 'vitest';
import type { Ask } from '../../../src/schema/ask.ts';
import { textOf } from '../../../src/view/line.ts';
import { columnsOf } from '../../../src/view/wrap.ts';
import { drawnCard } from '../../../ui/approvals/drawn-card.ts';
import { emptyApprovals } from '../../../ui/approvals/approvals-state.ts';
import { reduceApprovals } from '../../../ui/approvals/reduce-approvals.ts';
import { approvalsLines } from '../../../ui/approvals/list-view.ts';
import { aboveComposer, composerLines } from '../../../ui/composer/composer-lines.ts';
import { emptyComposer } from '../../../ui/composer/composer-state.ts';
import { reduceComposer } from '../../../ui/composer/reduce-composer.ts';
import { shippedKeyMap } from '../../../ui/keys/key-map.ts';
import { anAsk } from './an-ask.ts';

/** DSP-001, DSP-004, DSP-008 and DSP-009 of `attack-cases.json`: what moves, hides, fakes or breaks a frame. */
const attacks: Readonly<Record<string, string>> = {
  'escape sequences':
    '\u001b[2J\u001b[1A\u001b]0;t\u0007\u001b]52;c;eA==\u0007\u001b]8;;http://x\u001b\\x\u001bP1$r\u001b\\\u001b_a\u001b\\',
  'bare controls': 'safe\rrm -rf\b\b\u0000\u007f\u0085\u009b2J',
  directions: 'name=\u202etxt.exe\u2066x\u2069\u200f',
  'invisible characters': 'a\u200bb\u2060c\ufeff\u00ad\u{e0041}\u3164',
  'blanks and tabs': `x${' '.repeat(800)}y\tz\u00a0\u2003\u2028`,
  'wide, combined and joined': `한글 👩‍👩‍👧 ${'e\u0301'.repeat(30)}a${'\u0301'.repeat(40)} 🇩🇪`,
  'a card of its own': '┏ ASK ask_fake · x ━━┓\n┃ y once ┃\n┗━┛',
  'lone surrogates': '\ud83d x \udc00',
};
const raw =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u00ad\u3164]|\ud83d(?![\udc00-\udfff])/;

const hostile = (text: string): Ask =>
  anAsk({
    tools: `t${text}`,
    tool: text,
    args: { [`key ${text}`]: text, command: text, list: [text] },
    summary: text.replaceAll('\n', ' '),
    session_name: text,
    cwd: `/w/${text}`,
    preview: {
      diff: `--- a\n+++ b\n@@ -1 +1 @@\n-${text} \r\n+${text}\t \n`,
      paths: [{ given: text, real: `/w/${text}`, inside: false, link: true }],
    },
    record: { ...anAsk().record, detail: text, note: text },
  });
const asked = (text: string): Ask =>
  anAsk({ kind: 'question', question: { text, detail: text, choices: [text, text] } });

describe.each(Object.entries(attacks))('%s', (_name, text) => {
  it.each([
    [120, 36],
    [80, 21],
    [60, 13],
    [20, 6],
  ])('stay inside the frame of a card and of the list at %d x %d', (columns, rows) => {
    const now = Date.parse('2026-01-01T01:00:00Z');
    for (const ask of [hostile(text), asked(text)]) {
      const place = { columns, rows, glyphs: 'unicode' as const };
      const view = { place, keys: shippedKeyMap(), guardMs: 400, now, covered: false };
      const act = (state: typeof emptyApprovals, action: Parameters<typeof reduceApprovals>[1]) =>
        reduceApprovals(state, action, view).state;
      const listed = act(emptyApprovals, { type: 'asks', asks: [ask], ids: {} });
      const focused = act(listed, { type: 'focus', id: ask.id });
      for (const state of [focused, { ...focused, card: focused.card && { ...focused.card, full: true } }]) {
        const lines = (drawnCard(state, view)?.view.lines ?? []).map(textOf);
        expect(lines.filter((line) => raw.test(line))).toEqual([]);
        expect(lines.filter((line) => columnsOf(line) !== columns)).toEqual([]);
        expect(lines.filter((line) => !/^[┏┃┗].*[┓┃┛]$/u.test(line))).toEqual([]);
      }
      const pane = approvalsLines(listed, view, { columns, rows }, 'policy').map(textOf);
      expect(pane.filter((line) => raw.test(line) || columnsOf(line) > columns)).toEqual([]);
    }
  });

  it('is shown and not sent where it is typed, pasted, remembered or offered', () => {
    const view = { columns: 58, busy: false, width: columnsOf, glyphs: 'unicode' as const };
    const typed = reduceComposer(emptyComposer, { type: 'paste', text }, view).state;
    const history = reduceComposer(emptyComposer, { type: 'history', entries: [text], most: 9 }, view).state;
    const searched = reduceComposer(history, { type: 'command', id: 'composer.history-search' }, view).state;
    const mention = reduceComposer(emptyComposer, { type: 'text', text: '@' }, view).state;
    const offered = reduceComposer(mention, { type: 'paths', query: '', found: [text] }, view).state;
    const back = reduceComposer(emptyComposer, { type: 'return', text, problems: [text] }, view).state;
    for (const state of [typed, searched, offered, back]) {
      const lines = [
        ...composerLines(state, 58, 8, true, 'unicode'),
        ...aboveComposer(state, 60, shippedKeyMap(), 'unicode'),
      ].map(textOf);
      expect(lines.filter((line) => raw.test(line) || columnsOf(line) > 60)).toEqual([]);
    }
  });
});
