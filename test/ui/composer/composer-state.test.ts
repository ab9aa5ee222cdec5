import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import {
  type ComposerAction,
  type ComposerIntent,
  type ComposerState,
  type ComposerView,
  composerContexts,
  composerText,
  emptyComposer,
  savedDraft,
} from '../../../ui/composer/composer-state.ts';
import { textOf } from '../../../src/view/line.ts';
import { aboveComposer } from '../../../ui/composer/composer-lines.ts';
import { found } from '../../../ui/composer/composer-lists.ts';
import { reduceComposer } from '../../../ui/composer/reduce-composer.ts';
import { shippedKeyMap } from '../../../ui/keys/key-map.ts';
import { readLine, slashCommands } from '../../../ui/composer/slash-commands.ts';

const idle: ComposerView = { columns: 78, busy: false, width: stringWidth, glyphs: 'unicode' };
const busy: ComposerView = { ...idle, busy: true };

/** A composer that is driven as a person would, and what it wants done beside saving its draft. */
function driven(start: ComposerState = emptyComposer) {
  let state = start;
  const intents: ComposerIntent[] = [];
  const act = (action: ComposerAction, view = idle) => {
    const done = reduceComposer(state, action, view);
    state = done.state;
    intents.push(...done.intents.filter((intent) => intent.do !== 'save'));
  };
  const self = {
    type: (text: string, view = idle) => {
      for (const character of text) act({ type: 'text', text: character }, view);
      return self;
    },
    press: (id: string, view = idle) => {
      act({ type: 'command', id }, view);
      return self;
    },
    act: (action: ComposerAction, view = idle) => {
      act(action, view);
      return self;
    },
    get state() {
      return state;
    },
    take: () => intents.splice(0),
    text: () => composerText(state),
  };
  return self;
}

describe('sending', () => {
  it('sends a message, empties the composer and remembers the text', () => {
    const composer = driven().type('hello').press('composer.send');
    expect(composer.text()).toBe('');
    expect(composer.take()).toEqual([
      { do: 'send', text: 'hello', images: [], context: [] },
      { do: 'remember', text: 'hello' },
    ]);
  });

  it('does not send blanks, and goes on behind a backslash', () => {
    expect(driven().type('  ').press('composer.send').take()).toEqual([]);
    const composer = driven().type('one\\').press('composer.send').type('two').press('composer.send');
    expect(composer.take()[0]).toEqual({ do: 'send', text: 'one\ntwo', images: [], context: [] });
  });

  it('does not remember what begins with a blank', () => {
    expect(driven().type(' secret').press('composer.send').take()).toEqual([
      { do: 'send', text: ' secret', images: [], context: [] },
    ]);
  });

  it('never sends, runs or asks for help by a paste', () => {
    const composer = driven().act({ type: 'paste', text: '/quit\n' }).act({ type: 'paste', text: '?' });
    expect(composer.take()).toEqual([]);
    expect(composer.text()).toBe('/quit?');
    expect(driven().act({ type: 'paste', text: '?' }).take()).toEqual([]);
    expect(driven().type('?').take()).toEqual([{ do: 'help' }]);
  });

  it('refuses what would be more than 1 MiB, and cuts nothing', () => {
    const composer = driven()
      .type('a')
      .act({ type: 'paste', text: 'x'.repeat(1024 * 1024) });
    expect(composer.text()).toBe('a');
    expect(composer.state.problems).toEqual(['the message would have more than 1 MiB: nothing was put in']);
  });

  it('gives a message that could not be sent back with its problems', () => {
    const composer = driven().act({ type: 'return', text: 'see @gone', problems: ['gone: no such file'] });
    expect([composer.text(), composer.state.problems]).toEqual(['see @gone', ['gone: no such file']]);
    expect(composer.type('!').state.problems).toEqual([]);
    // What is wrong is seen, and no list in its place.
    const command = driven().act({ type: 'return', text: '/compact', problems: ['too short'] });
    expect([command.state.completion, command.state.problems]).toEqual([null, ['too short']]);
  });
});

