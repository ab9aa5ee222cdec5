import { describe, expect, it } from 'vitest';
import type { PolicyExplanation } from '../../../src/schema/policy-views.ts';
import type { RunDetails } from '../../../src/schema/run-record.ts';
import type { Item } from '../../../src/view/items.ts';
import { textOf } from '../../../src/view/line.ts';
import { emptyCall } from '../../../src/view/transcript.ts';
import { readKeysFile } from '../../../ui/keys/keys-file.ts';
import { openList, type Overlay } from '../../../ui/overlays/overlay.ts';
import { placeOf } from '../../../ui/overlays/place.ts';
import { whyOverlay } from '../../../ui/overlays/why-view.ts';
import { reduce } from '../../../ui/reducer.ts';
import type { State } from '../../../ui/state.ts';
import { createLineCache } from '../../../ui/transcript/line-cache.ts';
import { pressAll, readyState } from '../reducing.ts';

const over = (overlay: Overlay): State => readyState({ overlays: [overlay] });
const top = (state: State): Overlay | undefined => state.overlays.at(-1);
const view = (lines: readonly string[]): Overlay => ({ kind: 'view', title: 'Answer', lines, at: 0 });
const many = Array.from({ length: 200 }, (_, index) => `line ${index}${index % 50 === 40 ? ' needle' : ''}`);
const hidden = many.map((line, index) => (index === 120 ? `${line}\u202e` : line));
/** The first line that is in view. */
const first = (state: State): string => {
  const overlay = top(state) as Overlay;
  const place = placeOf(state, overlay);
  return textOf(place.view.body[place.top] ?? []).trim();
};

describe('a text that is read', () => {
  it('is numbered, and nothing in it is sent raw', () => {
    const place = placeOf(over(view([])), view(['a\u001b[2J\u202eb', 'c\r']));
    expect(place.view.body.map(textOf)).toEqual(['1  a␛[2J⟨U+202E⟩b⏎', '2  c␍']);
  });

  it('comes back from its end with the first key', () => {
    const end = pressAll(over(view(many)), 'end').state;
    expect(first(pressAll(end, 'up').state)).not.toBe(first(end));
    expect(first(pressAll(end, 'home').state)).toBe('1  line 0⏎');
  });

  it('is searched: the first hit, the next ones in a circle, and letters act again when the field is closed', () => {
    const found = pressAll(over(view(many)), '/', ...'needle').state;
    expect(first(found)).toContain('line 38');
    const kept = pressAll(found, 'enter', 'n').state;
    expect(first(kept)).toContain('line 88');
    expect(first(pressAll(kept, 'N', 'N').state)).toContain('line 184');
    expect(placeOf(kept, top(kept) as Overlay).view.right.map(({ text }) => text)).toEqual(['2 of 4']);
    const none = pressAll(found, 'q').state;
    expect(placeOf(none, top(none) as Overlay).view.right.map(({ text }) => text)).toEqual(['no hit']);
  });

  it('shows the next line with something hidden, pages, wraps, and is copied whole', () => {
    expect(first(pressAll(over(view(hidden)), ']').state)).toContain('line 118');
    expect(first(pressAll(over(view(many)), 'space').state)).not.toContain('line 0');
    expect(pressAll(over(view(['x'.repeat(300)])), 'w').state.overlays[0]).toMatchObject({ unwrapped: true });
    expect(pressAll(over(view(['a', 'b'])), 'c').effects).toEqual([{ do: 'copy', text: 'a\nb' }]);
  });
});

it('a list is gone to its ends by the keys for which its filter has no use', () => {
  const palette = pressAll(readyState(), 'ctrl+p');
  const at = (...keys: readonly string[]) => (top(pressAll(palette.state, ...keys).state) as { at: number }).at;
  expect(at('end')).toBeGreaterThan(20);
  expect(at('end', 'home')).toBe(0);
  // Behind a text they move its caret first.
  expect([at('e', 'end'), at('e', 'down', 'home')]).toEqual([at('e', 'pagedown', 'end'), 0]);
  expect(at('e', 'home', 'end')).toBe(0);
});

