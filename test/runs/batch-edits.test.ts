import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Preview } from '../../src/schema/ask.ts';
import type { RunResult } from '../../src/schema/run.ts';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp;
afterEach(() => app.close());

const rules = [{ tools: 'local_fs', tool: 'read_file', action: 'allow' }];
const asking = { default_action: 'approve', rules };
const path = (name: string): string => join(app.place.workspace, name);
const text = (name: string): string => readFileSync(path(name), 'utf8');
const read = (name: string) => call('local_fs.read_file', { path: name });
const edit = (name: string, old_string: string, new_string: string) =>
  call('local_fs.edit_file', { path: name, old_string, new_string });
const write = (name: string, content: string) => call('local_fs.write_file', { path: name, content });
const sed = (name: string, pattern: string, replacement: string) =>
  call('local_fs.sed', { path: name, pattern, replacement });

type Row = { readonly id: string; readonly state: string; readonly preview: Preview };
const asks = (): readonly Row[] =>
  app.rows('SELECT id, state, preview FROM asks ORDER BY created_at, id').map((row) => ({
    id: String(row['id']),
    state: String(row['state']),
    preview: JSON.parse(String(row['preview'])) as Preview,
  }));
const pending = () => asks().filter(({ state }) => state === 'pending');
const states = () => asks().map(({ state }) => state);

/** Gives a verdict in a program that has not seen the run begin, and leaves the run at rest. */
async function answer(id: string, over: object = {}): Promise<void> {
  const client = await app.open();
  const none = { feedback: null, text: null, remember: null, binding: null };
  await client.answerAsk({ id, outcome: 'approve', no_resume: true, ...none, ...over });
}

async function resume(runId: string): Promise<RunResult> {
  const client = await app.open();
  await client.resumeRun({ run_id: runId, accept_changed_chain: false, on_ask: 'suspend', timeout_ms: 0 });
  return client.awaitRun({ run_id: runId, full: true });
}

/** What the model was told of the calls behind those that read. */
const told = ({
  output,
}: RunResult): readonly { readonly ok?: boolean; readonly error?: string; readonly message?: string }[] => {
  const { messages } = output as { messages: { role: string; content: string }[] };
  return messages
    .filter(({ role, content }) => role === 'tool' && content.startsWith('{'))
    .map(({ content }) => JSON.parse(content) as { ok?: boolean; error?: string; message?: string });
};

/** A run that has read the files and rests for the calls of one message. */
async function suspended(files: Readonly<Record<string, string>>, batch: readonly unknown[]): Promise<string> {
  const names = Object.keys(files);
  const count = (n: number) => ({ tool: { count: n } });
  const turns = [
    says('done', count(names.length + batch.length)),
    calls(batch, names.length > 0 ? count(names.length) : {}),
    ...(names.length > 0 ? [calls(names.map(read))] : []),
  ];
  app = await scriptedApp({ turns, policy: asking });
  for (const [name, content] of Object.entries(files)) writeFileSync(path(name), content);
  const { run_id, status } = await app.run({ on_ask: 'suspend' });
  expect(status).toBe('suspended');
  return run_id;
}

const lines = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n';

