import { afterEach, expect, it } from 'vitest';
import type { FeedEntry } from '../../src/schema/feed.ts';
import { type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

/** One client drives the runs, another one on the same database cancels them. */

let app: ScriptedApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const hanging = { turns: [{ match: {}, reply: { hang: true } }] };

it('ends a run of another process by its name, wherever it stands', async () => {
  app = await scriptedApp(hanging);
  const other = await app.open();
  // One more than there are threads: the last one is queued.
  const ids: string[] = [];
  for (let index = 0; index < 9; index += 1) ids.push((await app.start()).run_id);
  const stuck = await app.start({ variables: { fail_point: 'worker_loop' } });
  for (const run_id of [...ids.toReversed(), stuck.run_id]) {
    await other.cancelRun({ run_id: run_id.slice(-8), reason: 'test', wait: true });
    expect(app.rows('SELECT status FROM runs WHERE id = ?', run_id)).toEqual([{ status: 'cancelled' }]);
    expect(await app.client.awaitRun({ run_id })).toMatchObject({ status: 'cancelled', exit_code: 130 });
    await expect(other.cancelRun({ run_id, reason: 'again', wait: true })).rejects.toMatchObject({
      code: 'run_not_active',
    });
  }
  expect(app.rows("SELECT key FROM kv WHERE key LIKE 'cancel.%'")).toEqual([]);
});

it('only leaves word where nobody waits for the end', async () => {
  app = await scriptedApp(hanging);
  const other = await app.open();
  const { run_id } = await app.start();
  const events = app.events(run_id);
  await other.cancelRun({ run_id, reason: 'enough' });
  expect((await events).at(-1)).toMatchObject({ kind: 'chain_cancelled', by: 'operator:cli', reason: 'enough' });
});

it('ends a run that comes to a process for which there is word already', async () => {
  app = await scriptedApp(hanging);
  // Whatever run begins next: the word for it is there in its first transaction.
  app.change(`CREATE TRIGGER word AFTER INSERT ON runs BEGIN
    INSERT INTO kv VALUES (new.tenant_id, 'cancel.' || new.id, '{"by":"operator:web","reason":"before"}', 0); END`);
  const { run_id } = await app.start();
  expect((await app.client.awaitRun({ run_id })).status).toBe('cancelled');
  app.change('DROP TRIGGER word');
});

it.each(['this process', 'another process'])('ends the turn of %s whose session is deleted by force', async (whose) => {
  app = await scriptedApp(hanging);
  const { run_id } = await app.chat('hi');
  const [session] = await app.client.listSessions({});
  const name = session?.name ?? '';
  const client = whose === 'this process' ? app.client : await app.open();
  await expect(client.deleteSession({ name, force: false })).rejects.toMatchObject({ code: 'in_use' });
  expect(await client.deleteSession({ name, force: true })).toMatchObject({ name });
  expect(await app.client.awaitRun({ run_id })).toMatchObject({ status: 'cancelled' });
  expect(
    app.rows('SELECT (SELECT count(*) FROM sessions) AS sessions, (SELECT count(*) FROM messages) AS messages'),
  ).toEqual([{ sessions: 0, messages: 0 }]);
});

it('gives the feed of this process and of others to whoever follows it, in one order', async () => {
  app = await scriptedApp({ turns: [says('fine')] });
  const other = await app.open();
  const over = new AbortController();
  const kinds = async (client: typeof other): Promise<string[]> => {
    const seen: FeedEntry[] = [];
    for await (const entries of client.watchFeed({ after: 0, signal: over.signal })) {
      seen.push(...entries);
      if (seen.filter(({ kind }) => kind === 'chain_completed').length === 2) break;
    }
    return seen.map(({ cursor, kind }) => `${cursor} ${kind}`);
  };
  const both = Promise.all([kinds(app.client), kinds(other)]);
  await app.run();
  await app.run();
  const [own, others] = await both;
  expect(own.filter((entry) => entry.includes(' chain_'))).toHaveLength(4);
  expect(own).toEqual(others);
});
