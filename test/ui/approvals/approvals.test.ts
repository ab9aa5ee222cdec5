import { describe, expect, it } from 'vitest';
import type { Ask } from '../../../src/schema/ask.ts';
import { textOf } from '../../../src/view/line.ts';
import { columnsOf } from '../../../src/view/wrap.ts';
import {
  type ApprovalsAction,
  type ApprovalsIntent,
  cardContexts,
  emptyApprovals,
} from '../../../ui/approvals/approvals-state.ts';
import { cardHints } from '../../../ui/approvals/card-hints.ts';
import { drawnCard } from '../../../ui/approvals/drawn-card.ts';
import { reduceApprovals } from '../../../ui/approvals/reduce-approvals.ts';
import { approvalsLines } from '../../../ui/approvals/list-view.ts';
import { shippedKeyMap } from '../../../ui/keys/key-map.ts';
import { anAsk } from './an-ask.ts';

const start = Date.parse('2026-01-01T01:00:00Z');

/** The approvals of a terminal, with a clock of its own. */
function desk(asks: readonly Ask[], place = { columns: 80, rows: 18 }) {
  let state = emptyApprovals;
  let now = start;
  const intents: ApprovalsIntent[] = [];
  const wakes: ApprovalsIntent[] = [];
  const view = () => ({
    place: { ...place, glyphs: 'unicode' as const },
    keys: shippedKeyMap(),
    guardMs: 400,
    now,
    covered: false,
  });
  const act = (action: ApprovalsAction) => {
    const done = reduceApprovals(state, action, view());
    state = done.state;
    intents.push(...done.intents.filter((intent) => intent.do !== 'wake'));
    wakes.push(...done.intents.filter((intent) => intent.do === 'wake'));
    return self;
  };
  const self = {
    act,
    /** Time passes, and whatever waited for it happens. */
    wait(ms: number) {
      now += ms;
      return act({ type: 'tick' });
    },
    press: (id: string) => act({ type: 'command', id }),
    /** A key that stands alone: after the guard, and with nothing behind it. */
    answer: (id: string) => self.wait(500).press(id).wait(200),
    type(text: string) {
      for (const character of text) act({ type: 'text', text: character });
      return self;
    },
    focus: (id = asks[0]?.id ?? '') => act({ type: 'focus', id }),
    take: () => intents.splice(0),
    wakes: () => wakes,
    state: () => state,
    said: () => state.card?.said ?? state.said,
    lines: () => (drawnCard(state, view())?.view.lines ?? []).map(textOf),
    pane: (columns: number, rows: number) =>
      approvalsLines(state, view(), { columns, rows }, 'policy default').map(textOf),
  };
  return act({ type: 'asks', asks, ids: {} });
}

const long = (lines: number) =>
  anAsk({ args: { command: Array.from({ length: lines }, (_, index) => `echo ${index} | sh`).join('\n') } });
const answered = (answer: object, ask = anAsk()) => [{ do: 'answer', id: ask.id, binding: ask.binding, answer }];