describe('several changes of one file in one message of a run that rests', () => {
  it('are asked about once each, every one on top of the others before it', async () => {
    const runId = await suspended({ a: lines }, [
      edit('a', 'one\n', 'ONE\n'),
      sed('a', 'two', 'TWO'),
      edit('a', 'ONE\nTWO\n', 'both\n'),
      write('a', 'whole\n'),
    ]);
    expect(pending().map(({ preview }) => [preview.follows?.calls, preview.diff])).toEqual([
      [undefined, '--- a/a\n+++ b/a\n@@ -1,4 +1,4 @@\n-one\n+ONE\n two\n three\n four\n'],
      [1, '--- a/a\n+++ b/a\n@@ -1,5 +1,5 @@\n ONE\n-two\n+TWO\n three\n four\n five\n'],
      [2, '--- a/a\n+++ b/a\n@@ -1,5 +1,4 @@\n-ONE\n-TWO\n+both\n three\n four\n five\n'],
      [3, expect.stringContaining('-both\n')],
    ]);
    for (const { id } of pending()) await answer(id);
    const result = await resume(runId);
    expect([result.status, text('a'), states()]).toEqual(['completed', 'whole\n', Array(4).fill('approved')]);
    expect(told(result)).toMatchObject(Array(4).fill({ changed: true }));
  });

  it('may be the file that one of them makes', async () => {
    const runId = await suspended({}, [write('new/a', 'one\n'), edit('new/a', 'one', 'two'), write('new/b', 'b')]);
    expect(pending().map(({ preview }) => preview.new_file)).toEqual([true, false, true]);
    for (const { id } of pending()) await answer(id);
    expect(await resume(runId)).toMatchObject({ status: 'completed' });
    expect([text('new/a'), text('new/b'), asks().length]).toEqual(['two\n', 'b', 3]);
  });

  it('rest on what the rules allow without a question, too', async () => {
    const count = (n: number) => ({ tool: { count: n } });
    const allowed = { tools: 'local_fs', tool: 'sed', action: 'allow' };
    const batch = [write('other', 'x'), sed('a', 'one', 'ONE'), edit('a', 'ONE', '1')];
    app = await scriptedApp({
      turns: [says('done', count(4)), calls(batch, count(1)), calls([read('a')])],
      policy: { default_action: 'approve', rules: [...rules, allowed] },
    });
    writeFileSync(path('a'), lines);
    const { run_id } = await app.run({ on_ask: 'suspend' });
    expect(pending()).toHaveLength(2);
    expect(text('a')).toBe(lines);
    for (const { id } of pending()) await answer(id);
    expect(await resume(run_id)).toMatchObject({ status: 'completed' });
    expect([text('a').split('\n')[0], asks().length]).toEqual(['1', 2]);
  });

  it('are asked about anew, all at once, where one before them was declined', async () => {
    const batch = [edit('a', 'one', 'ONE'), edit('a', 'two', 'TWO'), edit('a', 'three', 'THREE'), edit('b', 'x', 'y')];
    const runId = await suspended({ a: lines, b: 'x\n' }, batch);
    const [first, ...others] = pending();
    await answer(first?.id ?? '', { outcome: 'deny' });
    for (const { id } of others) await answer(id);
    expect(await resume(runId)).toMatchObject({ status: 'suspended' });
    expect([text('a'), text('b')]).toEqual([lines, 'x\n']);
    expect(states()).toEqual(['denied', 'approved', 'approved', 'approved', 'pending', 'pending']);
    expect(pending().map(({ preview }) => [preview.follows?.calls, preview.anew?.why])).toEqual([
      [undefined, ['the file is not what the earlier changes of its message were to leave']],
      [1, ['the file is not what the earlier changes of its message were to leave']],
    ]);
    for (const { id } of pending()) await answer(id);
    expect(await resume(runId)).toMatchObject({ status: 'completed' });
    expect([text('a'), text('b')]).toEqual([lines.replace('two', 'TWO').replace('three', 'THREE'), 'y\n']);
  });

  it('are not asked about again where one before them was declined and they look the same without it', async () => {
    const far = [edit('a', 'one', 'ONE'), edit('a', 'six', 'SIX'), edit('a', 'ten', 'TEN'), edit('a', 'five', '5')];
    const runId = await suspended({ a: lines }, far);
    const [first, ...others] = pending();
    await answer(first?.id ?? '', { outcome: 'deny' });
    for (const { id } of others) await answer(id);
    expect(await resume(runId)).toMatchObject({ status: 'completed' });
    expect(text('a')).toBe(lines.replace('five', '5').replace('six', 'SIX').replace('ten', 'TEN'));
    expect(asks()).toHaveLength(4);
  });

  it('are asked about again where somebody else has changed the file, though they look the same', async () => {
    const batch = [edit('a', 'one', 'ONE'), read('a'), edit('a', 'ten', 'TEN')];
    const runId = await suspended({ a: lines }, batch);
    const [first, second] = pending();
    await answer(first?.id ?? '', { outcome: 'deny' });
    await answer(second?.id ?? '');
    writeFileSync(path('a'), lines.replace('two', 'somebody else'));
    expect(await resume(runId)).toMatchObject({ status: 'suspended' });
    expect(pending().map(({ preview }) => preview.diff)).toEqual([second?.preview.diff]);
  });

  it('are not shown as they were asked about where nobody has answered yet and the file is another one', async () => {
    const runId = await suspended({ a: lines }, [edit('a', 'one', 'ONE'), edit('a', 'two', 'TWO')]);
    const [first, second] = pending();
    await answer(first?.id ?? '', { outcome: 'deny' });
    expect(await resume(runId)).toMatchObject({ status: 'suspended' });
    expect(states()).toEqual(['denied', 'cancelled', 'pending']);
    const [open] = pending();
    const late = { id: second?.id ?? '', outcome: 'approve' as const };
    await expect(answer(late.id)).rejects.toMatchObject({
      code: 'already_answered',
      hints: [`reins approvals show ${open?.id ?? ''}`],
    });
    await answer(open?.id ?? '');
    expect(await resume(runId)).toMatchObject({ status: 'completed' });
    expect(text('a')).toBe(lines.replace('two', 'TWO'));
  });

  it('that need what a declined one would have brought are not run, and the model is told why', async () => {
    const runId = await suspended({}, [write('a', 'one\n'), edit('a', 'one', 'two')]);
    const [first, second] = pending();
    await answer(first?.id ?? '', { outcome: 'deny' });
    await answer(second?.id ?? '');
    const result = await resume(runId);
    expect([result.status, existsSync(path('a'))]).toEqual(['completed', false]);
    expect(told(result)).toMatchObject([{ error: 'denied' }, { error: 'changed_since_approval' }]);
    expect(told(result)[1]?.message).toBe(
      'This call was asked about on top of the earlier ones of its message, and the file is not what they were to leave, so it was not run and nothing was written. "a" does not exist.',
    );
  });

  it('do not touch what somebody else has changed in between', async () => {
    const runId = await suspended({ a: lines }, [edit('a', 'one', 'ONE'), edit('a', 'two', 'TWO')]);
    const [first, second] = pending();
    await answer(first?.id ?? '');
    expect(await resume(runId)).toMatchObject({ status: 'suspended' });
    await answer(second?.id ?? '');
    const other = `${text('a')}somebody else\n`;
    writeFileSync(path('a'), other);
    const result = await resume(runId);
    expect([result.status, text('a')]).toEqual(['completed', other]);
    expect(told(result)).toMatchObject([{ changed: true }, { error: 'changed_since_approval' }]);
    const notices = "SELECT json_extract(data, '$.message') AS said FROM events WHERE kind = 'notice'";
    expect(app.rows(notices)).toEqual([
      { said: 'local_fs.edit_file a was not run: the file is not the one that was asked about.' },
    ]);
    expect(told(result)[1]?.message).toMatch(/ "a" has changed since it was read\. Read it again/);
  });
});

