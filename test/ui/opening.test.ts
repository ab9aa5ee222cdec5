import { describe, expect, it } from 'vitest';
import type { BackendCheck } from '../../src/schema/registry.ts';
import { textOf } from '../../src/view/line.ts';
import { lookAround } from '../../ui/opening.ts';
import { reduce } from '../../ui/reducer.ts';
import { createSessionView } from '../../ui/session-view.ts';
import { runsAtHand } from '../../ui/runs-at-hand.ts';
import { type OpenSession, runInView } from '../../ui/state.ts';
import { statusLine } from '../../ui/status-lines.ts';
import { createLineCache } from '../../ui/transcript/line-cache.ts';
import { welcomeOf } from '../../ui/welcome.ts';
import { pressAll, readyState } from './reducing.ts';
import { turnFrom } from '../../ui/sending.ts';

const ruler = { cache: createLineCache(), glyphs: 'unicode' } as const;
const session = { id: 's1', name: 'work', before: null, loading: false, deleted: false };

it('keeps what was said before a session was open', () => {
  const first = readyState({ phase: 'starting', session: null });
  const said = reduce(first, { type: 'notice', level: 'warn', text: 'keys.json: no' }, ruler).state;
  const opened = reduce(said, { type: 'opened', session, items: [], resting: null }, ruler).state;
  expect(opened.items).toMatchObject([{ kind: 'notice', text: 'keys.json: no' }]);
  const other = { ...session, id: 's2', name: 'other' };
  expect(reduce(opened, { type: 'opened', session: other, items: [], resting: null }, ruler).state.items).toEqual([]);
});

it.each([false, true])('shows nothing of the context of the session before, deleted: %s', (deleted) => {
  const context = { used: 3900, limit: 33_000, estimated: true };
  const first = readyState();
  const before = { ...first, session: { ...session, deleted }, facts: { ...first.facts, context } };
  const open = (id: string) =>
    reduce(before, { type: 'opened', session: { ...session, id }, items: [], resting: null }, ruler);
  expect(open('s2').state.facts.context).toBeNull();
  expect(open('s1').state.facts.context).toEqual(context);
});

it.each([
  [{ withheld: null, mend: null }, 'AGENTS.md (2.1 kB) is given to the model'],
  [
    { withheld: 'nothing of this project is trusted yet', mend: 'reins trust add /w/AGENTS.md' },
    'AGENTS.md is not given to the model: nothing of this project is trusted yet: reins trust add /w/AGENTS.md',
  ],
])('says whether the model is given what the project has written down for agents', async (file, text) => {
  const said: string[] = [];
  const instructions = [
    { source: 'user', bytes: 10, cut: false, withheld: null, mend: null },
    { source: 'project', bytes: 2100, cut: false, ...file },
  ];
  const doctor = async () => ({
    status: { defaultModel: 'm' },
    database: { path: '/w/local.db' },
    toolSources: [],
    instructions,
  });
  await lookAround({
    // What else is looked at cannot be read, and leaves its place empty.
    client: { doctor } as never,
    dispatch: (action) => {
      if (action.type === 'notice') said.push(action.text);
    },
    policy: null,
    model: null,
    key: () => null,
    session: () => 'work',
    definitions: async () => undefined,
  });
  expect(said).toEqual([text]);
});

describe('runs that can go on', () => {
  const at = '2026-01-01T00:00:00.000Z';
  const run = (id: string, status: string, created: number, over: object = {}) => ({
    id,
    status,
    ended_at: null,
    session: null,
    created_at: new Date(created).toISOString(),
    ...over,
  });
  const runs = [
    run('suspended', 'suspended', 1),
    run('made room', 'interrupted', 2, { ended_at: at }),
    run('own', 'interrupted', 3, { session: 'work' }),
    run('waits', 'waiting', 4),
    ...Array.from({ length: 200 }, (_, index) => run(`done ${index}`, 'completed', 10 + index, { ended_at: at })),
  ];
  const client = {
    listRuns: async ({ status, limit }: { status: string | null; limit: number }) => ({
      runs: runs
        .filter((each) => status === null || each.status === status)
        .toReversed()
        .slice(0, limit),
    }),
  } as never;
  const told = async (key: string | null, session: string): Promise<readonly string[]> => {
    const said: string[] = [];
    await lookAround({
      // What else is looked at cannot be read, and leaves its place empty.
      client,
      dispatch: (action) => {
        if (action.type === 'notice') said.push(action.text);
      },
      policy: null,
      model: null,
      key: () => key,
      session: () => session,
      definitions: async () => undefined,
    });
    return said;
  };

  it('are counted however many have ended since, and one that made room for the next turn is none of them', async () => {
    expect(await told(null, 'work')).toEqual(['2 runs can go on: /runs']);
    // The key leads to the run of the session alone.
    expect(await told('Ctrl+X r', 'work')).toEqual(['2 runs can go on: Ctrl+X r, or /runs']);
    expect(await told('Ctrl+X r', 'other')).toEqual(['2 runs can go on: /runs']);
  });

  it('stand first in the list, with those that go on, ahead of what has ended', async () => {
    const ids = (await runsAtHand(client, 100)).map(({ id }) => id);
    expect(ids.slice(0, 4)).toEqual(['waits', 'own', 'suspended', 'done 199']);
    expect(ids).toHaveLength(103);
  });
});

