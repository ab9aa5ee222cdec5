import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import type { RuntimeClient } from '../../src/client/operations.ts';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const policy = { default_action: 'approve', rules: [] };
const turns = [says('done', { tool: { count: 1 } }), calls([call('local_fs.write_file', { path: 'a', content: 'x' })])];
const digest = 'its checkpoint has another digest than it was written with';
const damage = "UPDATE run_state SET payload = replace(payload, 'schema_version', 'Schema_version')";

/** A run that waits for an approval, as another process finds it. */
async function resting(how: 'run' | 'chat' = 'run'): Promise<[ScriptedApp, string, RuntimeClient]> {
  app = await scriptedApp({ turns, policy });
  const { run_id } =
    how === 'run' ? await app.start({ on_ask: 'suspend' }) : await app.chat('go', { on_ask: 'suspend' });
  expect(await app.client.awaitRun({ run_id })).toMatchObject({ status: 'suspended' });
  await app.stop();
  return [app, run_id, await app.open()];
}

const request = (run_id: string) => ({
  run_id,
  accept_changed_chain: false,
  on_ask: 'suspend' as const,
  timeout_ms: 0,
});
/** What a try to go on was answered with. */
const refusal = (client: RuntimeClient, runId: string): Promise<{ code: string; message: string }> =>
  client.resumeRun(request(runId)).then(
    () => Promise.reject(new Error('it went on')),
    (error: unknown) => error as { code: string; message: string },
  );
const noted = (running: ScriptedApp) => running.rows('SELECT attempts, last_error, lease_owner FROM run_state');

describe('a run that cannot go on', () => {
  it('keeps its checkpoint and its question, and says why, until the fifth time', async () => {
    const [running, runId, client] = await resting();
    running.change(damage);
    const error = `what is stored of ${runId} cannot be used: ${digest}`;
    expect(await refusal(client, runId)).toMatchObject({
      code: 'storage',
      message: `attempt 1 of 5 to go on: ${error}`,
    });
    expect(noted(running)).toEqual([{ attempts: 1, last_error: error, lease_owner: null }]);
    expect(await client.showRun({ run_id: runId })).toMatchObject({
      status: 'suspended',
      attempts: 1,
      last_error: error,
      waits: [{ state: 'pending' }],
    });
    for (const count of [2, 3, 4]) {
      expect((await refusal(client, runId)).message).toBe(`attempt ${count} of 5 to go on: ${error}`);
    }
    expect((await refusal(client, runId)).message).toBe(
      `the last of 5 attempts to go on, the run has failed: ${error}`,
    );
    expect(await client.showRun({ run_id: runId })).toMatchObject({
      status: 'failed',
      exit_code: 1,
      error: { class: 'storage', message: error },
      last_error: null,
      waits: [{ state: 'cancelled', by: 'system:cancelled' }],
      calls: [{ state: 'skipped' }],
    });
    expect(noted(running)).toEqual([]);
    expect((await running.events(runId)).at(-1)).toMatchObject({
      kind: 'chain_failed',
      error: { class: 'storage', message: error },
      exit_code: 1,
      num_turns: 1,
    });
    expect(await refusal(client, runId)).toMatchObject({ code: 'run_not_resumable' });
  });

  it('leaves its session free, with the reason as a note', async () => {
    const [running, runId, client] = await resting('chat');
    running.change(`${damage}; UPDATE run_state SET attempts = 4`);
    await refusal(client, runId);
    const { messages } = await client.exportSession({ session: { name: 'default' }, after: 0 });
    expect(messages.map(({ role, kind }) => [role, kind])).toEqual([
      ['user', 'message'],
      ['assistant', 'message'],
      ['tool', 'message'],
      ['assistant', 'note'],
    ]);
    expect(JSON.stringify(messages.at(-1))).toContain(
      `failed (storage): what is stored of ${runId} cannot be used: ${digest}`,
    );
    const next = await client.interruptedTurn({ session: null });
    expect(next).toBeNull();
  });

  it('counts anew when it has gone on in between', async () => {
    const [running, runId, client] = await resting();
    const [row] = running.rows('SELECT payload FROM run_state');
    running.change(damage);
    await refusal(client, runId);
    running.change(`UPDATE run_state SET payload = '${String(row?.['payload']).replaceAll("'", "''")}'`);
    await client.resumeRun(request(runId));
    expect(await client.awaitRun({ run_id: runId })).toMatchObject({ status: 'suspended' });
    expect(noted(running)).toEqual([{ attempts: 0, last_error: null, lease_owner: null }]);
  });

  it.each([
    ['its chain is gone', 'PRAGMA foreign_keys = OFF; DELETE FROM chain_snapshots', 'its chain is not in the database'],
    ['its request is damaged', `UPDATE runs SET options = '{"tries":1}'`, 'its request does not parse'],
    ['its checkpoint is of another form', '', 'its checkpoint does not parse'],
  ])('counts where %s', async (_what, change, message) => {
    const [running, runId, client] = await resting();
    const other = '{"schema_version":7}';
    const sha256 = createHash('sha256').update(other).digest('hex');
    running.change(change === '' ? `UPDATE run_state SET payload = '${other}', payload_sha256 = '${sha256}'` : change);
    expect((await refusal(client, runId)).message).toContain(message);
    expect(noted(running)).toMatchObject([{ attempts: 1, lease_owner: null }]);
    expect(await client.showRun({ run_id: runId })).toMatchObject({ status: 'suspended' });
  });

  it('counts where its backend is gone', async () => {
    const [running, runId, client] = await resting();
    running.change("UPDATE runs SET provider = 'ollama', options = json_set(options, '$.provider', 'ollama')");
    expect(await refusal(client, runId)).toMatchObject({ code: 'setup_incomplete' });
    expect(noted(running)).toMatchObject([{ attempts: 1 }]);
  });

  it('does not count what says nothing of it: another place, a changed chain, another owner, its end', async () => {
    const [running, runId, client] = await resting();
    const { workspace } = running.place;
    running.change("UPDATE runs SET workspace = '/elsewhere'");
    expect(await refusal(client, runId)).toMatchObject({ code: 'not_resumable_here' });
    running.change(`UPDATE runs SET workspace = '${workspace}', chain_sha256 = chain_sha256 || 'x'`);
    expect(await refusal(client, runId)).toMatchObject({ code: 'resume_chain_changed' });
    expect(noted(running)).toEqual([{ attempts: 0, last_error: null, lease_owner: null }]);
    await client.cancelRun({ run_id: runId, reason: 'test', wait: true });
    expect(await refusal(client, runId)).toMatchObject({ code: 'run_not_resumable' });
  });

  it('does not count a lock of another process, and nothing is half written', async () => {
    const [running, runId, client] = await resting();
    running.change(damage);
    const holder = new Database(join(running.place.dir, 'local.db'));
    holder.exec('BEGIN IMMEDIATE');
    expect((await refusal(client, runId)).message).toBe(`what is stored of ${runId} cannot be used: ${digest}`);
    holder.exec('ROLLBACK');
    holder.close();
    expect(noted(running)).toEqual([{ attempts: 0, last_error: null, lease_owner: null }]);
    expect(existsSync(join(running.place.workspace, 'a'))).toBe(false);
  });
});
