import { describe, expect, it } from 'vitest';
import { contextStacks, keyCommands } from '../../../ui/keys/commands.ts';
import { helpSections } from '../../../ui/keys/help.ts';
import { type Key, readKey, shownKey } from '../../../ui/keys/key.ts';
import { conflicts, hints, keyMapOf, keyOf, resolveKey, shippedKeyMap } from '../../../ui/keys/key-map.ts';
import { loadKeys, readKeysFile } from '../../../ui/keys/keys-file.ts';

const key = (name: string, over: Partial<Key> = {}): Key => ({
  name,
  ctrl: false,
  alt: false,
  shift: false,
  text: name.length === 1 ? name : '',
  ...over,
});
const file = (bindings: unknown): string => JSON.stringify({ version: 1, bindings });

describe('the shipped keys', () => {
  it('has no conflict in any combination of contexts', () => {
    expect(conflicts(keyCommands)).toEqual([]);
  });

  it('names every command once, and only keys that can be written', () => {
    const ids = keyCommands.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    const unwritten = keyCommands.flatMap(({ keys }) => keys.filter((one) => !readKey(one).ok));
    expect(unwritten).toEqual([]);
  });

  it('puts every context into a combination', () => {
    const missing = keyCommands.filter(({ context }) => !contextStacks.some((stack) => stack.includes(context)));
    expect(missing).toEqual([]);
  });
});

describe('looking a key up', () => {
  const map = shippedKeyMap();

  it('gives it to the innermost context that binds it', () => {
    expect(resolveKey(map, ['completion', 'composer', 'global'], key('tab'), null)).toEqual({
      kind: 'command',
      id: 'completion.accept',
    });
    expect(resolveKey(map, ['composer', 'global'], key('tab'), null)).toEqual({ kind: 'command', id: 'app.next-pane' });
  });

  it('takes a character for text where text is edited, and for a choice on a card', () => {
    expect(resolveKey(map, ['composer', 'global'], key('y'), null)).toEqual({ kind: 'text', text: 'y' });
    const card = ['card.permission', 'card', 'global'] as const;
    expect(resolveKey(map, card, key('y'), null)).toEqual({ kind: 'command', id: 'card.once' });
    expect(resolveKey(map, card, key('y', { ctrl: true, text: '' }), null)).toEqual({ kind: 'none' });
    expect(resolveKey(map, card, key('Y'), null)).toEqual({ kind: 'none' });
  });

  it('waits for the second key of a chord, and drops one that goes nowhere', () => {
    const first = resolveKey(map, ['composer', 'global'], key('x', { ctrl: true, text: '' }), null);
    expect(first).toEqual({ kind: 'chord', chord: 'ctrl+x' });
    expect(resolveKey(map, ['composer', 'global'], key('s'), 'ctrl+x')).toEqual({
      kind: 'command',
      id: 'app.sessions',
    });
    expect(resolveKey(map, ['composer', 'global'], key('q'), 'ctrl+x')).toEqual({ kind: 'none' });
  });

  it('makes hints and help of the table', () => {
    expect(hints(map, ['approvals.open', 'approvals.select', 'approvals.deny', 'app.help'])).toEqual([
      'Enter card',
      'Space select',
      'n deny selected',
      'F1 help',
    ]);
    const [first, second] = helpSections(map, ['composer', 'global']);
    expect([first?.title, second?.title]).toEqual(['Composer', 'Everywhere']);
    expect(first?.lines[1]).toEqual({
      id: 'composer.newline',
      keys: 'Ctrl+J, Shift+Enter, Alt+Enter',
      help: 'new line',
      remapped: false,
    });
    expect(shownKey('ctrl+x ctrl+e')).toBe('Ctrl+X Ctrl+E');
  });
});

describe('keys.json', () => {
  it('takes what is good and refuses what is not, each with its reason', () => {
    const { map, notices } = readKeysFile(
      file({
        'app.palette': ['ctrl+space'],
        'card.once': ['enter'],
        'app.nothing': ['f5'],
        'app.read': ['ctrl+r'],
        'composer.editor': ['ctrl+i'],
      }),
    );
    expect([...map.remapped]).toEqual(['app.palette']);
    expect(resolveKey(map, ['composer', 'global'], key('space', { ctrl: true }), null)).toEqual({
      kind: 'command',
      id: 'app.palette',
    });
    expect(resolveKey(map, ['composer', 'global'], key('p', { ctrl: true, text: '' }), null)).toEqual({ kind: 'none' });
    expect(notices).toEqual([
      '"app.nothing" is no command',
      '"composer.editor" has "ctrl+i", which cannot be told from Tab by a terminal',
      '"card.once": Enter is no printable character, and this approves',
      '"app.read": composer.history-search is at odds with it: it hides Ctrl+R, the only key of app.read',
    ]);
  });

  it('puts both sides of a conflict back', () => {
    const { map, notices } = readKeysFile(file({ 'app.chat': ['f6'], 'app.plan': ['f6'], 'app.help': ['f1', 'f9'] }));
    expect([...map.remapped]).toEqual(['app.help']);
    expect(notices).toHaveLength(2);
  });

  it.each([
    ['card.once', ['space']],
    ['card.once', ['n']],
    ['card.session', ['ctrl+y']],
    ['plan.auto', ['tab']],
    ['composer.send', ['x']],
    ['app.interrupt', ['ctrl+q']],
    ['app.help', ['ctrl+c']],
    ['app.help', ['a b']],
    ['app.help', ['shift+q']],
    ['app.help', ['f1', 'f5', 'f6', 'f7', 'f8']],
    ['app.help', 'f1'],
    ['app.help', ['ctrl+x']],
    ['composer.left', ['tab']],
  ])('refuses %s on %j', (id, keys) => {
    const { map, notices } = readKeysFile(file({ [id]: keys }));
    expect(map.remapped.size).toBe(0);
    expect(notices).toHaveLength(1);
    expect(keyMapOf(map.commands).lookup).toEqual(shippedKeyMap().lookup);
  });

  it.each(['{', '[]', '{"version":2,"bindings":{}}', '{"version":1}', 'null'])('refuses the file %s whole', (text) => {
    const { map, notices } = readKeysFile(text);
    expect(map.remapped.size).toBe(0);
    expect(notices).toHaveLength(1);
  });

  it('takes a key that is written twice for a command once', () => {
    const { map, notices } = readKeysFile(file({ 'app.plan': ['f6', 'ctrl+t', 'f6'] }));
    expect(notices).toEqual([]);
    expect(keyOf(map, 'app.plan')).toBe('F6');
  });

  it('keeps the defaults where the file cannot be read', () => {
    const { map, notices } = loadKeys(() => {
      throw new Error('is not a regular file');
    });
    expect([map.remapped.size, notices]).toEqual([0, ['is not a regular file']]);
  });

  it('unbinds with an empty list, but not the only way to send', () => {
    expect([...readKeysFile(file({ 'app.plan': [] })).map.remapped]).toEqual(['app.plan']);
  });
});