describe('the queue', () => {
  it('sends ten messages one per turn in order, and refuses the eleventh with its text kept', () => {
    const composer = driven();
    for (let index = 1; index <= 11; index += 1) composer.type(`m${index}`, busy).press('composer.send', busy);
    expect(composer.text()).toBe('m11');
    expect(composer.state.problems).toEqual(['10 messages are queued: wait, or take one back with Up']);
    composer.take();
    const sent: ComposerIntent[] = [];
    for (let index = 0; index < 11; index += 1)
      sent.push(...composer.act({ type: 'turn-ended', completed: true }).take());
    expect(sent).toEqual(
      Array.from({ length: 10 }, (_, index) => ({ do: 'send', text: `m${index + 1}`, images: [], context: [] })),
    );
  });

  it('is held after a turn that failed, until Enter', () => {
    const composer = driven().type('next', busy).press('composer.send', busy);
    composer.take();
    expect(composer.act({ type: 'turn-ended', completed: false }).take()).toEqual([]);
    expect(composer.state.held).toBe(true);
    expect(composer.press('composer.send').take()).toEqual([{ do: 'send', text: 'next', images: [], context: [] }]);
  });

  it('gives the last message back to an empty composer', () => {
    const composer = driven()
      .type('one', busy)
      .press('composer.send', busy)
      .type('two', busy)
      .press('composer.send', busy);
    expect(composer.press('composer.up', busy).text()).toBe('two');
    expect(composer.state.queue.map(({ text }) => text)).toEqual(['one']);
  });

  it('is restored as held, and nothing is sent by itself', () => {
    const draft = { text: 'half', caret: 4, pastes: [] };
    const composer = driven().act({
      type: 'restore',
      saved: { draft, queue: [{ text: 'later', images: [] }] },
    });
    expect([composer.text(), composer.state.held, composer.take()]).toEqual(['half', true, []]);
  });

  it('is saved with the message that is on its way, until that is in the session or comes back', () => {
    const composer = driven()
      .type('one', busy)
      .press('composer.send', busy)
      .type('two', busy)
      .press('composer.send', busy);
    const saved = (): readonly string[] => savedDraft(composer.state).queue.map(({ text }) => text);
    composer.act({ type: 'turn-ended', completed: true });
    expect(saved()).toEqual(['one', 'two']);
    composer.act({ type: 'accepted' });
    expect(saved()).toEqual(['two']);
    composer.act({ type: 'turn-ended', completed: true }).act({ type: 'return', text: 'two', problems: ['no'] });
    expect([saved(), composer.text()]).toEqual([[], 'two']);
  });

  it('comes before what was typed while it was read', () => {
    const draft = { text: 'half', caret: 0, pastes: [] };
    const composer = driven()
      .type('early')
      .act({ type: 'restore', saved: { draft, queue: [] } });
    expect([composer.text(), composer.state.editing.caret]).toEqual(['half\nearly', 10]);
  });

  it('stays with its session', () => {
    const composer = driven().type('one', busy).press('composer.send', busy).type('half').act({ type: 'switch' });
    expect([composer.text(), composer.state.queue]).toEqual(['', []]);
  });

  it('takes along nothing that was meant for that session: no output of its lines, no image, no last message', () => {
    const composer = driven().type('one').press('composer.send').act({ type: 'context', text: 'printed' });
    expect(composer.act({ type: 'switch' }).state).toMatchObject({
      images: [],
      context: [],
      lastSent: null,
      problems: ['not sent, and left in the session before: output of ! lines'],
    });
    expect(composer.press('composer.resend').state.problems).toEqual([
      'nothing was sent here yet: Up has what was written before',
    ]);
    expect(driven().act({ type: 'switch' }).state.problems).toEqual([]);
  });
});

it.each([
  ['/tmp/a.png', '/tmp/a.png'],
  ["'/tmp/a b.png'\n", '/tmp/a b.png'],
  ['/tmp/a\\ b\\(1\\).png', '/tmp/a b(1).png'],
])('a dropped image %s is offered by its path', (given, path) => {
  expect(driven().act({ type: 'paste', text: given }).state.problems).toEqual([`to attach this image: /image ${path}`]);
});