describe('a card', () => {
  it('takes no letter that was pressed before the program was stopped', () => {
    const card = desk([anAsk()]).focus();
    card.wait(500).press('card.once');
    // Ctrl+Z.
    expect(card.act({ type: 'redrawn' }).wait(200).take()).toEqual([]);
    card.wait(500).press('card.once');
    // A machine that slept, or a stop from outside.
    expect(card.wait(5000).take()).toEqual([]);
    expect(card.said()).toBe('the program stood still: nothing was answered');
    expect(card.answer('card.once').take()).toEqual(answered({ outcome: 'approve', remember: null }));
  });

  it('shows what will run, where, under which rule and until when, at 80x24 without scrolling', () => {
    const lines = desk([anAsk()]).focus().lines();
    expect(lines.every((line) => columnsOf(line) === 80)).toBe(true);
    const text = lines.join('\n');
    for (const part of [
      'in 6d 23h',
      'git push --force origin fix/retry',
      '/usr/bin/git',
      '/home/u/w/shop',
      'default 51d0c7aa (builtin) · rule 14 → approve',
      'no allowlist prefix matches "git push"',
      '7f3a91c2d0e4',
      'y once   s session   r rule   e edit   n deny   f deny, say why',
      'Esc later',
      'reins approvals respond',
    ])
      expect(text).toContain(part);
  });

  it('shows the whole of a small change at 80x24, with the numbers of its lines', () => {
    const diff = [
      '--- a/a.ts',
      '+++ b/a.ts',
      '@@ -20,7 +20,7 @@',
      ' a',
      ' b',
      ' c',
      '-old',
      '+new',
      ' d',
      ' e',
      ' f',
      '',
    ].join('\n');
    const args = { path: 'a.ts', old_string: 'old', new_string: 'new' };
    const preview = {
      diff,
      edits_root: '/w',
      paths: [{ given: 'a.ts', real: '/home/u/w/shop/a.ts', inside: true, link: false }],
    };
    const record = { ...anAsk().record, exec: null, detail: null };
    const one = desk([anAsk({ tools: 'local_fs', tool: 'edit_file', args, preview, record })], {
      columns: 80,
      rows: 20,
    }).focus();
    const text = one.lines().join('\n');
    for (const part of [
      'a.ts (in the workspace)',
      '1 added, 1 removed',
      '23 -old⏎',
      '23 +new⏎',
      '26  f⏎',
      'rule',
      'binds',
      'Esc later',
    ])
      expect(text).toContain(part);
    expect(text).not.toContain('hidden');
    // What the diff says already need not be seen a second time.
    expect(one.answer('card.once').take()).toEqual(answered({ outcome: 'approve', remember: null }));
  });

  it('keeps what goes on of a broken line out of the column of the signs of a diff', () => {
    const line = `${'x'.repeat(64)}+forged`;
    const preview = { diff: `--- a/a.ts\n+++ b/a.ts\n@@ -1,1 +1,1 @@\n-old\n+${line}\n` };
    const rows = desk([anAsk({ tools: 'local_fs', tool: 'edit_file', args: {}, preview })], { columns: 80, rows: 30 })
      .focus()
      .lines();
    const sign = rows.find((row) => row.includes('1 -old'))?.indexOf('-old') ?? -1;
    expect(
      rows.filter((row) => row[sign] === '+' || row[sign] === '-').map((row) => row.slice(sign, sign + 4)),
    ).toEqual(['-old', '+xxx']);
  });

  it('marks the line of 512 that a warning names, and goes to it; what was jumped over is not seen', () => {
    const flags = [{ flag: 'runs_code', what: 'sh', lines: [390] }] as const;
    const one = desk([anAsk({ args: long(512).args, preview: { flags } })]).focus();
    expect(one.lines().join('\n')).toContain('! runs code that it is given: sh (line 390)');
    one.answer('card.full').wait(500).press('card.line-down').press('card.next-flag');
    expect(one.lines().join('\n')).toMatch(/390!echo 389 \| sh/);
    expect(one.answer('card.once').said()).toMatch(/^4\d\d lines not seen: Space$/);
  });

  it('lets nothing be approved whose facts have scrolled out of sight unseen', () => {
    const one = desk([anAsk()], { columns: 60, rows: 8 }).focus();
    expect(one.answer('card.once').said()).toMatch(/^\d lines? not seen: v$/);
    for (let index = 0; index < 8; index += 1) one.press('card.page-down');
    // What was said of them is true no more.
    expect(one.said()).toBeNull();
    expect(one.answer('card.once').take()).toEqual(answered({ outcome: 'approve', remember: null }));
  });

  it('gives the keys to the card of the call that was edited here, guarded, with what the model had asked for', () => {
    const verdict = {
      outcome: 'cancel',
      by: 'system:superseded',
      at: '',
      binding: '',
      edited: { args: {}, by: 'x' },
    } as const;
    const one = desk([anAsk()]).focus();
    one.act({ type: 'resolved', ask: anAsk({ state: 'cancelled', verdict }), mine: true, told: null });
    expect(one.state().card).toBeNull();
    const preview = { anew: { edited: true, args: { command: 'git push --force' }, why: [] } } as const;
    one.act({ type: 'asks', asks: [anAsk({ id: 'ask_new', preview })], ids: {} });
    expect(one.state().card?.id).toBe('ask_new');
    expect(one.press('card.once').wait(200).take()).toEqual([]);
    expect(one.lines().join('\n')).toMatch(/edited +by you.*\n┃ +-command: git push --force +┃/);
  });

  it('remembers when its keys went to an answer from elsewhere', () => {
    const one = desk([anAsk()]).focus().wait(500);
    one.act({ type: 'resolved', ask: anAsk({ state: 'denied' }), mine: false, told: null });
    expect([one.state().card, one.state().lostAt]).toEqual([null, start + 500]);
  });

  it('keeps what comes back from an editor after the ask has got its answer, or has changed', () => {
    const text = '{"command":"git push origin main"}';
    const saved = { type: 'edited-outside', id: anAsk().id, text, why: null } as const;
    const kept = [{ do: 'keep-text', text }];
    const one = desk([anAsk()]).focus().answer('card.edit');
    one.act({ type: 'resolved', ask: anAsk({ state: 'denied' }), mine: false, told: null }).take();
    expect(one.act(saved).take()).toEqual(kept);
    const changed = desk([anAsk()]).focus().answer('card.edit');
    changed.act({ type: 'asks', asks: [anAsk({ binding: 'another' })], ids: {} });
    expect(changed.take()).toMatchObject([{ do: 'keep-text' }]);
    expect([changed.said(), changed.state().card?.mode.at]).toEqual(['changed since you looked', 'choices']);
    expect(changed.act(saved).take()).toEqual(kept);
    const open = desk([anAsk()]).focus().answer('card.edit');
    expect(open.act(saved).take()).toEqual([]);
  });

  it('goes on to the next one with Ctrl+N, and keeps what was typed', () => {
    const other = anAsk({ id: 'ask_b', run_id: 'other', created_at: '2026-01-01T00:30:00.000Z' });
    const one = desk([anAsk(), other]).focus().answer('card.deny-feedback').type('because');
    expect(one.act({ type: 'focus-next', run_id: null }).state().card?.id).toBe('ask_b');
    expect(one.take()).toEqual([{ do: 'keep-text', text: 'because' }]);
    const alone = desk([anAsk()]).focus().answer('card.deny-feedback').type('because');
    expect(alone.act({ type: 'focus-next', run_id: null }).state().card?.mode.at).toBe('field');
  });

  it('names in the hint line only keys that do something', () => {
    const hints = (one: ReturnType<typeof desk>) => cardHints(one.state(), shippedKeyMap()).join('  ');
    const one = desk([anAsk()]).focus();
    expect(hints(one)).toBe('card has the keys  Esc later  x explain  v view all  Tab panes  F1 help');
    expect(hints(one.answer('card.full').wait(500))).toBe(
      'card has the keys  Up line  Space page  / find  ] next flag  Esc back  x explain  Tab panes  F1 help',
    );
    expect(hints(desk([anAsk()]).focus().answer('card.deny-feedback'))).toBe(
      'the field has the keys  Enter done  Esc back  F1 help',
    );
    expect(
      hints(desk([anAsk({ kind: 'budget', args: { bound: 'maxTurns', used: 1, limit: 1, more: 1 } })]).focus()),
    ).toBe('card has the keys  Esc later  Tab panes  F1 help');
  });

  it('answers once, by the binding that was shown, after the guard and a letter that stands alone', () => {
    const one = desk([anAsk()]).focus();
    expect(one.press('card.once').wait(399).press('card.once').wait(200).take()).toEqual([]);
    expect(one.said()).toBe('too soon: nothing was answered, press it again');
    expect(one.answer('card.once').take()).toEqual(answered({ outcome: 'approve', remember: null }));
    expect(one.answer('card.once').take()).toEqual([]);
  });

  it('waits on when the timer of a letter comes early', () => {
    const one = desk([anAsk()]).focus().wait(500).press('card.once');
    expect(one.wait(149).wakes()).toHaveLength(2);
    expect(one.wait(1).take()).toEqual(answered({ outcome: 'approve', remember: null }));
  });

  it('answers nothing to a sentence that was begun', () => {
    const one = desk([anAsk()]).focus().wait(1000);
    for (const letter of 'yes please') {
      one.act(
        letter === 'y'
          ? { type: 'command', id: 'card.once' }
          : letter === 's'
            ? { type: 'command', id: 'card.session' }
            : letter === 'l'
              ? { type: 'command', id: 'card.later' }
              : { type: 'text', text: letter },
      );
      one.wait(100);
    }
    expect(one.wait(1000).take()).toEqual([]);
    expect(one.said()).toBe('typing? Esc first');
  });

  it('never approves by Enter, Space or a paste', () => {
    const one = desk([anAsk()]).focus().wait(1000);
    for (let index = 0; index < 20; index += 1) one.press('card.take').act({ type: 'text', text: ' ' }).wait(200);
    one.act({ type: 'paste', text: 'y' }).wait(500);
    expect(one.take()).toEqual([]);
    expect(one.said()).toBe('a paste answers nothing: Esc first');
  });

  it('takes with Enter what Up and Down have chosen, the harmless first', () => {
    const one = desk([anAsk()]).focus().wait(500).press('card.down').press('card.down');
    expect(one.press('card.take').take()).toEqual(answered({ outcome: 'deny', feedback: null }));
  });

  it('guards anew after a resize and when the next card takes the keys', () => {
    const other = anAsk({ id: 'ask_b', created_at: '2026-01-01T00:30:00.000Z' });
    const one = desk([anAsk(), other]).focus().wait(500).act({ type: 'redrawn' });
    expect(one.wait(100).press('card.deny').wait(200).take()).toEqual([]);
    one.answer('card.deny');
    one.take();
    one.act({ type: 'resolved', ask: anAsk({ state: 'denied' }), mine: true, told: null });
    expect(one.state().card?.id).toBe('ask_b');
    expect(one.wait(100).press('card.once').wait(250).take()).toEqual([]);
  });

  it('approves nothing that was not seen, and denies at once', () => {
    const ask = long(512);
    const one = desk([ask]).focus();
    one.answer('card.once').answer('card.session').answer('card.rule');
    expect(one.take()).toEqual([]);
    expect(one.said()).toBe('509 lines not seen: v');
    one.answer('card.full');
    for (let index = 0; index < 60; index += 1) one.press('card.page-down');
    one.press('card.full').wait(500).press('card.leave');
    expect(one.answer('card.once').take()).toEqual(answered({ outcome: 'approve', remember: null }, ask));
    expect(
      desk([long(512)])
        .focus()
        .answer('card.deny')
        .take(),
    ).toEqual(answered({ outcome: 'deny', feedback: null }, ask));
  });

  it('goes to its last line and back by a key, which shows nothing of what lies between', () => {
    const one = desk([long(512)])
      .focus()
      .answer('card.full')
      .press('card.bottom');
    expect(one.lines().some((row) => row.includes('echo 511 | sh'))).toBe(true);
    expect(one.answer('card.once').take()).toEqual([]);
    expect(one.said()).toMatch(/^4\d\d lines not seen: Space$/);
    expect(
      one
        .press('card.top')
        .lines()
        .some((row) => row.includes('echo 0 | sh')),
    ).toBe(true);
  });

  it('folds one long line as it folds many, so that warning and rule stay in view', () => {
    const content = `${'q'.repeat(3000)}\u202e`;
    const ask = anAsk({ args: { command: content } });
    const rows = desk([ask], { columns: 80, rows: 24 }).focus().lines();
    expect(rows.some((row) => row.includes('… 1 of 1 lines hidden: v'))).toBe(true);
    expect(rows.some((row) => row.includes('rule'))).toBe(true);
    expect(rows.at(-1)).toMatch(/also: /);
  });

  it('counts a line of any length piece by piece, at 20x6 too, with the choices in view', () => {
    const ask = anAsk({ args: { command: 'x'.repeat(500) } });
    const one = desk([ask], { columns: 20, rows: 6 }).focus();
    expect(one.lines()).toHaveLength(6);
    expect(one.lines()[3]).toBe('┃ y s r e n f x v  ┃');
    expect(one.answer('card.once').said()).toBe('8 lines not seen: v');
    for (let index = 0; index < 250; index += 1) one.press('card.page-down');
    expect(one.answer('card.once').take()).toEqual(answered({ outcome: 'approve', remember: null }, ask));
  });

  it('counts nothing as seen when the binding changes, and says so', () => {
    const ask = long(512);
    const one = desk([ask]).focus().answer('card.full');
    for (let index = 0; index < 60; index += 1) one.press('card.page-down');
    const changed = { ...ask, binding: 'f'.repeat(64), preview: { policy_changed: true as const } };
    one.act({ type: 'asks', asks: [changed], ids: {} });
    expect(one.said()).toBe('the policy changed since this was asked');
    expect(one.answer('card.once').take()).toEqual([]);
  });

  it('makes hidden characters visible, and offers no session for them', () => {
    const ask = anAsk({ args: { command: 'echo a\u202eb\u200b\u001b[2J' } });
    const one = desk([ask]).focus();
    expect(one.lines().join('\n')).toContain('echo a⟨U+202E⟩b⟨U+200B⟩␛[2J');
    expect(one.answer('card.session').said()).toBe('hidden or look-alike characters: answer this once');
    expect(one.answer('card.once').take()).toHaveLength(1);
  });

  it('says why a choice is not offered', () => {
    const ask = anAsk({ preview: { reserved: 'path .env matches **/.env' } });
    expect(desk([ask]).focus().answer('card.session').said()).toBe('asked each time: path .env matches **/.env');
    const broken = desk([anAsk({ policy: { ...ask.policy, sha256: null, state: 'invalid' } })]).focus();
    expect(broken.answer('card.rule').said()).toBe('the policy is invalid: answer this once');
  });
});

