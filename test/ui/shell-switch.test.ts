import { afterEach, expect, it } from 'vitest';
import type { RunEvent } from '../../src/schema/event.ts';
import { reduce } from '../../ui/reducer.ts';
import { createSlashEffects, type SlashDeps } from '../../ui/slash-effects.ts';
import type { State } from '../../ui/state.ts';
import { createLineCache } from '../../ui/transcript/line-cache.ts';
import { type ScriptedApp, scriptedApp } from '../support/scripted-app.ts';
import { readyState } from './reducing.ts';

let app: ScriptedApp | undefined;
afterEach(() => app?.close());

const called = (...names: readonly string[]) =>
  ({
    v: 1,
    seq: 1,
    run_id: 'run_1',
    kind: 'message',
    number: 2,
    message: {
      id: 'm',
      role: 'assistant',
      content: '',
      tool_calls: names.map((name) => ({ id: name, type: 'function', function: { name, arguments: '{}' } })),
    },
    // Only what the transcript reads of an event is there.
  }) as unknown as RunEvent;

const after = (state: State, ...events: readonly RunEvent[]): State =>
  reduce(state, { type: 'events', run_id: 'run_1', events, now: 1 }, { cache: createLineCache(), glyphs: 'unicode' })
    .state;
const told = ({ items }: State): number =>
  items.filter((item) => item.kind === 'notice' && item.text.includes('/shell on')).length;

it.each([
  'local_shell_local_shell',
  'bash',
  'shell',
  'Bash',
  'run_shell_command',
  'run_in_terminal',
  'execute_command',
])('a model that calls %s is said to want the shell, once, where it is off', (name) => {
  const wanted = after(readyState(), called('local_fs_read_file', name));
  expect(told(wanted)).toBe(1);
  expect(told(after(wanted, called(name)))).toBe(1);
  const on = readyState();
  expect(told(after({ ...on, facts: { ...on.facts, shell: true } }, called(name)))).toBe(0);
});

it('other calls say nothing of it', () => {
  expect(told(after(readyState(), called('local_fs_read_file', 'shell_history', 'run_tests', 'terminal_size')))).toBe(
    0,
  );
});

it.each([
  [true, 'false', [true], 'the shell is on from the next turn on, in this program; the policy rules each command'],
  [true, 'true', [true], 'the shell is on from the next turn on, in this program; the policy rules each command'],
  [false, 'false', [false], 'the shell is off from the next turn on, in this program'],
  [false, 'true', [], 'the shell is on by your settings: reins config set shell false'],
])('/shell turns it %s with the setting %s, which alone it cannot turn off', async (on, setting, chosen, words) => {
  app = await scriptedApp({ turns: [] });
  const { client } = app;
  await client.setConfig({ key: 'shell', value: setting });
  const chose: boolean[] = [];
  const said: string[] = [];
  // Only what this command uses is there.
  const deps = {
    client: async () => client,
    chooseShell: (to: boolean) => chose.push(to),
    say: (text: string) => said.push(text),
  };
  createSlashEffects(deps as unknown as SlashDeps).perform({ do: 'shell', on }, (message) => said.push(message));
  await expect.poll(() => said).toEqual([words]);
  expect(chose).toEqual(chosen);
});
