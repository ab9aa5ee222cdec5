import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FileChange } from '../../src/schema/file-change.ts';
import { createChangeJournal } from '../../src/tools/files/change-journal.ts';
import { sha256Of } from '../../src/tools/files/commit.ts';
import { lookAtChanges, undoFile } from '../../src/tools/files/undo.ts';
import { allowAll, call, calls, says, type ScriptedApp, scriptedApp } from '../support/scripted-app.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

const edit = (path: string, old_string: string, new_string: string) =>
  call('local_fs.edit_file', { path, old_string, new_string });

describe('undoing a run', () => {
  let app: ScriptedApp;
  afterEach(() => app.close());
  const at = (name: string): string => join(app.place.workspace, name);
  const text = (name: string): string => readFileSync(at(name), 'utf8');

  const changeThree = async (): Promise<string> => {
    app = await scriptedApp({
      policy: allowAll,
      turns: [
        calls([call('local_fs.read_file', { path: 'a.txt' }), call('local_fs.read_file', { path: 'b.txt' })], {
          turn: 1,
        }),
        calls([edit('a.txt', 'one', 'two'), edit('b.txt', 'b', 'c')], { turn: 2 }),
        calls([edit('a.txt', 'two', 'three'), call('local_fs.write_file', { path: 'new/c.txt', content: 'c' })], {
          turn: 3,
        }),
        says('done'),
      ],
    });
    writeFileSync(at('a.txt'), 'one\n', { mode: 0o755 });
    chmodSync(at('a.txt'), 0o755);
    writeFileSync(at('b.txt'), 'b\n');
    const { run_id } = await app.run();
    expect([text('a.txt'), text('b.txt'), text('new/c.txt')]).toEqual(['three\n', 'c\n', 'c']);
    return run_id;
  };

  it('puts back what files held, takes away what it made, and writes down who did it', async () => {
    const run_id = await changeThree();
    expect(await app.client.showChanges({ run_id: run_id.slice(-8) })).toEqual({
      run_id,
      files: [
        { path: 'a.txt', state: 'changed', created: false, calls: 2, error: null },
        { path: 'b.txt', state: 'changed', created: false, calls: 1, error: null },
        { path: 'new/c.txt', state: 'changed', created: true, calls: 1, error: null },
      ],
      forgotten: false,
      commands: 0,
    });
    const { files } = await app.client.undoChanges({ run_id });
    expect(files.map(({ state }) => state)).toEqual(['undone', 'undone', 'undone']);
    expect([text('a.txt'), text('b.txt'), existsSync(at('new'))]).toEqual(['one\n', 'b\n', false]);
    expect(statSync(at('a.txt')).mode & 0o777).toBe(0o755);
    const [entry] = app.rows(`SELECT body FROM audit WHERE type = 'files_undone'`);
    expect(JSON.parse(String(entry?.['body'])).files).toHaveLength(3);
    // Once more does nothing, and says nothing new.
    expect((await app.client.undoChanges({ run_id })).files).toEqual(files);
    expect(app.rows(`SELECT 1 FROM audit WHERE type = 'files_undone'`)).toHaveLength(1);
  });

  it('leaves a file alone of which a command has noted something, and says so', async () => {
    const run_id = await changeThree();
    const victim = at('victim.txt');
    writeFileSync(victim, 'mine');
    const noted = { call_id: 'call_1', path: victim, before: null, after: sha256Of(Buffer.from('mine')) };
    appendFileSync(join(app.place.home, '.reins/tool_output', run_id, 'changes'), `${JSON.stringify(noted)}\n`);
    const { files } = await app.client.undoChanges({ run_id });
    expect(files.map(({ path, state }) => [path, state])).toEqual([
      ['a.txt', 'undone'],
      ['b.txt', 'undone'],
      ['new/c.txt', 'undone'],
      ['victim.txt', 'not_proved'],
    ]);
    expect(text('victim.txt')).toBe('mine');
  });

  it('leaves a file that something else has changed since, and undoes the others', async () => {
    const run_id = await changeThree();
    writeFileSync(at('a.txt'), 'mine\n');
    rmSync(at('new/c.txt'));
    const { files } = await app.client.undoChanges({ run_id });
    expect(files.map(({ path, state }) => [path, state])).toEqual([
      ['a.txt', 'changed_since'],
      ['b.txt', 'undone'],
      ['new/c.txt', 'undone'],
    ]);
    expect([text('a.txt'), text('b.txt')]).toEqual(['mine\n', 'b\n']);
  });

  it('takes away the directories that it made, but for those that something else is in', async () => {
    const write = (path: string) => call('local_fs.write_file', { path, content: 'x' });
    app = await scriptedApp({
      policy: allowAll,
      turns: [
        calls([write('old/a/b/c.txt'), write('old/a/d.txt'), write('new/e/f.txt'), write('new/g.txt')], {
          role: 'user',
        }),
        says('done'),
      ],
    });
    mkdirSync(at('old'));
    const { run_id } = await app.run();
    writeFileSync(at('new/mine.txt'), 'mine');
    const { files } = await app.client.undoChanges({ run_id });
    expect(files.map(({ state }) => state)).toEqual(['undone', 'undone', 'undone', 'undone']);
    expect([existsSync(at('old/a')), existsSync(at('old')), readdirSync(at('new'))]).toEqual([
      false,
      true,
      ['mine.txt'],
    ]);
  });

  it('is refused for a run that has not ended', async () => {
    app = await scriptedApp({
      policy: { default_action: 'approve', rules: [] },
      turns: [calls([call('local_fs.write_file', { path: 'a.txt', content: 'a' })], { turn: 1 }), says('done')],
    });
    const { run_id } = await app.start({ on_ask: 'wait' });
    await app.seen(run_id, 'ask');
    await expect(app.client.undoChanges({ run_id })).rejects.toMatchObject({ code: 'in_use' });
  });
});