describe('words and edits', () => {
  it('denies with words, in which letters are only typed', () => {
    const one = desk([anAsk()]).focus().answer('card.deny-feedback').type('y1 no force pushes');
    expect(cardContexts(one.state())?.[0]).toBe('field');
    expect(one.press('field.accept').take()).toEqual(answered({ outcome: 'deny', feedback: 'y1 no force pushes' }));
  });

  it('asks once more before it denies without words', () => {
    const one = desk([anAsk()]).focus().answer('card.deny-feedback').press('field.accept');
    expect(one.take()).toEqual([]);
    expect(one.answer('card.deny').take()).toEqual(answered({ outcome: 'deny', feedback: null }));
  });

  it('goes back with Esc, and then leaves the ask open', () => {
    const one = desk([anAsk()]).focus().answer('card.deny-feedback').type('x').press('field.close');
    expect(one.state().card?.mode.at).toBe('choices');
    expect(one.press('card.leave').state().card).toBeNull();
    expect(one.state().asks).toHaveLength(1);
    expect(one.take()).toEqual([]);
  });

  it('asks before Esc throws away what was edited, and not where nothing was', () => {
    const one = desk([anAsk()]).focus().answer('card.edit').press('field.close');
    expect(one.state().card?.mode.at).toBe('choices');
    one.answer('card.edit').type(' ').press('field.close');
    expect([one.state().card?.mode.at, one.said()]).toEqual(['edit', 'Esc again throws away what you edited']);
    // Who goes on typing has stayed.
    one.type(' ').press('field.close');
    expect([one.state().card?.mode.at, one.press('field.close').state().card?.mode.at]).toEqual(['edit', 'choices']);
  });

  it('judges edited arguments, runs allowed ones after one more key, and keeps the ask when they are denied', () => {
    const ask = anAsk();
    const one = desk([ask]).focus().answer('card.edit').press('field.delete-to-end');
    for (let index = 0; index < 80; index += 1) one.press('field.backspace');
    one.type('{"command":"git status"}').press('field.accept');
    const args = { command: 'git status' };
    const text = '{"command":"git status"}';
    expect(one.take()).toEqual([{ do: 'judge-edit', id: ask.id, args, text }]);
    one.act({ type: 'edit-judged', id: ask.id, verdict: { action: 'deny', why: 'rule 4' }, args, text });
    expect([one.said(), one.state().card?.mode.at, one.take()]).toEqual(['refused: rule 4', 'edit', []]);
    one.act({ type: 'edit-judged', id: ask.id, verdict: { action: 'allow', why: 'rule 6: covered' }, args, text });
    expect(one.take()).toEqual([]);
    // What a yes would run is what stands there, and no word of what the model had asked for.
    const shown = one.lines().join('\n');
    expect(shown).toContain('"command": "git status"');
    expect(shown).toContain('rule 6: covered');
    expect(shown).not.toContain('git push');
    expect(one.answer('card.once').take()).toEqual([{ do: 'edit', id: ask.id, binding: ask.binding, args }]);
  });

  it('says what is wrong with arguments that cannot be read', () => {
    const one = desk([anAsk()]).focus().answer('card.edit').press('field.accept');
    expect(one.said()).toBe('nothing was changed');
    expect(one.type('}').press('field.accept').said()).toContain('that is not JSON: line 3, column 2');
  });

  it('keeps the words of a field whose ask was answered elsewhere', () => {
    const one = desk([anAsk()]).focus().answer('card.deny-feedback').type('why');
    one.act({ type: 'asks', asks: [], ids: {} });
    expect(one.take()).toEqual([{ do: 'look', id: anAsk().id }]);
    const verdict = { outcome: 'deny', by: 'operator:web', at: '', binding: '' } as Ask['verdict'];
    one.act({
      type: 'resolved',
      ask: anAsk({ state: 'denied', verdict, resolved_at: '2026-01-01T01:02:03.000Z' }),
      mine: false,
      told: null,
    });
    expect(one.take()).toEqual([{ do: 'keep-text', text: 'why' }]);
    expect(one.pane(80, 20).join('\n')).toContain('denied 01:02:03 by operator:web');
  });
});