describe('commands', () => {
  it('completes what is typed, and runs what is whole', () => {
    const composer = driven().type('/sess');
    expect(composer.state.completion?.items[0]?.label).toBe('/sessions');
    expect(composerContexts(composer.state)).toEqual(['completion', 'composer']);
    expect(composer.press('completion.run').take()).toEqual([
      { do: 'slash', name: 'sessions', args: '' },
      { do: 'remember', text: '/sessions' },
    ]);
    expect(composer.text()).toBe('');
    expect(composer.type('/').state.completion).not.toBeNull();
  });

  it('asks for the words of an argument, and takes one', () => {
    const composer = driven().type('/swi').press('completion.run');
    expect(composer.text()).toBe('/switch ');
    expect(composer.take()).toEqual([{ do: 'find', wanted: { kind: 'words', source: 'sessions' } }]);
    composer.act({ type: 'words', source: 'sessions', words: ['work', 'play'] }).type('pl');
    expect(composer.state.completion?.items.map(({ insert }) => insert)).toEqual(['play']);
    expect(composer.press('completion.run').take()).toEqual([
      { do: 'slash', name: 'switch', args: 'play' },
      { do: 'remember', text: '/switch play' },
    ]);
  });

  it('offers what may follow a first word, too', () => {
    const composer = driven().type('/policy use ');
    expect(composer.take().at(-1)).toEqual({ do: 'find', wanted: { kind: 'words', source: 'policies' } });
    composer.act({ type: 'words', source: 'policies', words: ['default', 'strict'] }).type('st');
    expect(composer.state.completion?.items.map(({ insert }) => insert)).toEqual(['strict']);
    expect(composer.press('completion.run').take()[0]).toEqual({ do: 'slash', name: 'policy', args: 'use strict' });
    expect(driven().type('/policy explain st').state.completion).toBeNull();
    expect(driven().type('/policy use strict st').state.completion).toBeNull();
  });

  it('runs a line whose word needs no completing, although more could follow', () => {
    const composer = driven()
      .act({ type: 'words', source: 'themes', words: ['dark'] })
      .type('/theme dark')
      .press('completion.run');
    expect(composer.take().at(-1)).toEqual({ do: 'remember', text: '/theme dark' });
    expect(driven().type('/theme dar').press('completion.run').take().at(-1)?.do).not.toBe('slash');
  });

  it('closes the list with Esc for this word, and keeps the text', () => {
    const composer = driven().type('/he').press('completion.close').type('l');
    expect([composer.text(), composer.state.completion]).toEqual(['/hel', null]);
  });

  it.each([
    ['/xyzzy', 'there is no command /xyzzy: /help lists them (// sends a message that begins with /)'],
    ['/modle x', 'there is no command /modle: did you mean /model? (// sends a message that begins with /)'],
    ['/resume', 'there is no command /resume: did you mean /sessions? (// sends a message that begins with /)'],
    ['/switch', '/switch needs <name>'],
    ['/think much', '/think takes off, auto, low, medium, high, not much'],
    ['/status now', '/status takes no argument'],
    ['!', 'a shell line needs a command behind the !'],
  ])('refuses %j in place', (text, why) => {
    const composer = driven().act({ type: 'replace', text }).press('composer.send');
    expect([composer.take(), composer.text(), composer.state.problems]).toEqual([[], text, [why]]);
  });

  it('refuses some while a turn runs', () => {
    expect(readLine('/new', true)).toEqual({ kind: 'refused', why: '/new cannot be used while a turn is running' });
    expect(readLine('/model x', true)).toEqual({ kind: 'slash', name: 'model', args: 'x' });
  });

  it('reads // and ! lines', () => {
    expect(readLine('//etc', false)).toEqual({ kind: 'message', text: '/etc' });
    expect(readLine('!ls -l', false)).toEqual({ kind: 'shell', line: 'ls -l', keep: true });
    expect(readLine('!!ls', false)).toEqual({ kind: 'shell', line: 'ls', keep: false });
  });

  it('has each name once', () => {
    const names = slashCommands.flatMap(({ name, aliases }) => [name, ...aliases]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});

describe('mentions', () => {
  it('asks for paths that fit, and puts one in', () => {
    const composer = driven().type('see @re');
    expect(composer.take().at(-1)).toEqual({ do: 'find', wanted: { kind: 'paths', query: 're' } });
    composer.act({ type: 'paths', query: 're', found: ['src/retry.ts', 'my notes.md'] });
    expect(composer.press('completion.down').press('completion.accept').text()).toBe('see @"my notes.md" ');
    expect(composer.take()).toEqual([]);
  });

  it('runs a command whose file is there already, and sends no message because of the file that it mentions', () => {
    const typed = (text: string) =>
      driven()
        .type(text)
        .act({ type: 'paths', query: 'a.png', found: ['a.png', 'src/a.png'] })
        .press('completion.run')
        .take()
        .filter((intent) => intent.do === 'slash' || intent.do === 'send');
    expect(typed('/image a.png')).toEqual([{ do: 'slash', name: 'image', args: 'a.png' }]);
    expect(typed('see @a.png')).toEqual([]);
  });

  it('says that more may fit than the list holds, and names each word once', () => {
    const composer = driven().type('@re');
    const foot = () => textOf(aboveComposer(composer.state, 80, shippedKeyMap(), 'unicode').at(-1) ?? []);
    composer.act({ type: 'paths', query: 're', found: Array.from({ length: 20 }, (_, index) => `re-${index}.ts`) });
    expect(foot()).toBe('  Tab takes it   the best 20');
    composer.act({ type: 'paths', query: 're', found: ['re.ts'] });
    expect(foot()).toBe('  Tab takes it   1 fit');
    const model = driven()
      .type('/model ')
      .act({ type: 'words', source: 'models', words: ['demo', 'm', 'demo'] });
    expect(model.state.completion?.items.map(({ label }) => label)).toEqual(['demo', 'm']);
  });

  it('takes nothing with Enter that was found for another word', () => {
    const composer = driven().type('see @');
    composer.act({ type: 'paths', query: '', found: ['src/', 'src/retry.ts'] });
    composer.type('re');
    expect(composer.state.completion?.items.map(({ label }) => label)).toEqual(['src/retry.ts']);
    composer.type('adme');
    expect(composer.state.completion).toBeNull();
  });

  it('asks once for each change of the word', () => {
    const composer = driven().type('@');
    expect(composer.take()).toHaveLength(1);
    expect(composer.act({ type: 'words', source: 'models', words: [] }).take()).toEqual([]);
    expect(composer.type('a').take()).toEqual([{ do: 'find', wanted: { kind: 'paths', query: 'a' } }]);
  });
});

describe('history', () => {
  it('keeps what was sent before it was read', () => {
    const one = driven()
      .type('now')
      .press('composer.send')
      .act({ type: 'history', entries: ['first'], most: 100 });
    expect(one.press('composer.up').text()).toBe('now');
    expect(one.press('composer.up').text()).toBe('first');
  });

  const composer = () => driven().act({ type: 'history', entries: ['first', 'second\nline'], most: 100 });

  it('steps through it and comes back to the draft', () => {
    const one = composer().type('draft').press('composer.up');
    expect(one.text()).toBe('second\nline');
    expect(one.press('composer.up').press('composer.up').text()).toBe('first');
    expect(one.press('composer.down').press('composer.down').press('composer.down').text()).toBe('draft');
  });

  it('is searched backwards; Enter takes, Esc restores', () => {
    const one = composer().type('draft').press('composer.history-search').type('fi');
    expect(found(one.state)).toEqual(['first']);
    expect(one.press('completion.close').text()).toBe('draft');
    expect(one.press('composer.history-search').type('sec').press('completion.run').text()).toBe('second\nline');
    expect(one.take()).toEqual([]);
  });
});