describe('a call that lacks what the calls before it will bring', () => {
  it('is left to its turn: nobody has refused it while the run rests', async () => {
    const make = call('local_shell.local_shell', { command: 'mkdir build' });
    const inside = call('local_shell.local_shell', { command: 'touch made', cwd: 'build' });
    const runId = await suspended({}, [make, inside]);
    expect(states()).toEqual(['pending']);
    await answer(pending()[0]?.id ?? '');
    expect(await resume(runId)).toMatchObject({ status: 'suspended' });
    await answer(pending()[0]?.id ?? '');
    expect(await resume(runId)).toMatchObject({ status: 'completed' });
    expect(existsSync(path('build/made'))).toBe(true);
  });

  it('is asked about once its file was read, which is asked about as well', async () => {
    const turns = [says('done', { tool: { count: 2 } }), calls([read('a'), edit('a', 'one', 'ONE')])];
    app = await scriptedApp({ turns, policy: { default_action: 'approve', rules: [] } });
    writeFileSync(path('a'), lines);
    const { run_id } = await app.run({ on_ask: 'suspend' });
    expect(states()).toEqual(['pending']);
    await answer(pending()[0]?.id ?? '');
    expect(await resume(run_id)).toMatchObject({ status: 'suspended' });
    await answer(pending()[0]?.id ?? '');
    expect(await resume(run_id)).toMatchObject({ status: 'completed' });
    expect(text('a')).toBe(lines.replace('one', 'ONE'));
  });
});