describe('a rule', () => {
  const proposals = {
    path: '/home/u/.reins/hitl-policy.json',
    copy: null,
    policy: { name: 'default', source: 'user', path: null, sha256: null, state: 'ok' },
    looked_at: 500,
    candidates: [
      {
        kind: 'exact',
        rule: { tools: 'local_shell', action: 'allow' },
        index: 13,
        sha256: 'r1',
        also_allowed: 1,
        also: [],
      },
    ],
    none: null,
  } as never;

  it('is shown with its file and reach, written by w alone, and not within the guard', () => {
    const one = desk([anAsk()]).focus().answer('card.rule');
    expect(one.take()).toEqual([{ do: 'propose', id: anAsk().id }]);
    one.act({ type: 'proposals', id: anAsk().id, proposals });
    const text = one.lines().join('\n');
    expect(text).toMatch(/\{ "tools": "local_shell", +┃\n┃ +"action": "allow" \}/);
    expect(text).toContain('into /home/u/.reins/hitl-policy.json');
    expect(text).toContain('as rule 14; would also have allowed 1 of the last 500 recorded calls');
    expect(text).toContain('m the matching calls');
    expect(one.press('rule.write').press('overlay.accept').wait(500).press('overlay.accept').take()).toEqual([]);
    expect(one.press('rule.write').take()).toEqual(
      answered({ outcome: 'approve', remember: 'rule', rule: { candidate: 0, sha256: 'r1' } }),
    );
  });
});