it('says of a session whose turn rests that it does, and has its question in view', () => {
  const words = { suspended: / = suspended /, interrupted: / ! interrupted / } as const;
  for (const stands of ['suspended', 'interrupted'] as const) {
    const resting = { rests: 'run_1', stands };
    const { state } = reduce(readyState(), { type: 'opened', session, items: [], resting }, ruler);
    expect(textOf(statusLine(state))).toMatch(words[stands]);
    expect(runInView(state)).toBe('run_1');
  }
});

it('keeps saying how the last turn stands while the operator runs a line, and when that is denied', () => {
  const resting = { rests: 'run_1', stands: 'suspended' } as const;
  const opened = reduce(readyState(), { type: 'opened', session, items: [], resting }, ruler).state;
  const line = { run_id: 'run_2', line: true, elsewhere: false, now: 0 } as const;
  const running = reduce(opened, { type: 'following', ...line }, ruler).state;
  expect(running.turn?.run_id).toBe('run_2');
  const failed = { class: 'denied', message: 'no' };
  const events = [{ kind: 'chain_failed', run_id: 'run_2', seq: 1, timestamp: '', error: failed }] as never;
  const after = reduce(running, { type: 'events', run_id: 'run_2', events, now: 0 }, ruler).state;
  expect(textOf(statusLine(after))).toMatch(/ = suspended /);
  expect(runInView(after)).toBe('run_1');
});

it('brings the draft of another session back, and leaves what is written in the one that is open', async () => {
  let open: OpenSession | null = null;
  const drafts: string[] = [];
  const client = {
    showSession: async ({ name }: { name: string }) => ({
      session: { id: `id of ${name}`, name, active_run_id: null, suspended_run_id: null },
      messages: [],
      total: 0,
    }),
    interruptedTurn: async () => null,
  };
  const view = createSessionView({
    client: async () => client as never,
    dispatch: (action) => {
      if (action.type === 'opened') open = action.session;
    },
    now: () => 0,
    session: () => open,
    busy: () => false,
    resting: () => null,
    elsewhere: () => null,
    opened: async (id) => void drafts.push(id),
    left: () => void drafts.push('left'),
    read: () => undefined,
    edits: async () => undefined,
    isOwn: () => false,
    follow: () => undefined,
  });
  for (const name of ['work', 'work', 'play', 'work']) await view.open(name);
  expect(drafts).toEqual(['left', 'id of work', 'left', 'id of play', 'left', 'id of work']);
});

it('shows the session that was wanted last, in whatever order they are read', async () => {
  let open: OpenSession | null = null;
  const waits: (() => void)[] = [];
  const client = {
    showSession: async ({ name }: { name: string }) => {
      if (name === 'slow') await new Promise<void>((resolve) => waits.push(resolve));
      return {
        session: { id: `id of ${name}`, name, active_run_id: null, suspended_run_id: null },
        messages: [],
        total: 0,
      };
    },
    interruptedTurn: async () => null,
  };
  const drafts: string[] = [];
  const view = createSessionView({
    client: async () => client as never,
    dispatch: (action) => {
      if (action.type === 'opened') open = action.session;
    },
    now: () => 0,
    session: () => open,
    busy: () => false,
    resting: () => null,
    elsewhere: () => null,
    opened: async (id) => void drafts.push(id),
    left: () => undefined,
    read: () => undefined,
    edits: async () => undefined,
    isOwn: () => false,
    follow: () => undefined,
  });
  const slow = view.open('slow');
  await view.open('quick');
  for (const go of waits) go();
  await slow;
  expect([open, drafts]).toMatchObject([{ name: 'quick' }, ['id of quick']]);
});