describe('an approved change that had started when the process was killed', () => {
  /** As the rows are behind the kill; `made`: the file was replaced by then. */
  const killed = async (made: boolean): Promise<string> => {
    const runId = await suspended({ a: lines }, [edit('a', 'one', 'one one'), edit('a', 'two', 'TWO')]);
    for (const { id } of pending()) await answer(id);
    await app.stop();
    app.change("UPDATE tool_calls SET state = 'started', started_at = 1 WHERE seq = 2");
    if (made) writeFileSync(path('a'), lines.replace('one', 'one one'));
    expect(await resume(runId)).toMatchObject({ status: 'suspended' });
    return runId;
  };

  it('is not made twice where a person lets it run again', async () => {
    const runId = await killed(true);
    expect(pending().map(({ preview }) => preview.file_now)).toEqual(['another']);
    await answer(pending()[0]?.id ?? '', { outcome: 'answer', treat_as: 'run_again' });
    const result = await resume(runId);
    expect(text('a')).toBe(lines.replace('one', 'one one'));
    // Killed ahead of the mark that the model has seen the file as it left it.
    expect(told(result)).toMatchObject([{ error: 'outcome_unknown' }, { error: 'stale_read' }]);
  });

  it('is made where the file is what it was, and what follows it is not asked about again', async () => {
    const runId = await killed(false);
    expect(pending().map(({ preview }) => preview.file_now)).toEqual(['as_before']);
    await answer(pending()[0]?.id ?? '', { outcome: 'answer', treat_as: 'run_again' });
    expect(await resume(runId)).toMatchObject({ status: 'completed' });
    expect(text('a')).toBe(lines.replace('one', 'one one').replace('two', 'TWO'));
    expect(asks()).toHaveLength(3);
  });
});

describe('a file that is not there', () => {
  it('is told with names like it where its change would be asked about, but not those that may not be read', async () => {
    const hidden = {
      tools: 'local_fs',
      tool: 'read_file',
      action: 'deny',
      when: [{ key: 'path', op: 'glob', value: '*.key' }],
    };
    const turns = [says('done', { tool: { count: 1 } }), calls([edit('notes.tx', 'a', 'b')])];
    app = await scriptedApp({ turns, policy: { default_action: 'approve', rules: [hidden] } });
    for (const name of ['notes.txt', 'notes.key']) writeFileSync(path(name), 'a');
    const result = await app.run({ on_ask: 'suspend' });
    expect(told(result)).toEqual([
      {
        ok: false,
        error: 'not_found',
        message: '"notes.tx" does not exist. Similar names: notes.txt.',
        similar: ['notes.txt'],
      },
    ]);
  });
});

describe('edits here, this session', () => {
  it('lets the other edits of a message through that were asked about with it', async () => {
    const turns = [
      says('done', { tool: { count: 4 } }),
      calls([edit('a', 'one', 'ONE'), edit('a', 'two', 'TWO'), write('b', 'b')], { tool: { count: 1 } }),
      calls([read('a')]),
    ];
    app = await scriptedApp({ turns, policy: asking });
    writeFileSync(path('a'), lines);
    const { run_id } = await app.chat('go', { on_ask: 'suspend' });
    expect(await app.client.awaitRun({ run_id })).toMatchObject({ status: 'suspended' });
    await answer(pending()[0]?.id ?? '', { remember: 'edits' });
    expect(await resume(run_id)).toMatchObject({ status: 'completed' });
    expect(states()).toEqual(['approved', 'cancelled', 'cancelled']);
    expect([text('a'), text('b')]).toEqual([lines.replace('one', 'ONE').replace('two', 'TWO'), 'b']);
  });
});