it('offers no list of the calls that a rule matches where there are none', () => {
  const rule = { tools: 'local_shell', action: 'allow' };
  const one = desk([anAsk()]).focus().answer('card.rule');
  const candidate = { kind: 'exact', rule, index: 13, sha256: 'r1', also_allowed: 0, also: [] };
  const policy = { name: 'default', source: 'user', path: null, sha256: null, state: 'ok' };
  const proposals = { path: '/p.json', copy: null, policy, looked_at: 9, candidates: [candidate], none: null };
  one.act({ type: 'proposals', id: anAsk().id, proposals: proposals as never });
  const text = one.lines().join('\n');
  expect(text).toContain('w write and allow');
  expect(text).not.toContain('matching calls');
});

describe('other kinds', () => {
  it('marks and sends a choice of a question, and takes a free answer', () => {
    const ask = anAsk({ kind: 'question', question: { text: 'Which?', choices: ['red', 'blue'] } });
    const one = desk([ask]).focus();
    expect(one.wait(500).press('card.take').take()).toEqual([]);
    expect(one.press('card.choice-2').press('card.take').take()).toEqual(
      answered({ outcome: 'answer', text: 'blue' }, ask),
    );
    const other = desk([ask])
      .focus()
      .answer('card.answer')
      .type('green')
      .press('field.newline')
      .type('!')
      .press('field.accept');
    expect(other.take()).toEqual(answered({ outcome: 'answer', text: 'green\n!' }, ask));
  });

  it('knows its own keys for an unknown outcome; once is none of them', () => {
    const ask = anAsk({ kind: 'unknown_outcome' });
    const one = desk([ask]).focus();
    expect(one.answer('card.once').take()).toEqual([]);
    expect(one.answer('card.skip').take()).toEqual(answered({ outcome: 'answer', treat_as: 'skip', text: null }, ask));
    expect(desk([ask]).focus().answer('card.done').type('it ran').press('field.accept').take()).toEqual(
      answered({ outcome: 'answer', treat_as: 'done', text: 'it ran' }, ask),
    );
  });
});