describe('the foot', () => {
  const foot = (state: State): string => {
    const { view: shown, last } = placeOf(state, top(state) as Overlay);
    return shown.foot.filter((word) => last > 0 || shown.scrolls?.includes(word) !== true).join('  ');
  };

  it('names the keys that do something in the text, and no others', () => {
    expect(foot(over(view(['a', 'b'])))).toBe('/ find  w wrap  c copy  Esc close');
    expect(foot(over(view(hidden)))).toBe('↑↓ Space page  / find  ] next flag  w wrap  c copy  Esc close');
    const found = pressAll(over(view(many)), '/', ...'needle').state;
    expect(foot(found)).toBe('↑↓ hits  Enter keep  Esc no search');
    expect(foot(pressAll(found, 'enter').state)).toBe(
      '↑↓ Space page  n next  N previous  / find  w wrap  c copy  Esc close',
    );
    expect(foot(pressAll(over(view(many)), '/', ...'ne 40 needle', 'enter').state)).toBe(
      '↑↓ Space page  / find  w wrap  c copy  Esc close',
    );
  });

  it('names the keys in effect', () => {
    const { map: keys, notices } = readKeysFile(
      JSON.stringify({ version: 1, bindings: { 'view.wrap': ['z'], 'view.copy': [], 'sessions.new': ['+'] } }),
    );
    expect(notices).toEqual([]);
    expect(foot(readyState({ keys, overlays: [view(['a'])] }))).toBe('/ find  z wrap  Esc close');
    expect(foot(readyState({ keys, overlays: [{ ...openList('sessions'), rows: [] }] }))).toBe(
      'Enter switch  Esc, then + new  R rename  F fork  D delete  E export  ',
    );
  });
});

describe('keys of the overlays', () => {
  const run = {
    id: 'run_1',
    status: 'completed',
    ended_at: '2026-01-01T00:00:00.000Z',
    steps: [],
    calls: [],
    waits: [],
  } as unknown as RunDetails;
  const session = {
    id: 's2',
    name: 'other',
    active: false,
    message_count: 3,
    created_at: '2026-01-01T00:00:00.000Z',
    last_message_at: null,
    preview: '',
    forked_from: null,
    active_run_id: null,
    suspended_run_id: null,
  };
  const grant = {
    id: 'g1',
    kind: 'call',
    what: 'local_shell.local_shell ls',
    policy_sha256: 'p',
    ask_id: 'ask_1',
    created_at: '2026-01-01T00:00:00.000Z',
  } as const;

  it('of a run read its data and export it', () => {
    expect(pressAll(over({ kind: 'run', run, at: 0 }), 'e').effects).toEqual([
      { do: 'slash', intent: { do: 'export-run', run_id: 'run_1', force: false } },
    ]);
    expect(pressAll(over({ kind: 'run', run, at: 0 }), 'enter').effects).toEqual([
      { do: 'load-run-data', run_id: 'run_1' },
    ]);
  });

  it('of many sessions name the last one whole where there is room', () => {
    const rows = Array.from({ length: 60 }, (_, index) => ({ ...session, id: `s${index}`, name: `s${index}` }));
    const many = { ...openList('sessions'), rows: [...rows, { ...session, id: 'last', name: 'a-longer-name' }] };
    expect(textOf(placeOf(readyState(), many as Overlay).view.body.at(-1) ?? [])).toContain('a-longer-name  ');
  });

  it('tell sessions apart whose long names differ at their ends, and name them whole where there is room', () => {
    const long = 'a-name-of-a-session-that-has-as-many-signs-as-it-may-have-at-all';
    const rows = ['1', '2'].map((id) => ({ ...session, id, name: `${long.slice(0, -1)}${id}` }));
    const list = { ...openList('sessions'), rows } as Overlay;
    const names = (columns: number): readonly string[] =>
      placeOf(readyState({ size: { columns, rows: 40 } }), list).view.body.map(
        (row) => /[a-z]\S*/.exec(textOf(row))?.[0] ?? '',
      );
    expect(names(80)).toEqual(['a-name-of-a-sess…may-have-at-al1', 'a-name-of-a-sess…may-have-at-al2']);
    expect(names(160)).toEqual(rows.map(({ name }) => name));
  });

  it('of the sessions export the chosen one', () => {
    expect(pressAll(over({ ...openList('sessions'), field: null, rows: [session] }), 'E').effects).toEqual([
      {
        do: 'slash',
        intent: { do: 'export', format: 'md', path: null, force: false, of: { id: 's2', name: 'other' } },
      },
    ]);
  });

  it('of what is allowed for the session forget one choice', () => {
    const state = over({ ...openList('grants'), field: null, rows: [grant] });
    expect(placeOf(state, top(state) as Overlay).view.body.map(textOf)[0]).toContain('local_shell.local_shell ls');
    expect(pressAll(state, 'delete').effects).toEqual([{ do: 'forget', id: 'g1' }]);
  });

  it('of what is allowed for the session say that edits are, and of which place', () => {
    const state = over({ ...openList('grants'), field: null, rows: [{ ...grant, kind: 'edits', what: '/w/shop' }] });
    expect(placeOf(state, top(state) as Overlay).view.body.map(textOf)[0]).toContain('edits of files below /w/shop');
    const searched = pressAll(state, '/', ...'files').state;
    expect(placeOf(searched, top(searched) as Overlay).view.body.map(textOf)[0]).toContain('/w/shop');
  });
});