describe('the changes of a run', () => {
  let place: TempHome;
  beforeEach(() => {
    place = tempHome();
  });
  afterEach(() => place.remove());
  const directory = (): string => join(place.dir, 'tool_output');
  const machine = new Uint8Array(32).fill(7);
  const kept = (key: Uint8Array | null = machine) => createChangeJournal({ directory: directory(), key: () => key });
  const at = (name: string): string => join(place.workspace, name);
  const sha256 = (content: string): string => sha256Of(Buffer.from(content));
  const change = (name: string, before: string | null, after: string): FileChange => ({
    call_id: 'call_1',
    path: at(name),
    before: before === null ? null : sha256(before),
    after: sha256(after),
  });
  const note = (name: string, before: string | null, after: string): void =>
    kept().note('run_1', change(name, before, after), before === null ? null : Buffer.from(before));
  const look = async () => lookAtChanges('run_1', kept().changes('run_1'), kept());
  const states = async () => (await look()).map(({ state }) => state);

  it('were perhaps not made: the process was killed between the note and the change', async () => {
    writeFileSync(at('a.txt'), 'one');
    note('a.txt', 'one', 'two');
    expect(await states()).toEqual(['undone']);
    note('a.txt', 'one', 'three');
    writeFileSync(at('a.txt'), 'three');
    expect(await states()).toEqual(['changed']);
  });

  it('are no longer its own where something else changed the file between them', async () => {
    note('a.txt', 'one', 'two');
    note('a.txt', 'two and mine', 'three');
    writeFileSync(at('a.txt'), 'three');
    expect(await states()).toEqual(['changed_since']);
  });

  it('are not undone from what is not what the file held', async () => {
    note('a.txt', 'one', 'two');
    writeFileSync(at('a.txt'), 'two');
    const [name = ''] = readdirSync(join(directory(), 'run_1')).filter((each) => each.endsWith('.before'));
    writeFileSync(join(directory(), 'run_1', name), 'other');
    expect(await states()).toEqual(['not_kept']);
    rmSync(join(directory(), 'run_1', name));
    expect(await states()).toEqual(['not_kept']);
  });

  it('are not undone through a link that is where a directory or the file was', async () => {
    mkdirSync(at('d'));
    writeFileSync(at('d/a.txt'), 'two');
    note('d/a.txt', 'one', 'two');
    expect(await states()).toEqual(['changed']);
    renameSync(at('d'), at('e'));
    symlinkSync(at('e'), at('d'));
    expect(await states()).toEqual(['changed_since']);
    rmSync(at('d'));
    mkdirSync(at('d'));
    symlinkSync(at('e/a.txt'), at('d/a.txt'));
    expect(await states()).toEqual(['changed_since']);
    expect(readFileSync(at('e/a.txt'), 'utf8')).toBe('two');
  });

  // The administrator may write everything.
  it.skipIf(process.getuid?.() === 0)('are not undone where somebody has closed the file to writing', async () => {
    for (const name of ['a.txt', 'b.txt']) {
      writeFileSync(at(name), name === 'a.txt' ? 'two' : 'mine');
      note(name, 'one', 'two');
      chmodSync(at(name), 0o444);
    }
    expect(await states()).toEqual(['write_protected', 'changed_since']);
  });

  it('are not undone where the file changes after the look', async () => {
    writeFileSync(at('a.txt'), 'two');
    note('a.txt', 'one', 'two');
    note('b.txt', null, 'made');
    writeFileSync(at('b.txt'), 'made');
    const looked = await look();
    writeFileSync(at('a.txt'), 'mine');
    writeFileSync(at('b.txt'), 'mine');
    for (const file of looked) expect(await undoFile(file)).toMatchObject({ error: 'changed_since_approval' });
    expect([readFileSync(at('a.txt'), 'utf8'), readFileSync(at('b.txt'), 'utf8')]).toEqual(['mine', 'mine']);
  });

  it('are read without a line that was cut, in files that only their owner reads', () => {
    note('a.txt', 'one', 'two');
    appendFileSync(join(directory(), 'run_1', 'changes'), '{"call_id":"call_2","pa');
    expect(kept().changes('run_1')).toEqual([{ ...change('a.txt', 'one', 'two'), proved: true }]);
    for (const name of readdirSync(join(directory(), 'run_1'))) {
      expect(statSync(join(directory(), 'run_1', name)).mode & 0o777).toBe(0o600);
    }
  });

  it('are kept behind a line and a content that were cut', () => {
    note('a.txt', 'one', 'two');
    appendFileSync(join(directory(), 'run_1', 'changes'), '{"call_id":"call_2","pa');
    // What a process has left that was killed while it kept the content.
    writeFileSync(join(directory(), 'run_1', `${sha256('three')}.before`), 'th', { mode: 0o600 });
    note('b.txt', 'three', 'four');
    const own = [change('a.txt', 'one', 'two'), change('b.txt', 'three', 'four')];
    expect(kept().changes('run_1')).toEqual(own.map((one) => ({ ...one, proved: true })));
    expect(kept().kept('run_1', sha256('three'))?.toString()).toBe('three');
  });

  it('are believed only as this program has noted them, of this run and on this machine', async () => {
    for (const name of ['a.txt', 'b.txt', 'c.txt']) writeFileSync(at(name), 'two');
    note('a.txt', 'one', 'two');
    const file = join(directory(), 'run_1', 'changes');
    const line = readFileSync(file, 'utf8');
    appendFileSync(file, line.replaceAll(at('a.txt'), at('b.txt')));
    appendFileSync(file, `${JSON.stringify(change('c.txt', null, 'two'))}\n`);
    expect(await states()).toEqual(['changed', 'not_proved', 'not_proved']);
    // A line of another's beside one of ours: nobody knows which way the file went.
    appendFileSync(file, `${JSON.stringify(change('a.txt', null, 'two'))}\n`);
    expect(await states()).toEqual(['not_proved', 'not_proved', 'not_proved']);
    for (const other of [new Uint8Array(32), null]) {
      writeFileSync(file, line);
      expect(kept(other).changes('run_1')).toEqual([{ ...change('a.txt', 'one', 'two'), proved: false }]);
    }
    mkdirSync(join(directory(), 'run_2'));
    writeFileSync(join(directory(), 'run_2', 'changes'), line);
    expect(kept().changes('run_2')).toMatchObject([{ proved: false }]);
  });

  it('fail nothing where they cannot be kept', () => {
    writeFileSync(directory(), 'a file in its place');
    expect(() => note('a.txt', 'one', 'two')).not.toThrow();
    expect(kept().changes('run_1')).toEqual([]);
  });
});
