import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addScript, createProject, tester, type World } from '../../cli/world.ts';
import { rows } from '../../crash/support.ts';
import { type CliTerminal, openTerminal } from '../../support/terminal.ts';

/** Attacks of `attack-cases.json` on the person at a terminal: by keys that were not meant, and by what a card shows. */

let world: World;
beforeEach(async () => {
  world = await createProject();
  world.write('../approve.json', JSON.stringify({ default_action: 'approve' }));
});
afterEach(() => world.remove());

const question = '[y] once';
const count = (text: string, part: string) => text.split(part).length - 1;
const made = (name = 'canary'): boolean => existsSync(join(world.workspace, name));
const states = () => rows(world, 'SELECT state FROM asks').map(({ state }) => state);

const write = (path: string, content = 'x') => ({ name: 'local_fs.write_file', arguments: { path, content } });
const shell = (command: string) => ({ name: 'local_shell.local_shell', arguments: { command } });

/** A terminal on which the model asks to make this call. */
async function asking(call: object, columns = 100): Promise<CliTerminal> {
  await addScript(world, [
    { match: { role: 'tool' }, reply: { text: 'done' } },
    { reply: { tool_calls: [JSON.parse(JSON.stringify(call).replaceAll('${', () => '$${'))] } },
  ]);
  return openTerminal(world, [...tester, '--shell', '--policy', '../approve.json', 'go'], { columns });
}
const deny = async (terminal: CliTerminal): Promise<void> => {
  await terminal.press('n', 'denied ask_');
  await terminal.ended;
};

