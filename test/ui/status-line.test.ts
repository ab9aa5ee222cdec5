import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/schema/event.ts';
import { textOf } from '../../src/view/line.ts';
import { reduce } from '../../ui/reducer.ts';
import type { State, Turn } from '../../ui/state.ts';
import { hintLine } from '../../ui/hint-line.ts';
import { statusLine, tabBar } from '../../ui/status-lines.ts';
import { createLineCache } from '../../ui/transcript/line-cache.ts';
import { anAsk } from './approvals/an-ask.ts';
import { pressAll, readyState } from './reducing.ts';
import { titleOf } from '../../ui/title.ts';
import { turnFrom } from '../../ui/sending.ts';

const turn: Turn = { ...turnFrom(0), run_id: 'run_1', waiting_since: 1000 };
const bounds = (turns: number, tool_calls: number, tokens: number) => ({
  turns: { used: turns, max: 20 },
  tool_calls: { used: tool_calls, max: null },
  tokens: { used: tokens, max: 200_000 },
});
const busy: State = readyState({
  now: 39_000,
  turn,
  asks: [anAsk({ expires_at: new Date(757_000).toISOString() })],
  facts: {
    ...readyState().facts,
    policy: { name: 'default', sha256: '51d0c7aa', invalid: false },
    model: 'qwen2.5:7b',
    backend: 'local',
    context: { used: 13_000, limit: 32_000, estimated: false },
    tokens: { in: 8100, out: 640, estimated: false },
    bounds: { run_id: 'run_1', last_seq: 4, bounds: bounds(3, 12, 8000) },
    agentAnswers: true,
    server: 8787,
  },
});
const shown = (columns: number, over: Partial<State> = {}): string =>
  textOf(statusLine({ ...busy, size: { columns, rows: 40 }, ...over })).replaceAll(/ {2,}/g, '  ');

