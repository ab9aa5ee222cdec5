import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { tester, type World } from '../cli/world.ts';
import { type BeamProgram, startBeamProgram, withAccessToken } from '../support/beam-program.ts';
import { createCrashWorld, expectSound, rows } from './support.ts';

/** The server is killed while somebody works with it. `npm run crash` does it more often. */

const rounds = process.env['REINS_CRASH_ROUNDS'] === undefined ? 4 : 40;

let world: World;
let server: BeamProgram | undefined;
beforeEach(async () => {
  world = await createCrashWorld();
});
afterEach(async () => {
  await kill();
  world.remove();
});

const start = async (): Promise<BeamProgram> => {
  server = await startBeamProgram(world, [...tester, '--print-link']);
  return server;
};
async function kill(): Promise<void> {
  server?.cli.child.kill('SIGKILL');
  await server?.cli.ended;
  server = undefined;
}

/** Headers of the person that follows the login link. */
async function loggedIn({ url, login_url = '' }: BeamProgram): Promise<Readonly<Record<string, string>>> {
  const headers = { 'content-type': 'application/json', origin: url };
  const body = JSON.stringify({ code: login_url.split('#code=')[1] });
  const answer = await fetch(`${url}/api/auth/link`, { method: 'POST', headers, body });
  return { ...headers, cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
}

test('a message that was accepted is in its session, whatever happens next', async () => {
  for (let round = 1; round <= rounds; round += 1) {
    const { url } = await start();
    const sent = await fetch(`${url}/api/sessions/default/messages`, {
      method: 'POST',
      headers: withAccessToken(world),
      body: JSON.stringify({ text: `message ${round}` }),
    });
    const { run_id } = (await sent.json()) as { readonly run_id?: string };
    await kill();
    expect([sent.status, run_id]).toEqual([202, expect.stringMatching(/^run_/)]);
    expect(
      rows(world, `SELECT payload ->> '$.content' AS text FROM messages WHERE role = 'user' AND run_id = '${run_id}'`),
    ).toEqual([{ text: `message ${round}` }]);
    expectSound(world);
  }
});

describe('a policy that is being written when the server is killed', () => {
  const file = 'hitl-policy-mine.json';
  const directory = () => join(world.home, '.reins');
  const temporaries = () => readdirSync(directory()).filter((name) => name.startsWith(`${file}.tmp-`));
  const stored = () => readFileSync(join(directory(), file), 'utf8');
  // Long enough that writing it takes a while.
  const rules = Array.from({ length: 500 }, (_, index) => ({ tools: 'local_fs', tool: `t${index}`, action: 'deny' }));
  const policy = (timeout_s: number) =>
    JSON.stringify({ default_action: 'approve', rules: [...rules, { tools: 'web', action: 'approve', timeout_s }] });

  /** Writes one after another, and kills the server so long after the third. @returns what was sent until it was gone */
  const writeOn = async (from: BeamProgram, base: number, killMs = 0) => {
    const headers = await loggedIn(from);
    const address = `${from.url}/api/policies/${file}`;
    const before = await fetch(address, { headers });
    let tag = before.headers.get('etag');
    const sent: string[] = [];
    for (;;) {
      const text = policy(base + sent.length + 1);
      sent.push(text);
      if (sent.length === 4) setTimeout(() => void kill(), killMs);
      const condition = { ...(tag === null ? { 'if-none-match': '*' } : { 'if-match': tag }) };
      const change = { method: 'PUT', headers: { ...headers, ...condition }, body: JSON.stringify({ text }) };
      const answer = await fetch(address, change).catch(() => null);
      if (answer === null) return sent;
      expect([answer.status, tag]).toEqual([tag === null ? 201 : 200, tag]);
      tag = answer.headers.get('etag');
    }
  };

  test('is the one before or the one that was sent last', async () => {
    for (let round = 1; round <= rounds; round += 1) {
      const started = await start();
      const sent = await writeOn(started, round * 1_000, (7 * round) % 60);
      await kill();
      expect(sent.length).toBeGreaterThan(3);
      expect(sent.slice(-2)).toContain(stored());
    }
  });

  test('is the one before when the new one was only beside it, which goes with the next server an hour later', async () => {
    const first = await start();
    await writeOn(first, 1_000);
    await kill();
    const before = stored();
    writeFileSync(join(directory(), `${file}.fail-rename`), '');
    expect(await writeOn(await start(), 2_000)).toEqual([policy(2_001)]);
    await kill();
    expect(stored()).toBe(before);
    expect(temporaries().length).toBeGreaterThan(0);
    const old = new Date(Date.now() - 2 * 3_600_000);
    for (const name of temporaries()) utimesSync(join(directory(), name), old, old);
    const last = await start();
    last.cli.child.kill('SIGTERM');
    expect((await last.cli.ended).code).toBe(0);
    expect([temporaries(), stored()]).toEqual([[], before]);
  });
});