describe('lists', () => {
  const shown = (state: State): readonly string[] => placeOf(state, top(state) as Overlay).view.body.map(textOf);

  it('of commands have each once, those of the pane among them, and close with one Esc', () => {
    const open = pressAll(readyState({ pane: 'plan' }), 'ctrl+p').state;
    expect(shown(open).filter((row) => row.includes('/sessions'))).toEqual([
      expect.stringMatching(/^ {2}switch session +Ctrl\+X s +\/sessions/),
    ]);
    expect(shown(open).some((row) => /replan +R/.test(row))).toBe(true);
    expect(pressAll(open, 'escape').state.overlays).toEqual([]);
    expect(shown(pressAll(open, ...'zzzz').state)).toEqual(['nothing matches "zzzz"']);
  });

  it('of keys are an overview, with a text those that have it, and with a slash the commands', () => {
    const open = pressAll(readyState(), 'f1').state;
    expect(placeOf(open, top(open) as Overlay).view.title).toBe('Keys: Chat');
    expect(shown(open)[0]).toMatch(/^Composer +Everywhere/);
    expect(shown(pressAll(open, ...'new line').state)[1]).toMatch(/^Ctrl\+J, Shift\+Enter, Alt\+Enter +new line/);
    expect(shown(pressAll(open, ...'card of a call').state)).toContainEqual(expect.stringMatching(/^y +allow once/));
    expect(shown(pressAll(open, ...'/tru').state)[0]).toMatch(/^\/trust +review untrusted/);
    expect(pressAll(open, 'escape').state.overlays).toEqual([]);
  });

  it('take what is pasted into their field as one line, and nothing where there is none', () => {
    const ruler = { cache: createLineCache(), glyphs: 'unicode' as const };
    const paste = (state: State): State =>
      reduce(state, { type: 'paste', text: 'new\nli\u001bne', now: 1 }, ruler).state;
    expect(top(paste(pressAll(readyState(), 'f1').state))).toMatchObject({ query: 'new line' });
    const closed = over({ ...openList('sessions'), field: null, rows: [] });
    expect(paste(closed).overlays).toEqual(closed.overlays);
    expect(paste(closed).said?.text).toBe('nothing is written here: the paste was dropped');
  });

  it('ask before they set a default, and before they end a run', () => {
    const model = {
      backend: 'b',
      model: 'm',
      capabilities: {},
      context: 1,
      size_bytes: 4_700_000_000,
      is_default: false,
      reason: null,
    } as const;
    const models = { ...openList('models'), field: null, rows: [{ ...model, state: 'served' as const }], notes: [] };
    const asked = pressAll(over({ ...models, backends: '' }), 'D');
    expect(asked.effects).toEqual([]);
    expect(pressAll(asked.state, 'enter').effects).toEqual([]);
    expect(pressAll(asked.state, 'y').effects).toEqual([{ do: 'set-model', name: 'm', backend: 'b', save: true }]);
    const run = { id: 'run_1', status: 'running', ended_at: null } as unknown as RunDetails;
    const ending = pressAll(over({ kind: 'run', run, at: 0 }), 'c');
    expect(ending.effects).toEqual([]);
    expect(pressAll(ending.state, 'y').effects).toEqual([{ do: 'cancel-run', run_id: 'run_1' }]);
  });
});