describe('the status line', () => {
  it('shows each field where there is room', () => {
    expect(shown(200)).toBe(
      ' ? waiting for you 00:38 · qwen2.5:7b@local · policy default 51d0  asks 1, next 11:58 · ctx 41% 13k/32k · 8.1k/640 tok · turns 3/20 · tok 8k/200k · agent answers on · beam :8787',
    );
  });

  it('leaves out the least needed fields first, and says the context shortly before it goes', () => {
    const left = ' ? waiting for you 00:38 · qwen2.5:7b@local · policy default 51d0  asks 1, next 11:58';
    expect(shown(150)).toBe(`${left} · ctx 41% 13k/32k · 8.1k/640 tok · turns 3/20 · tok 8k/200k`);
    expect(shown(120)).toBe(`${left} · ctx 41% 13k/32k`);
    expect(shown(80)).toBe(' ? waiting for you 00:38 · policy default 51d0  asks 1, next 11:58 · ctx 41%');
    expect(shown(60)).toBe(' ? waiting for you 00:38 · policy defaul… asks 1, next 11:58');
  });

  it('waits for you, and does not work, while a question stands before a message', () => {
    const overlays = [{ kind: 'question', title: '', lines: [], choices: [], otherwise: [], at: 0 }] as const;
    const unsent = { turn: turnFrom(1000), overlays };
    expect(shown(200, unsent)).toMatch(/^ \? waiting for you 00:38 · /);
    expect(titleOf({ ...busy, asks: [], ...unsent })).toBe('reins: waiting for you');
    expect(shown(200, { turn: turnFrom(1000) })).toMatch(/^ \* working 00:38, /);
  });

  it('says how long nothing has come, but not of a turn whose words only another process hears', () => {
    const working = { ...turn, waiting_since: null };
    expect(shown(200, { turn: working })).toMatch(/^ \* working 00:39, quiet for 39 s · /);
    expect(shown(200, { turn: { ...working, elsewhere: { by: { pid: 7, surface: 'tui' } } } })).toMatch(
      /^ \* working 00:39 · run by pid 7 \(tui\) · /,
    );
  });

  it('counts the time of a turn of another process from its beginning, not from when it came into view', () => {
    const ruler = { cache: createLineCache(), glyphs: 'unicode' } as const;
    const event = (kind: string, at: number) =>
      ({
        v: 1,
        seq: 1,
        run_id: 'run_1',
        kind,
        timestamp: new Date(at).toISOString(),
        policy: { name: 'p', sha256: '0' },
      }) as unknown as RunEvent;
    const seen = (by: Turn['elsewhere'], ...events: readonly RunEvent[]): string => {
      const late = { ...busy, now: 100_000, turn: { ...turnFrom(100_000), run_id: 'run_1', elsewhere: by } };
      const told = reduce(late, { type: 'events', run_id: 'run_1', events, now: 100_000 }, ruler).state;
      return /working \d\d:\d\d/.exec(textOf(statusLine(told)))?.[0] ?? '';
    };
    const other = { by: { pid: 7, surface: 'tui' } };
    expect(seen(other, event('chain_started', 30_000))).toBe('working 01:10');
    expect(seen(other, event('chain_started', 30_000), event('chain_resumed', 80_000))).toBe('working 00:20');
    expect(seen(null, event('chain_started', 30_000))).toBe('working 00:00');
  });

  it('has no bounds of a turn that is over and done', () => {
    expect(shown(200, { turn: null })).not.toContain('turns');
    expect(shown(200, { turn: null, ended: { rests: 'run_1', stands: 'suspended' } })).toContain('turns 3/20');
  });

  it('says no limit of the model before once another one is to answer, and the new one as soon as that is chosen', () => {
    const ruler = { cache: createLineCache(), glyphs: 'unicode' } as const;
    const quiet = { ...busy, asks: [], turn: null, ended: null };
    const contextOf = (state: State): string =>
      textOf(statusLine({ ...state, size: { columns: 200, rows: 40 } }))
        .match(/ctx [^·]*(?= ·)/)?.[0]
        .trim() ?? '';
    expect(contextOf(quiet)).toBe('ctx 41% 13k/32k');
    const other = reduce(quiet, { type: 'facts', facts: { model: 'tiny', backend: null } }, ruler).state;
    expect(contextOf(other)).toBe('ctx ~13k');
    const body = { kind: 'model_selected', provider: 'ollama', backend: 'local', model: 'tiny', context_length: 4096 };
    const event = { v: 1, seq: 9, run_id: 'run_1', ...body, limit: 16_000 } as unknown as RunEvent;
    const told = reduce(
      { ...other, turn: busy.turn },
      { type: 'events', run_id: 'run_1', events: [event], now: 39_000 },
      ruler,
    );
    expect(contextOf(told.state)).toBe('ctx ~81%! 13k/16k');
  });

  it('says nothing of the context behind a summary, and counts what that has cost', () => {
    const ruler = { cache: createLineCache(), glyphs: 'unicode' } as const;
    const usage = { kind: 'token_usage', prompt: 90, completion: 10, total: 100, limit: 8192, estimated: false };
    const told = (chain_id: string) => {
      const event = { v: 1, seq: 9, run_id: 'run_1', chain_id, ...usage } as unknown as RunEvent;
      return reduce(busy, { type: 'events', run_id: 'run_1', events: [event], now: 39_000 }, ruler).state.facts;
    };
    expect(told('chain-chat').context).toEqual({ used: 100, limit: 8192, estimated: false });
    expect(told('chain-compact').context).toBeNull();
    expect(told('chain-compact').tokens).toEqual({ in: 8190, out: 650, estimated: false });
  });

  it('says that a run works which is read from its beginning and has rested on the way', () => {
    const ruler = { cache: createLineCache(), glyphs: 'unicode' } as const;
    const event = (seq: number, body: object) => ({ v: 1, seq, run_id: 'run_1', ...body }) as unknown as RunEvent;
    const rests = event(1, { kind: 'chain_suspended', reason: 'interrupted', ask_ids: [], checkpoint_seq: 0 });
    const told = (...events: readonly RunEvent[]) =>
      reduce(
        { ...busy, turn: { ...turn, waiting_since: null } },
        { type: 'events', run_id: 'run_1', events, now: 39_000 },
        ruler,
      ).state;
    expect(textOf(statusLine(told(rests)))).toMatch(/^ ! interrupted /);
    const goesOn = told(rests, event(2, { kind: 'chain_resumed', by: 'operator:cli', from_seq: 1 }));
    expect(textOf(statusLine(goesOn))).toMatch(/^ \* working 00:39 /);
  });

  it('counts the bounds of a run by its events, and reads them again when they were extended', () => {
    const ruler = { cache: createLineCache(), glyphs: 'unicode' } as const;
    const event = (seq: number, body: object) => ({ v: 1, seq, run_id: 'run_1', ...body }) as unknown as RunEvent;
    const usage = { kind: 'token_usage', prompt: 90, completion: 10, total: 100, limit: null, estimated: false };
    const told = (...events: readonly RunEvent[]) =>
      reduce(busy, { type: 'events', run_id: 'run_1', events, now: 39_000 }, ruler);
    // What was read holds the first four events already.
    expect(told(event(4, usage), event(5, usage)).state.facts.bounds?.bounds).toEqual(bounds(4, 12, 8100));
    const call = { kind: 'tool_call_started', call_id: 'c', tools: 'local_fs', tool: 'read_file' };
    expect(told(event(5, call)).state.facts.bounds?.bounds).toEqual(bounds(3, 13, 8000));
    const many = told(...Array.from({ length: 18 }, (_, index) => event(5 + index, usage)));
    expect(many.effects).toContainEqual({ do: 'load-bounds', run_id: 'run_1' });
  });
});