describe('keys that were not meant for the card', () => {
  /** Resolves once the program has read and shown something after what was typed before. */
  const readOn = async (terminal: CliTerminal): Promise<void> => {
    const before = count(terminal.screen(), question);
    await terminal.press('?', (screen) => count(screen, question) > before);
  };

  it.each([['y'], ['y\r'], ['\r'], ['yyyyyyyy'], ['s'], ['r1']])(
    'APR-008: %j, typed before the card was painted',
    async (keys) => {
      const terminal = await asking(write('canary'));
      terminal.type(keys);
      await terminal.saw('ASK ');
      // As the card appears: within the time in which no key counts.
      for (const key of ['y', '\r', 's']) terminal.type(key);
      await terminal.saw(question);
      await readOn(terminal);
      expect([made(), states()]).toEqual([false, ['pending']]);
      await deny(terminal);
      expect(made()).toBe(false);
    },
  );

  it.each([
    ['y⏎', 'y\r'],
    ['1⏎', '1\r'],
    ['a bracketed y⏎', '\u001b[200~y\r\u001b[201~'],
    ['a bracketed y', '\u001b[200~y\u001b[201~'],
    ['lines', 'y\ny\ns\n'],
  ])('APR-009: a paste of %s', async (_what, paste) => {
    const terminal = await asking(write('canary'));
    await terminal.saw(question);
    await readOn(terminal);
    terminal.type(paste);
    await readOn(terminal);
    terminal.type(paste);
    await readOn(terminal);
    expect([made(), states()]).toEqual([false, ['pending']]);
    await deny(terminal);
  });

  it('APR-011: keys in the line for words are words', async () => {
    const terminal = await asking(write('canary'));
    await terminal.saw(question);
    await terminal.press('f', 'why (Enter alone goes back)');
    terminal.type('\u001b[Z1 2 y a s r n\r');
    await terminal.ended;
    const [ask] = rows(world, 'SELECT state, verdict FROM asks');
    expect([ask?.['state'], made()]).toEqual(['denied', false]);
    // Keys that were pressed until the line opened may stand before it.
    expect(JSON.parse(String(ask?.['verdict'])).feedback).toMatch(/^f*\u001b\[Z1 2 y a s r n$/);
  });
});

describe('what a card shows', () => {
  const hostile =
    'a\u001b[2J\u001b[1A\u001b]0;T\u0007\u001b]52;c;eA==\u0007\u001b]8;;http://x\u001b\\b\u001bP1$q\u001b\\\u001b_G\u001b\\\u009b2J';

  it('DSP-001: sequences of a terminal are shown, and none reaches it: card, why, progress, lists', async () => {
    const terminal = await asking(write('canary', `${hostile}\n`));
    await terminal.saw(question);
    await terminal.press('x', 'approve  default action');
    await deny(terminal);
    const seen = [terminal];
    for (const argv of [
      ['approvals', 'list', '--state', 'all'],
      ['approvals', 'show', String(rows(world, 'SELECT id FROM asks')[0]?.['id']), '--full', '--explain'],
      ['audit', 'list'],
      ['state', 'show', String(rows(world, 'SELECT id FROM runs')[0]?.['id'])],
    ]) {
      const listing = openTerminal(world, argv, { columns: 200 });
      await listing.ended;
      seen.push(listing);
    }
    for (const { bytes, screen } of seen) {
      // Only the sequences of the program itself: colours, and the line that is drawn anew.
      const own = bytes().replaceAll(/\u001b\[\d*m|\r\u001b\[K/g, '');
      expect(own).not.toMatch(/[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f]/);
      expect(screen()).not.toBe('');
    }
    expect(terminal.screen()).toContain('␛[2J␛[1A␛]0;T␇␛]52;c;eA==␇␛]8;;http://x␛\\b␛P1$q␛\\␛_G␛\\⟨U+009B⟩2J');
  });

  it('DSP-002: the dangerous line of 500 is counted as hidden, named by its command, and approved only when it was shown', async () => {
    const lines = Array.from({ length: 500 }, (_, index) =>
      index === 400 ? 'EOF\ntouch canary\ncat <<EOF' : `line ${index}`,
    );
    const terminal = await asking(shell(`cat <<EOF\n${lines.join('\n')}\nEOF`));
    await terminal.saw(question);
    const card = terminal.screen();
    expect(card).toMatch(/\d{3} of \d{3} lines hidden/);
    await terminal.press('y', 'press v first');
    await terminal.press('s', (screen) => count(screen, 'press v first') >= 2);
    expect([made(), states()]).toEqual([false, ['pending']]);
    // The command between the documents is named before anything is unfolded.
    expect(card).toMatch(/^ +2 touch canary → \S+touch/m);
    await terminal.press('v', 'line 499');
    await deny(terminal);
    expect(made()).toBe(false);
  });

  it('DSP-004: wide, combining and joined characters leave no tail beyond the edge', async () => {
    const text = `${'漢'.repeat(60)}${'é'.repeat(30)}${'ก้'.repeat(40)}`;
    const terminal = await asking(shell(`echo ${text}; touch canary`), 60);
    await terminal.saw(question);
    const shown = terminal.screen();
    expect(shown.replaceAll(/\n\s*\|?\s*/g, '')).toContain('; touch canary');
    // A line that the terminal had to break would be read as one longer than its columns.
    const card = shown.slice(shown.indexOf('ASK '), shown.indexOf(question)).split('\n');
    expect(card.filter((line) => stringWidth(line) > 60)).toEqual([]);
    await deny(terminal);
  });

  it('DSP-008: trailing blanks, line ends, bidirectional characters and links are seen in the diff of a write', async () => {
    world.write('real.txt', 'one\r\ntwo\r\n');
    symlinkSync('real.txt', join(world.workspace, 'link.txt'));
    await addScript(world, [
      { match: { tool: { count: 2 } }, reply: { text: 'done' } },
      { match: { role: 'tool' }, reply: { tool_calls: [write('link.txt', 'one\ntwo  \nrev\u202eersed\n\tthree\n')] } },
      { reply: { tool_calls: [{ name: 'local_fs.read_file', arguments: { path: 'link.txt' } }] } },
    ]);
    const rules = [{ tools: 'local_fs', tool: 'read_file', action: 'allow' }];
    world.write('../some.json', JSON.stringify({ default_action: 'approve', rules }));
    const terminal = openTerminal(world, [...tester, '--policy', '../some.json', 'go'], { columns: 120 });
    await terminal.saw(question);
    const card = terminal.screen();
    for (const part of [
      '-two␍⏎',
      '+two··␍⏎',
      '+rev⟨U+202E⟩ersed␍⏎',
      '+⇥  three␍⏎',
      'real.txt (in the workspace, through a link)',
    ]) {
      expect([part, card.includes(part) || card]).toEqual([part, true]);
    }
    await deny(terminal);
  });

  it.each([
    ['touch can\u200bary', 'U+200B'],
    ['touch \u202ecanary', 'U+202E'],
    ['touch x\u0008canary', 'U+0008'],
    ['touch canary\u001b[1A', 'U+001B'],
  ])(
    'DSP-009: a command that is not what it looks like is refused before anybody is asked: %j',
    async (command, name) => {
      const terminal = await asking(shell(command));
      await terminal.ended;
      expect([rows(world, 'SELECT id FROM asks'), made()]).toEqual([[], false]);
      expect(String(rows(world, "SELECT data FROM events WHERE kind = 'tool_call'")[0]?.['data'])).toContain(
        `holds ${name}`,
      );
    },
  );

  it('DSP-009: padding and look-alikes of a command are shown as they are, and the card prints what it binds to', async () => {
    const command = `echo ok${' '.repeat(800)}; \u0442ouch x; touch canary`;
    const terminal = await asking(shell(command));
    await terminal.saw(question);
    const [ask] = rows(world, 'SELECT id, binding, args FROM asks');
    expect(JSON.parse(String(ask?.['args'])).command).toBe(command);
    for (const part of [
      'echo ok⟨blank x 800⟩; \u0442ouch x; touch canary',
      `binds     ${String(ask?.['binding']).slice(0, 12)}`,
      'hidden or look-alike characters',
    ]) {
      expect([part, terminal.screen().includes(part) || terminal.screen()]).toEqual([part, true]);
    }
    const card = openTerminal(world, ['approvals', 'show', String(ask?.['id'])], { columns: 100 });
    await card.ended;
    expect(card.screen()).toContain('echo ok⟨blank x 800⟩; \u0442ouch x; touch canary');
    await deny(terminal);
    expect(made()).toBe(false);
  });
});