describe('a card that is viewed whole', () => {
  const viewed = () =>
    desk([long(200)])
      .focus()
      .wait(500)
      .press('card.full')
      .wait(500);

  it('is searched with letters that answer nothing, and what was jumped over is not seen', () => {
    const one = viewed().press('card.find').type('echo 150').wait(500);
    expect(one.lines().join('\n')).toContain('echo 150 | sh');
    expect(one.press('field.accept').type('ynn').wait(500).take()).toEqual([]);
    expect(one.said()).toBe('no hit');
    const back = one.press('field.close').wait(500);
    expect(back.answer('card.once').take()).toEqual([]);
    expect(back.said()).toMatch(/^1\d\d lines not seen/);
    expect(back.answer('card.deny').take()).toEqual(answered({ outcome: 'deny', feedback: null }, long(200)));
  });

  it('numbers commands of a line once', () => {
    const command = (word: string) => ({
      words: ['echo', word],
      program: '/bin/echo',
      revealed: false,
      covered_by: null,
      why: null,
    });
    const commands = { first: [command('one'), command('two')], total: 2 };
    const exec = { form: 'sh', file: '/bin/sh', argv: ['/bin/sh', '-c', 'echo one; echo two'] };
    const ask = anAsk({
      args: { command: 'echo one; echo two' },
      preview: { commands } as unknown as Ask['preview'],
      record: { ...anAsk().record, exec } as unknown as Ask['record'],
    });
    const lines = desk([ask]).focus().wait(500).press('card.full').wait(500).lines();
    expect(lines.filter((line) => line.includes('→ /bin/echo')).map((line) => line.replace(/^┃ | *┃$/g, ''))).toEqual([
      'segments  1 echo one → /bin/echo',
      '          2 echo two → /bin/echo',
    ]);
  });

  it('pages with Space, and goes to the next line that hides something', () => {
    const first = viewed().lines()[1];
    expect(viewed().press('card.page').lines()[1]).not.toBe(first);
    const command = `${Array.from({ length: 90 }, (_, index) => `echo ${index}`).join('\n')}\necho a\u202eb`;
    const one = desk([anAsk({ args: { command } })])
      .focus()
      .wait(500)
      .press('card.full')
      .wait(500);
    expect(one.press('card.next-flag').lines().join('\n')).toContain('⟨U+202E⟩');
    expect(viewed().press('card.next-flag').said()).toBe('no line stands out, and nothing is hidden in it');
  });
});