describe('a turn that another process begins', () => {
  /** The view of a session in which the store has this, and what became of it: actions, and runs that are followed. */
  const viewOn = (
    given: { readonly active: string | null; readonly run: string | null },
    busy = () => false,
    gone: { readonly elsewhere: string; readonly status: string; readonly kind: string } | null = null,
  ) => {
    const seen: string[] = [];
    const stored: { active: string | null } = { ...given };
    const row = () => ({ id: 's1', name: 'work', active_run_id: stored.active, suspended_run_id: null });
    /** What was read is shown once it is let go. */
    let held = Promise.resolve();
    const hold = () => {
      let letGo = (): void => undefined;
      held = new Promise((resolve) => {
        letGo = resolve;
      });
      return letGo;
    };
    const message = { id: 'm1', seq: 1, role: 'user', kind: 'message', text: 'hi', run_id: given.run, tool_calls: [] };
    const messages = given.run === null ? [] : [message];
    const client = {
      showSession: async () => ({ session: row(), messages, total: messages.length }),
      showRun: async () => gone,
      interruptedTurn: async () => {
        await held;
        return gone?.kind === 'chat' ? { session: 'work', run_id: gone.elsewhere, unknown: [] } : null;
      },
      exportSession: async () => ({ session: row() }),
    };
    const view = createSessionView({
      client: async () => client as never,
      dispatch: (action) =>
        void seen.push(action.type === 'deserted' ? `deserted, turn: ${action.is_turn}` : action.type),
      now: () => 0,
      session: () => session,
      busy,
      resting: () => null,
      elsewhere: () => gone?.elsewhere ?? null,
      opened: async () => undefined,
      left: () => undefined,
      read: () => undefined,
      edits: async () => undefined,
      isOwn: (id) => id === 'run_own',
      follow: (_client, id) => void seen.push(id),
    });
    return { view, seen, hold, stored };
  };
  const started = (run_id: string) =>
    ({ kind: 'chain_started', run_id, session_id: session.id, data: { run_kind: 'chat' } }) as never;

  it('while one is in view is shown once that one is over', async () => {
    let busy = true;
    const { view, seen } = viewOn({ active: 'run_other', run: null }, () => busy);
    await view.happened([started('run_own'), started('run_other')]);
    await view.rested();
    expect(seen).toEqual([]);
    busy = false;
    await view.rested();
    expect(seen).toEqual(['opened', 'following', 'run_other']);
    await view.rested();
    expect(seen).toHaveLength(3);
  });

  it('is shown from what is stored where several have begun since the last word, as behind a stop', async () => {
    const { view, seen } = viewOn({ active: 'run_two', run: 'run_one' });
    await view.happened([started('run_one'), started('run_two')]);
    expect(seen).toEqual(['opened', 'following', 'run_two']);
  });

  it('is not lost where it begins behind what was read, before that is shown', async () => {
    const { view, seen, hold, stored } = viewOn({ active: null, run: null });
    const letGo = hold();
    const opening = view.open('work');
    await view.happened([started('run_other')]);
    stored.active = 'run_other';
    letGo();
    await opening;
    expect(seen).toEqual(['opened', 'opened', 'following', 'run_other']);
    // One that was read is not read again for word that comes late.
    const again = hold();
    const anew = view.open('work');
    await view.happened([started('run_other')]);
    again();
    await anew;
    expect(seen.slice(4)).toEqual(['opened', 'following', 'run_other']);
  });

  it('is looked after: one whose process was killed rests, and holds what waited for it', async () => {
    const stored = { active: 'run_other', run: 'run_other' };
    const other = { elsewhere: 'run_other', status: 'interrupted', kind: 'chat' };
    const look = async (over: object) => {
      const { view, seen } = viewOn(stored, () => true, { ...other, ...over });
      await view.look();
      return seen;
    };
    expect(await look({ status: 'running' })).toEqual([]);
    expect(await look({})).toEqual(['deserted, turn: true', 'opened']);
    expect(await look({ kind: 'compact' })).toEqual(['deserted, turn: false']);

    const turn = { ...turnFrom(0), run_id: 'run_other', elsewhere: { by: null } };
    const composer = { ...readyState().composer, queue: [{ text: 'next', images: [] }] };
    const then = (is_turn: boolean) =>
      reduce(readyState({ turn, composer }), { type: 'deserted', run_id: 'run_other', is_turn, now: 0 }, ruler);
    expect(then(true)).toMatchObject({ state: { turn: null, composer: { held: true, queue: [{ text: 'next' }] } } });
    expect(then(false).effects).toContainEqual(expect.objectContaining({ do: 'send' }));
  });

  it('is shown once, also where word of its beginning comes behind what was read of it', async () => {
    const { view, seen } = viewOn({ active: null, run: 'run_other' });
    await view.open('work');
    await view.happened([started('run_other')]);
    expect(seen).toEqual(['opened']);
    await view.happened([started('run_next')]);
    expect(seen).toEqual(['opened', 'following', 'run_next']);
  });
});

