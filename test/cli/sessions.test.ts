import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addScript, createProject, scripted, tester, type World } from './world.ts';
import { openTerminal } from '../support/terminal.ts';

let world: World;
beforeEach(async () => {
  world = await createProject();
});
afterEach(() => world.remove());

const chat = (text: string) => world.run([...scripted, 'chat', text]);
const names = async (): Promise<unknown> =>
  JSON.parse((await world.run(['session', 'list', '--json'])).stdout)
    .map(({ name, active }: { name: string; active: boolean }) => `${active ? '*' : ''}${name}`)
    .sort();

describe('session rename', () => {
  test('keeps the active pointer and the messages', async () => {
    await chat('hello one');
    expect(await world.run(['session', 'rename', 'default', '名前'])).toMatchObject({
      code: 0,
      stdout: 'Renamed session "default" to "名前".\n',
    });
    expect(await names()).toEqual(['*名前']);
    await chat('hello two');
    expect(JSON.parse((await world.run(['session', 'show', '名前', '--json'])).stdout).total).toBe(4);
    const json = await world.run(['session', 'rename', '名前', 'work', '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ name: 'work', active: true, message_count: 4 });
  });

  test('refuses a taken and a bad name with 2, an unknown session with 1', async () => {
    await world.run(['session', 'new', 'work']);
    await world.run(['session', 'new', 'play']);
    for (const [name, code] of [
      ['play', 2],
      ['work', 2],
      ['a/b', 2],
      ['x'.repeat(65), 2],
      ['', 2],
    ] as const) {
      expect([name, (await world.run(['session', 'rename', 'work', name])).code]).toEqual([name, code]);
    }
    expect((await world.run(['session', 'rename', 'work', '--', '-a'])).code).toBe(2);
    const unknown = await world.run(['session', 'rename', 'wrk', 'b']);
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toBe('reins: There is no session "wrk". Near names: work.\n  reins session list\n');
    expect(await names()).toEqual(['*play', 'work']);
  });
});

describe('session fork', () => {
  test('copies the active session, names the copy and makes it active', async () => {
    await chat('list the files');
    expect(await world.run(['session', 'fork'])).toMatchObject({
      code: 0,
      stdout: 'Forked "default" to "default-2" (4 messages). Now active.\n',
      stderr: '',
    });
    const cut = await world.run(['session', 'fork', 'cut', '--from', 'default', '--at', '2']);
    expect(cut.stdout).toBe('Forked "default" to "cut" (1 message). Now active.\n');
    expect(cut.stderr).toBe(
      'copied up to message 1: message 2 lies among calls and their results, or is not whole yet\n',
    );
    expect(await names()).toEqual(['*cut', 'default', 'default-2']);
    await chat('hello there');
    const texts = JSON.parse((await world.run(['session', 'show', 'cut', '--json'])).stdout).messages.map(
      ({ text }: { text: string }) => text.split('\n')[0],
    );
    expect(texts).toEqual(['list the files', 'hello there', '(scripted demo) Hello. You said: hello there']);
  });

  test('refuses what is not there', async () => {
    expect((await world.run(['session', 'fork'])).code).toBe(1);
    await world.run(['session', 'new', 'work']);
    expect((await world.run(['session', 'fork', 'work'])).code).toBe(2);
    expect((await world.run(['session', 'fork', '--from', 'nope'])).code).toBe(1);
    expect((await world.run(['session', 'fork', '--at', '1'])).code).toBe(2);
    expect((await world.run(['session', 'fork', '--keep', '3'])).code).toBe(2);
    expect(await names()).toEqual(['*work']);
  });

  test('of a session that waits for an approval ends before the open call, and can go on', async () => {
    await addScript(world, [
      {
        match: { last_user: { equals: 'write' } },
        reply: { tool_calls: [{ name: 'local_fs.write_file', arguments: { path: 'a', content: 'b' } }] },
      },
      { match: { role: 'user' }, reply: { text: 'Fine.' } },
    ]);
    expect((await world.run([...tester, 'chat', '--on-ask', 'suspend', 'write'])).code).toBe(4);
    const forked = await world.run(['session', 'fork']);
    expect(forked.stdout).toBe('Forked "default" to "default-2" (1 message). Now active.\n');
    expect(await world.run([...tester, 'chat', 'and now?'])).toMatchObject({ code: 0, stdout: 'Fine.\n' });
    expect((await world.run([...tester, 'chat', '--session', 'default', 'and now?'])).code).toBe(4);
  });
});

describe('session export', () => {
  const file = (name: string): string => join(world.workspace, name);

  test('writes Markdown to stdout and JSON with everything', async () => {
    await chat('list the files');
    const { stdout } = await world.run(['session', 'export']);
    expect(stdout.replaceAll(/\d{4}-\S+Z/g, 'T').replaceAll(/call_\w+/g, 'C')).toBe(`# default

created T, last message T

## user · T

list the files

## assistant · T

(scripted demo) I look.

\`\`\`json
{
  "id": "C",
  "name": "local_fs.list_dir",
  "arguments": {
    "path": "."
  }
}
\`\`\`

## tool · T

\`\`\`text
.reins/
\`\`\`

## assistant · T

(scripted demo) This is what the workspace holds:
.reins/
`);
    const json = await world.run(['session', 'export', 'default', '--format', 'json']);
    const shown = JSON.parse((await world.run(['session', 'show', '--tools', '--json'])).stdout);
    expect(JSON.parse(json.stdout)).toEqual({ schema_version: 1, session: shown.session, messages: shown.messages });
    expect((await world.run(['session', 'export', '--json'])).stdout).toBe(json.stdout);
  });

  test('--out makes a private file, and overwrites one only with --force', async () => {
    await chat('hello there');
    const wrote = await world.run(['session', 'export', '--out', 'a.md']);
    expect(wrote).toMatchObject({ code: 0, stdout: `Wrote ${file('a.md')}\n`, stderr: '2 messages\n' });
    expect((statSync(file('a.md')).mode & 0o777).toString(8)).toBe('600');
    const before = readFileSync(file('a.md'), 'utf8');
    const again = await world.run(['session', 'export', '--format', 'json', '--out', 'a.md']);
    expect(again).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `reins: ${file('a.md')} exists; --force overwrites it\n`,
    });
    expect(readFileSync(file('a.md'), 'utf8')).toBe(before);
    const forced = await world.run(['session', 'export', '--format', 'json', '--out', 'a.md', '--force', '--json']);
    expect(JSON.parse(forced.stdout)).toMatchObject({ path: file('a.md'), format: 'json', messages: 2 });
    expect(JSON.parse(readFileSync(file('a.md'), 'utf8')).messages).toHaveLength(2);
    expect(readdirSync(world.workspace).sort()).toEqual(['.reins', 'a.md']);
  });

  test('--out follows no link, takes no device and leaves nothing where it cannot write', async () => {
    await chat('hello there');
    writeFileSync(file('target'), 'kept');
    symlinkSync(file('target'), file('link'));
    for (const out of ['link', '/dev/null', '.', 'nope/a.md', 'target/a.md']) {
      const { code, stdout } = await world.run(['session', 'export', '--out', out, '--force']);
      expect([out, code, stdout]).toEqual([out, 2, '']);
    }
    expect(readFileSync(file('target'), 'utf8')).toBe('kept');
    expect(readdirSync(world.workspace).sort()).toEqual(['.reins', 'link', 'target']);
  });

  test('refuses an unknown session with 1 and two forms at once with 2', async () => {
    expect((await world.run(['session', 'export'])).code).toBe(1);
    expect((await world.run(['session', 'export', 'nope', '--out', 'a.md'])).code).toBe(1);
    await world.run(['session', 'new', 'work']);
    expect((await world.run(['session', 'export', '--format', 'md', '--json'])).code).toBe(2);
    expect((await world.run(['session', 'export', '--format', 'html'])).code).toBe(2);
    expect(readdirSync(world.workspace)).toEqual(['.reins']);
  });

  test('has every message of a long session, page by page, and a row that cannot be read as such', async () => {
    await world.run(['session', 'new', 'work']);
    await world.run(['state', 'list']);
    const { default: Sqlite } = await import('better-sqlite3');
    const database = new Sqlite(join(world.workspace, '.reins/local.db'));
    database.pragma('ignore_check_constraints = ON');
    const insert = database.prepare(
      `INSERT INTO messages (id, session_id, seq, role, kind, payload, status, run_id, created_at)
       VALUES (?, (SELECT id FROM sessions), ?, ?, 'message', ?, ?, 'run_1', 1)`,
    );
    const text = (content: string): string => JSON.stringify({ id: 'x', content });
    database.transaction(() => {
      for (let seq = 1; seq <= 1001; seq += 1)
        insert.run(`m${seq}`, seq, 'user', seq === 7 ? '{"con' : text(`t${seq}`), 'complete');
      // Stored while it arrived, and whole later on; what only arrived in part stays.
      insert.run('p1', 1002, 'assistant', text('half'), 'partial');
      insert.run('p2', 1003, 'assistant', text('half and whole'), 'complete');
      insert.run('p3', 1004, 'assistant', text('cut o'), 'partial');
    })();
    database.close();
    const { messages } = JSON.parse((await world.run(['session', 'export', '--format', 'json'])).stdout);
    const texts = Array.from({ length: 1001 }, (_, index) => (index === 6 ? '[unreadable message]' : `t${index + 1}`));
    expect(messages.map((message: { text: string }) => message.text)).toEqual([...texts, 'half and whole', 'cut o']);
  });
});