describe('the pane', () => {
  const three = [
    anAsk({ id: 'ask_a', expires_at: null, created_at: '2026-01-01T00:10:00.000Z' }),
    anAsk({
      id: 'ask_b',
      expires_at: '2026-01-01T01:11:58.000Z',
      tools: 'local_fs',
      tool: 'write_file',
      args: { path: 'docs/client.md' },
      summary: 'docs/client.md',
    }),
    anAsk({ id: 'ask_c', expires_at: null }),
  ];

  it.each([
    [120, 36],
    [80, 21],
    [60, 13],
  ])('fits %d x %d, and sorts by deadline', (columns, rows) => {
    const lines = desk(three).pane(columns, rows);
    expect(lines).toHaveLength(rows);
    expect(lines.filter((line) => columnsOf(line) > columns)).toEqual([]);
    const order = lines.filter((line) => /write_file|local_shell\.local/.test(line.slice(0, 56)));
    expect(order[0]).toContain('local_fs.write_file');
    expect(order[0]).toContain('11:58');
  });

  it('denies what is selected after a question, and approves nothing', () => {
    const one = desk(three).press('approvals.deny');
    expect(one.said()).toContain('select with Space first');
    one.press('approvals.select').press('approvals.down').press('approvals.select').press('approvals.deny');
    expect(one.pane(80, 20)[0]).toContain('Deny these 2 asks?');
    expect(one.press('question.yes').take()).toEqual([]);
    expect(one.wait(500).press('question.yes').take()).toEqual([
      {
        do: 'deny-all',
        asks: [
          { id: 'ask_b', binding: three[0]?.binding },
          { id: 'ask_c', binding: three[0]?.binding },
        ],
      },
    ]);
  });

  it('filters by what is typed, and groups what is alike', () => {
    const one = desk(three).press('approvals.filter').type('client').press('field.accept');
    expect(one.pane(80, 20).filter((line) => line.startsWith('>') || line.includes('git push --force'))).toHaveLength(
      2,
    );
    expect(desk(three).press('approvals.group').pane(80, 20).join('\n')).toContain('2 alike');
  });

  const rows = (one: ReturnType<typeof desk>) => one.pane(80, 20).filter((line) => /^[> ][x ] .*local_/.test(line));

  it('opens, selects and denies only what a filter shows', () => {
    const one = desk(three).press('approvals.filter').type('git push');
    // The arrows and the edges are those of the list, where the field has no use for them.
    expect(one.press('field.down').state().selected).toBe('ask_a');
    expect(one.press('field.up').state().selected).toBe('ask_c');
    expect(one.press('field.line-end').state().selected).toBe('ask_a');
    expect(one.press('field.line-start').press('field.line-start').state().selected).toBe('ask_c');
    expect(one.pane(80, 20)).toContain('2 of 3 open');
    one.press('field.accept').press('approvals.open');
    expect(one.state().card?.id).toBe('ask_c');
    const none = desk(three).press('approvals.filter').type('nothing').press('field.accept').press('approvals.open');
    expect(none.state().card).toBe(null);
    expect(none.press('approvals.clear').state().selected).toBe('ask_b');
  });

  it('moves over groups, and selects all that are alike', () => {
    const one = desk(three).press('approvals.group').press('approvals.down');
    expect(rows(one)[1]).toMatch(/^> /);
    expect(one.pane(120, 20).join('\n')).toContain('2 alike');
    expect([...one.press('approvals.select').state().marked].sort()).toEqual(['ask_a', 'ask_c']);
    expect(one.press('approvals.select').state().marked.size).toBe(0);
    expect(one.press('approvals.group').press('approvals.down').state().selected).toBe('ask_a');
  });

  it('stays at its place in the list when the chosen one was answered', () => {
    const one = desk(three).press('approvals.down');
    one.act({ type: 'resolved', ask: anAsk({ id: 'ask_c', state: 'denied' }), mine: true, told: null });
    expect(one.state().selected).toBe('ask_a');
  });

  it('says how many more a question is about than fit', () => {
    const many = Array.from({ length: 30 }, (_, index) => anAsk({ id: `ask_${String(index).padStart(2, '0')}` }));
    const lines = desk(many).press('approvals.select-all').press('approvals.deny').pane(80, 20);
    expect(lines[18]).toContain('ask_16');
    expect(lines[19]).toBe('  and 13 more');
  });

  describe('of what was answered', () => {
    const over = (count: number) =>
      Array.from({ length: count }, (_, index) =>
        anAsk({
          id: `ask_${index}`,
          state: 'denied',
          args: { command: `echo ${index}` },
          resolved_at: new Date(start - index * 3_600_000).toISOString(),
          verdict: { outcome: 'deny', by: 'operator:web', at: '', binding: '' },
        }),
      );

    it('shows the newest that anybody has answered, with open ones and without', () => {
      for (const asks of [[], three]) {
        const one = desk(asks).act({ type: 'history', asks: over(3), whole: false });
        expect(one.pane(120, 20).filter((line) => line.includes('operator:web'))).toHaveLength(3);
        one.act({ type: 'resolved', ask: anAsk({ id: 'ask_n', state: 'approved' }), mine: true, told: null });
        expect(one.pane(120, 20).filter((line) => /operator:web|by you|approved/.test(line))).toHaveLength(3);
      }
    });

    it('is moved over in place of the list, tells day and wait, and is closed', () => {
      const one = desk(three, { columns: 80, rows: 10 }).press('approvals.history');
      expect(one.take()).toEqual([{ do: 'load-history', whole: true }]);
      one.act({ type: 'history', asks: over(40), whole: true });
      const first = one.pane(80, 10);
      expect(first[0]).toBe('Answered: the last 40, 1-9 shown (h closes)');
      expect(first[1]).toMatch(/01:00 {2}denied {4}operator:web {5}waited 1h {3}local_shell\.local_shell/);
      expect(first[3]).toContain('12-31 23:00');
      expect(one.press('approvals.bottom').pane(80, 10).at(-1)).toContain('12-30 10:00');
      expect(one.press('approvals.page-up').pane(80, 10)[0]).toContain('23-31 shown');
      // What acts on the list does nothing while it is not in view.
      one.press('approvals.select').press('approvals.open').press('approvals.deny');
      expect(one.state()).toMatchObject({ card: null, denying: null, marked: new Set() });
      expect(one.press('approvals.clear').pane(80, 20)[0]).toContain('AGE');
    });
  });
});