describe('the keys of a run', () => {
  const footOf = (over: Partial<RunDetails>): string => {
    const used = { used: 0, limit: 1 };
    const run = {
      ...{ id: 'run_1', duration_ms: 0, steps: [], calls: [], waits: [], asks: [], policy: { name: 'p', sha256: 'a' } },
      bounds: { turns: used, tool_calls: used, tokens: used },
      ...{ kind: 'chat', waiting_on: null, exit_code: null, plan: null, session: null, started_at: null, input: 'x' },
      ...{ cwd: '/w', model: 'm', backend: 's', result: '', error: null, attempts: 0 },
      ...{ chain: { id: 'c' }, usage: { input_tokens: 0, output_tokens: 0 }, ended_at: null },
      ...over,
    } as unknown as RunDetails;
    return placeOf(readyState(), { kind: 'run', run, at: 0 }).view.foot.join('  ');
  };

  it('offer to go on with one that rests, and neither that nor an end for one that made room for the next turn', () => {
    const at = '2026-01-01T00:00:00.000Z';
    expect(footOf({ status: 'interrupted' })).toMatch(/cancel run.*resume/);
    expect(footOf({ status: 'running' })).toMatch(/cancel run {2}(?!.*resume)/);
    expect(footOf({ status: 'interrupted', ended_at: at })).not.toMatch(/cancel run|resume/);
  });
});

describe('why a call is asked about', () => {
  const record = {
    action: 'approve',
    matched_rule: 7,
    reason: 'matched_rule',
    timeout_s: 60,
    on_timeout: null,
    policy: { name: 'own', source: 'user', path: '/p.json', sha256: 'abcdef0123', state: 'ok' },
    detail: null,
    note: null,
    trust: [],
    exec: null,
  } as const;
  const why: PolicyExplanation = {
    call: { tools: 'web', tool: 'get', args: { url: 'x' }, cwd: '/w' },
    record,
    tried: Array.from({ length: 40 }, (_, index) => ({
      rule: index,
      outcome: index === 7 ? 'approve' : 'no',
      note: null,
      conditions: [],
    })),
    wait_s: 60,
    would_change_with: 'a rule for x',
    refused: null,
    notes: [],
  };
  const rules = Array.from({ length: 40 }, (_, index) => ({ tools: 'web', action: 'approve', index }));

  it('is in view at once: the call, the verdict, the rule that decided, and what would change it', () => {
    const state = over(whyOverlay('Why is it asking?', why, rules));
    const { view, top: first, room } = placeOf(state, top(state) as Overlay);
    expect(view.head.map(textOf).slice(0, 2)).toEqual([
      'web/get {"url":"x"}',
      '→ approve by rule 8 of 40, waits 1 min, then denied',
    ]);
    expect(view.body.slice(first, first + room).map(textOf)).toContainEqual(
      expect.stringMatching(/^> +8 {2}web\.\* +approve +yes: every call$/),
    );
    expect(view.below.map(textOf)).toEqual(['would change with: a rule for x']);
    const mended = { ...record, action: 'allow' } as const;
    const later = over(whyOverlay('Why is it asking?', why, rules, { now: mended, ask: 'ask_1' }));
    expect(placeOf(later, top(later) as Overlay).view.head.map(textOf)[2]).toMatch(/^by now: allow {2}rule 8 of /);
    const rule = pressAll(state, 'down', 'enter').state;
    expect(top(rule)).toMatchObject({ kind: 'view', title: 'Rule 9', lines: expect.arrayContaining(['  "index": 8']) });
  });
});

describe('reading mode', () => {
  const call: Item = {
    ...emptyCall('c1', 'run_1'),
    tools: 'local_fs',
    tool: 'read_file',
    args: { path: 'a' },
    state: 'ok',
    result: 'all of it',
  };
  const reading = readyState({ items: [call], reading: { selected: 'c1' } });

  it('shows the chosen item whole', () => {
    expect(top(pressAll(reading, 'v').state)).toMatchObject({
      kind: 'view',
      title: 'local_fs.read_file',
      lines: ['Arguments', '{', '  "path": "a"', '}', '', 'Result', 'all of it'],
    });
  });

  it('explains a call that nobody was asked about by the policy, and one that was by its ask', () => {
    expect(pressAll(reading, 'x').effects).toEqual([
      { do: 'explain-call', call: { tools: 'local_fs', tool: 'read_file', args: { path: 'a' } } },
    ]);
    const asked = { ...reading, items: [{ ...call, ask_id: 'ask_1' }] };
    expect(pressAll(asked, 'x').effects).toEqual([{ do: 'explain-ask', ask_id: 'ask_1' }]);
  });
});