test('a message that cannot be read is reported by doctor, and is copied by a fork as what it is', async () => {
  await chat('hello');
  const doctor = async () => (await world.run(['doctor', '--skip-probe'])).stdout;
  expect(await doctor()).not.toContain('database_corrupt');
  const { default: Sqlite } = await import('better-sqlite3');
  const database = new Sqlite(join(world.workspace, '.reins/local.db'));
  database.pragma('ignore_check_constraints = ON');
  database.exec(`UPDATE messages SET payload = '{"con' WHERE seq = 1`);
  database.close();
  expect(await doctor()).toContain(
    'database_corrupt: 1 message of the session "default" cannot be read; no model gets them.',
  );
  expect((await world.run(['session', 'fork', 'copy'])).code).toBe(0);
  const { messages } = JSON.parse((await world.run(['session', 'export', 'copy', '--format', 'json'])).stdout);
  expect(messages.map(({ text }: { text: string }) => text.slice(0, 20))).toEqual([
    '[unreadable message]',
    '(scripted demo) Hell',
  ]);
});

describe('session search', () => {
  test('prints each message with the passage, best first', async () => {
    await chat('hello heron');
    await world.run(['session', 'new', 'work']);
    await chat('hello stork');
    const { code, stdout } = await world.run(['session', 'search', 'hello', 'her']);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^default #1 {2}user {2}\d{4}-\S+Z\n {2}hello heron\ndefault #2 {2}assistant {2}\S+\n {2}\(scripted demo\) Hello\. You said: hello heron I am/,
    );
    const json = JSON.parse((await world.run(['session', 'search', 'stork', '--json', '--limit', '1'])).stdout);
    expect([json.total, json.complete, json.hits.length, json.hits[0].session]).toEqual([2, true, 1, 'work']);
    expect((await world.run(['session', 'search', 'stork', '--limit', '1'])).stderr).toBe(
      '1 more; --limit shows them\n',
    );
    expect((await world.run(['session', 'search', 'hello', '--session', 'work'])).stdout).not.toContain('default');
  });

  test('nothing found is no failure; nothing to look for and an unknown session are', async () => {
    expect(await world.run(['session', 'search', 'x'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'no messages match\n',
    });
    expect((await world.run(['session', 'search', 'x', '--json'])).stdout).toBe(
      '{"hits":[],"total":0,"complete":true}\n',
    );
    expect((await world.run(['session', 'search'])).code).toBe(2);
    expect((await world.run(['session', 'search', ' '])).code).toBe(2);
    expect((await world.run(['session', 'search', 'x', '--session', 'nope'])).code).toBe(1);
  });

  test('marks what was found on a terminal, where nothing of a message is obeyed', async () => {
    await chat('a\u001b]0;owned\u0007 heron \u001b[2J b');
    const terminal = openTerminal(world, ['session', 'search', 'heron', '--limit', '1']);
    await terminal.ended;
    expect(terminal.screen()).toMatch(/^default #1 {2}user {2}\S.*\n {2}a␛\]0;owned␇ heron ␛\[2J b/);
    expect(terminal.bytes()).toContain('\u001b[1mheron\u001b[0m');
    expect(terminal.bytes()).not.toContain('\u001b]0;');
    expect(terminal.bytes()).not.toContain('\u001b[2J');
    const plain = openTerminal(world, ['session', 'search', 'heron'], { environment: { NO_COLOR: '1' } });
    await plain.ended;
    expect(plain.bytes()).not.toContain('\u001b');
    const piped = (environment: Record<string, string>) => world.run(['session', 'search', 'heron'], { environment });
    expect((await piped({})).stdout).not.toContain('\u001b[1m');
    expect((await piped({ FORCE_COLOR: '1' })).stdout).toContain('\u001b[1mheron\u001b[0m');
    expect((await piped({ FORCE_COLOR: '1', NO_COLOR: '1' })).stdout).not.toContain('\u001b[1m');
  });
});
