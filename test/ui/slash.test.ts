import { describe, expect, it } from 'vitest';
import type { Effect } from '../../ui/effect.ts';
import { slashCommands } from '../../ui/composer/slash-commands.ts';
import { policySlash } from '../../ui/slash-policy.ts';
import type { State } from '../../ui/state.ts';
import { anAsk } from './approvals/an-ask.ts';
import { composerText } from '../../ui/composer/composer-state.ts';
import { pressAll, readyState } from './reducing.ts';

/** A line of the composer as somebody types it; Tab and Enter of the list are not in the way. */
const typed = (state: State, line: string) =>
  pressAll(state, ...[...line].map((letter) => (letter === ' ' ? 'space' : letter)), 'escape', 'enter');

const examples: Readonly<Record<string, string>> = {
  switch: 'work',
  rename: 'other',
  find: 'word',
  trim: '4',
  image: 'a.png',
  notify: 'off',
  theme: 'mono',
};

describe('commands of the composer', () => {
  it.each(slashCommands.map(({ name }) => name))('/%s does something', (name) => {
    const plain = readyState({ items: [{ kind: 'user', id: 'u', text: 'hi', state: 'sent', seq: 1 }] });
    const line = `/${name} ${examples[name] ?? ''}`.trim();
    const { state, effects } = typed(plain, line);
    const done = effects.filter((effect) => effect.do !== 'composer' || effect.intent.do === 'attach');
    const changed =
      done.length > 0 ||
      state.overlays.length > 0 ||
      state.pane !== 'chat' ||
      state.search !== null ||
      state.said !== null ||
      state.composer.problems.length > 0 ||
      state.composer.images.length > 0;
    expect(changed).toBe(true);
    expect(state.said?.text ?? '').not.toContain('nothing to work on');
  });

  it('take a path with blanks as it is', () => {
    const text = '/export json my notes/of today.json';
    const intent = { do: 'export', format: 'json', path: 'my notes/of today.json', force: false } as const;
    expect(typed(readyState(), text).effects).toContainEqual({ do: 'typed', effect: { do: 'slash', intent }, text });
  });

  it('/approvals with an id gives the keys to that card, and says when there is none', () => {
    const asks = [anAsk({ id: 'ask_1aaaa' }), anAsk({ id: 'ask_2bbbb' })];
    const state = readyState();
    const known = { ...state, asks, approvals: { ...state.approvals, asks } };
    const found = typed(known, '/approvals bbbb');
    expect(found.state.pane).toBe('approvals');
    expect(found.effects).toContainEqual({
      do: 'typed',
      effect: { do: 'focus-ask', id: 'ask_2bbbb' },
      text: '/approvals bbbb',
    });
    const { composer } = typed(known, '/approvals zz').state;
    // What was refused is there to be mended.
    expect([composer.problems, composer.editing.text]).toEqual([['no open ask ends in zz'], '/approvals zz']);
  });
});

describe('arguments that say nothing that could be done', () => {
  it.each([
    ['/xyzzy', 'there is no command /xyzzy'],
    ['/trim x', '/trim takes a number'],
    ['/trim 1000001', '/trim takes a number of messages up to 1000000'],
    ['/compact x', '/compact takes the number'],
    ['/dump x', '/dump takes a number'],
    ['/fork --frob', '/fork takes a name'],
    ['/fork f --at -1', '/fork takes a name'],
    ['/fork a b', '/fork takes a name'],
    ['/copy code x', '/copy takes nothing, or code [n]'],
    ['/policy explain foo', '/policy explain takes'],
    ['/policy show strict', '/policy show takes no argument, not strict'],
    ['/think maybe', '/think takes off'],
    ['/theme mono --sav', '/theme takes a name and --save'],
  ])('%s stays in the composer, with what is taken', (line, why) => {
    const { state, effects } = typed(readyState(), line);
    expect(state.composer.editing.text).toBe(line);
    expect(state.composer.problems[0]).toContain(why);
    expect(effects.every((effect) => effect.do === 'composer')).toBe(true);
  });

  it('are asked for where a command comes from the palette', () => {
    const { state } = pressAll(readyState(), 'ctrl+p', ...'/trim'.split(''), 'enter');
    expect(state.composer.editing.text).toBe('/trim ');
    expect(state.overlays).toEqual([]);
  });
});

describe('/policy', () => {
  const call = (tools: string, tool: string, args: object) => ({ do: 'explain-call', call: { tools, tool, args } });
  it.each<[string, Effect | object]>([
    ['', { do: 'report', what: 'policy' }],
    ['use strict', { do: 'use-policy', name: 'strict' }],
    ['list', { do: 'report', what: 'policies' }],
    ['vet', { do: 'report', what: 'vet' }],
    ['replay strict 2026-01-01', { do: 'report', what: 'replay', of: 'strict 2026-01-01' }],
    ['explain ! git push', call('local_shell', 'local_shell', { command: 'git push' })],
    ['explain local_fs/read_file {"path":"a b"}', call('local_fs', 'read_file', { path: 'a b' })],
    ['explain local_fs.read_file', call('local_fs', 'read_file', {})],
  ])('%s', (args, effect) => expect(policySlash(args)).toEqual(effect));

  it.each(['replay', 'use', 'use a b', 'explain', 'explain !', 'explain local_fs/read_file {', 'explain nonsense'])(
    '%s says what is missing',
    (args) => expect(policySlash(args)).toMatch(/^\/policy (?:replay|explain|use) takes /),
  );
});

it('a command whose argument is of no use comes back with what was wrong', () => {
  const { state } = typed(readyState(), '/compact x');
  expect([composerText(state.composer), state.composer.problems]).toEqual([
    '/compact x',
    ['/compact takes the number of messages that stay'],
  ]);
});