it('hints at what Enter does with a message while a turn runs, and at the way back of one that waits', () => {
  const hints = (over: Partial<State>, ...keys: readonly string[]): string =>
    textOf(hintLine(pressAll(readyState(over), ...keys).state));
  const running = { turn: { ...turn, waiting_since: null } };
  expect(hints({}, 'h', 'i')).toMatch(/^ Enter send {3}Ctrl\+J new line /);
  expect(hints(running, 'h', 'i')).toMatch(/^ Ctrl\+C interrupts {3}Enter queues it {3}Ctrl\+J new line /);
  // A command is carried out at once.
  expect(hints(running, '/', 's')).toMatch(/^ Ctrl\+C interrupts {3}Enter send /);
  expect(hints(running, 'h', 'i', 'enter')).toMatch(/^ Ctrl\+C interrupts {3}Up takes the last queued message back /);
});

describe('the tab bar', () => {
  const bar = (columns: number, name: string, shell: boolean): string => {
    const state = readyState();
    const session = state.session === null ? null : { ...state.session, name };
    const facts = { ...state.facts, cwd: '~/w/shop', shell };
    return textOf(tabBar({ ...state, session, facts, size: { columns, rows: 24 } }));
  };

  it('names the session as far as there is room, its end too, and gives up the directory first', () => {
    expect(bar(60, 'work', false)).toBe(' reins [1 Chat] 2 Plan 3 Approvals           ~/w/shop · work');
    expect(bar(60, 'nightly-review-2', false)).toBe(' reins [1 Chat] 2 Plan 3 Approvals          nightly-review-2');
    expect(bar(60, 'nightly-review-of-the-shop-2', false)).toBe(
      ' reins [1 Chat] 2 Plan 3 Approvals  nightly-revi…-the-shop-2',
    );
  });

  it('says that the shell is on, however long the name is', () => {
    expect(bar(60, 'nightly-review-of-the-shop-2', true)).toBe(
      ' reins [1 Chat] 2 Plan 3 Approvals  nightl…shop-2 · shell on',
    );
    expect(bar(44, 'work', true)).toBe(' reins [1 Chat] 2 Plan 3 Approvals  shell on');
  });
});