it('leaves the turn of a session in that session when another one is opened', () => {
  const turn = { ...turnFrom(0), run_id: 'run_1' };
  const busy = readyState({ session, turn, attaching: true });
  const open = (next: OpenSession) =>
    reduce(busy, { type: 'opened', session: next, items: [], resting: null }, ruler).state;
  expect(open({ ...session, name: 'renamed' })).toMatchObject({ turn, attaching: true });
  const other = open({ ...session, id: 's2', name: 'other' });
  expect(other).toMatchObject({ turn: null, attaching: false });
  // What was read for a message of the other session is not sent in this one.
  const message = { do: 'attach', text: 'look at @a', images: [], context: [] } as const;
  const read = { ok: true, text: 'look at a: b', images: [] } as const;
  const { state, effects } = reduce(other, { type: 'attached', message, read, now: 0 }, ruler);
  expect(state.composer.editing.text).toBe('look at @a');
  expect(effects.some((effect) => effect.do === 'send')).toBe(false);
});

it('counts the tokens of the session that is open, also when it is opened again', () => {
  const tokens = { in: 900, out: 40, estimated: false };
  const spent = readyState({ session });
  const before = { ...spent, facts: { ...spent.facts, tokens } };
  const open = (from: typeof before, next: OpenSession) =>
    reduce(from, { type: 'opened', session: next, items: [], resting: null }, ruler).state;
  const other = open(before, { ...session, id: 's2', name: 'other' });
  expect(other.facts.tokens).toEqual({ in: 0, out: 0, estimated: false });
  expect(open(other, session).facts.tokens).toEqual(tokens);
  expect(open(before, { ...session, name: 'renamed' }).facts.tokens).toEqual(tokens);
});

it('names to a new user what answers on this machine, and keys by their variables', () => {
  const check = (over: Partial<BackendCheck>) =>
    ({
      type: 'ollama',
      baseUrl: 'http://127.0.0.1:11434',
      reachable: true,
      chatModelCount: 1,
      ...over,
    }) as BackendCheck;
  const known = (backendChecks: BackendCheck[], codes: readonly string[] = []) => ({
    status: {
      backendChecks,
      reachableBackendCount: 0,
      issues: codes.map((code) => ({ code, severity: 'info', message: code, cliCommand: 'reins init' })),
    } as never,
    keysSet: [],
  });
  const facts = (...given: Parameters<typeof welcomeOf>) => welcomeOf(...given).filter(({ label }) => label !== null);
  expect(facts(known([check({}), check({ baseUrl: 'https://api.openai.com/v1' })]))).toEqual([
    { label: 'local servers', text: 'ollama at http://127.0.0.1:11434, 1 chat model' },
    { label: 'keys set', text: 'none' },
    { label: 'without any', text: 'reins demo   shows the program at work with a scripted model' },
  ]);
  expect(
    welcomeOf(known([], ['no_project']))
      .slice(0, 2)
      .map(({ text }) => text),
  ).toEqual(['1. no_project', '     reins init']);
  const keys = facts({ ...known([]), keysSet: [{ variable: 'OPENAI_API_KEY', provider: 'openai' }] });
  expect(keys[1]).toEqual({ label: 'keys set', text: 'OPENAI_API_KEY   reins init openai' });
});

it('holds what was queued behind a message that came back, and sends it at Enter', () => {
  const composer = { ...readyState().composer, queue: [{ text: 'and then', images: [] }] };
  const busy = readyState({ session, attaching: true, composer });
  const message = { do: 'attach', text: 'look at @.env', images: [], context: [] } as const;
  const read = { ok: false, problems: ['@.env was not attached: denied'] } as const;
  const { state } = reduce(busy, { type: 'attached', message, read, now: 0 }, ruler);
  expect(state.composer).toMatchObject({ held: true, queue: [{ text: 'and then' }], problems: read.problems });
  expect(state.composer.editing.text).toBe('look at @.env');
  const { effects } = pressAll(state, 'ctrl+u', 'enter');
  expect(effects).toContainEqual(expect.objectContaining({ do: 'send', text: 'and then' }));
});
