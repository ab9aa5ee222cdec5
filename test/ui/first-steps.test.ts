import { afterEach, expect, test } from 'vitest';
import { textOf } from '../../src/view/line.ts';
import { bannerLine } from '../../ui/status-lines.ts';
import { createWorld, type World } from '../cli/world.ts';
import { type CliTerminal, openTerminal } from '../support/terminal.ts';
import { reduce } from '../../ui/reducer.ts';
import type { State } from '../../ui/state.ts';
import { createLineCache } from '../../ui/transcript/line-cache.ts';
import { keyOfWords, pressAll, readyState } from './reducing.ts';

let world: World | null = null;
let terminal: CliTerminal | null = null;
afterEach(async () => {
  terminal?.kill('SIGKILL');
  await terminal?.ended;
  world?.remove();
});

test('somebody who never had an answer reads what is missing, in order, and the banner has the first command whole', async () => {
  world = createWorld();
  const environment = { OPENAI_API_KEY: 'sk-of-a-test', OLLAMA_HOST: 'http://127.0.0.1:9' };
  terminal = openTerminal(world, ['tui'], { columns: 80, rows: 24, environment });
  await terminal.saw('Type these in another terminal');
  const rows = terminal.rows();
  expect(rows[1]).toMatch(/^! No backend i… · reins backend add local --type ollama --url http:\/\/127\.0\.0\.1:9$/);
  const commands = rows.filter((row) => row.startsWith('       reins '));
  expect(commands.map((row) => row.trim().split(' ').slice(1, 3).join(' '))).toEqual([
    'init',
    'backend add',
    'config set',
  ]);
  expect(rows.find((row) => row.includes('OPENAI_API_KEY   reins init openai'))).toBeDefined();
  expect(rows.at(-2)).toContain('@?');
  // A sentence that is longer than the row goes on below, and is not cut.
  const body = rows.slice(2, -5).join(' ').replaceAll(/ +/g, ' ');
  expect(body).toContain('or leave with Ctrl+D twice, and start reins again there.');
  expect(rows.slice(2, -5).filter((row) => row.includes('…'))).toEqual([]);
  terminal.resize(60, 16);
  await terminal.saw('… /doctor shows all');
});

test('what is wrong with the keys of ones own is still there when the session is', () => {
  const ruler = { cache: createLineCache(), glyphs: 'unicode' as const };
  const notice = { type: 'notice', level: 'warn', text: 'keys.json: no' } as const;
  const said = reduce({ ...readyState(), phase: 'starting', session: null }, notice, ruler).state;
  const session = { id: 's', name: 's', before: null, loading: false, deleted: false };
  const opened = (state: State) =>
    reduce(state, { type: 'opened', session, items: [], resting: null }, ruler).state.items;
  expect(opened(said)).toEqual([expect.objectContaining({ kind: 'notice', text: 'keys.json: no' })]);
  expect(opened({ ...said, phase: 'ready' })).toEqual([]);
});

test('a turn that is interrupted before its run is there is interrupted when it is', () => {
  const ruler = { cache: createLineCache(), glyphs: 'unicode' as const };
  const pressed = pressAll(readyState(), 'h', 'i', 'enter', 'escape');
  expect(pressed.effects.map((effect) => effect.do)).not.toContain('interrupt');
  const { effects } = reduce(pressed.state, { type: 'accepted', run_id: 'r1', session: null }, ruler);
  expect(effects).toContainEqual({ do: 'interrupt', run_id: 'r1' });
});

test('says how to quit no longer than that key would', () => {
  const ruler = { cache: createLineCache(), glyphs: 'unicode' as const };
  const pressed = pressAll(readyState(), 'ctrl+d').state;
  expect(pressed.said?.text).toBe('press Ctrl+D again to quit');
  const later = reduce(pressed, { type: 'tick', now: pressed.now + 2000 }, ruler).state;
  expect(later.said).toBeNull();
  expect(pressAll(later, 'ctrl+d').effects).not.toContainEqual({ do: 'quit' });
});

test('what came of something is there to be read for a second, whoever is typing', () => {
  const ruler = { cache: createLineCache(), glyphs: 'unicode' as const };
  const told = reduce(readyState(), { type: 'say', text: 'not written', bad: true, now: 5000 }, ruler).state;
  const key = (state: State, now: number) => reduce(state, { type: 'key', key: keyOfWords('a'), now }, ruler).state;
  expect(key(told, 5999).said?.text).toBe('not written');
  expect(key(told, 6000).said).toBeNull();
  // What answers a key is about that key alone.
  const quit = reduce(told, { type: 'key', key: keyOfWords('ctrl+d'), now: 5500 }, ruler).state;
  expect(quit.said?.text).toBe('press Ctrl+D again to quit');
  expect(key(quit, 5501).said).toBeNull();
});

test('a banner is cut before what mends it', () => {
  const banner = {
    rank: 0,
    id: 'policy',
    text: `policy ${'/far'.repeat(30)}:4: no`,
    mend: 'everything asks',
    fixed: true,
  };
  const line = textOf(bannerLine(readyState({ size: { columns: 60, rows: 16 }, banners: [banner] })));
  expect(line).toHaveLength(60);
  expect(line).toMatch(/^! policy \/far.*… · everything asks$/);
});
