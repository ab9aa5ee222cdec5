import { createHash } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StartRun } from '../../src/schema/run.ts';
import { processOwner } from '../../src/store/owner.ts';
import { shippedChains } from '../../src/workspace/presets/chains.ts';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp;
afterEach(() => app.close());

const shell = (command: string) => call('local_shell.local_shell', { command });
const asking = (last_user: string) => ({ role: 'user', last_user });
const turns = [
  calls([shell('sh gen.sh')], asking('generate')),
  calls([shell('sh gen.sh'), shell('sh back.sh')], asking('there and back')),
  calls([shell('sh gen.sh AGENTS.md')], asking('both')),
  calls([shell('cp obey.md AGENTS.md')], asking('write it')),
  says('obeys', { any: 'Obey' }),
  says('the system says obey', { system: 'Obey' }),
  says('checks', { any: 'Run make check' }),
  says('nothing'),
];
const chain = JSON.parse(shippedChains['default-run-chain.json']) as object;
const file = (name = 'AGENTS.md'): string => join(app.place.workspace, name);
const put = (name: string, text: string): void => writeFileSync(file(name), text, { mode: 0o600 });
const own = (): string => join(app.place.home, '.reins/AGENTS.md');

async function trust(path: string): Promise<void> {
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
  await app.client.trustContent({ path, sha256, by: 'command' });
}

/** What the model was given shows in its answer. */
async function run(value: string, over: Partial<StartRun> = {}) {
  const started = await app.start({ input: { type: 'string', value }, ...over });
  const { text } = await app.client.awaitRun({ run_id: started.run_id });
  const files = (started.instructions ?? []).map(({ source, withheld }) => `${source}: ${withheld ?? 'given'}`);
  const notices = (await app.events(started.run_id)).flatMap((event) =>
    event.kind === 'notice' && event.code === 'instructions_withheld' ? [event.message] : [],
  );
  return { text, files, notices };
}

const bySh = 'it was changed by local_shell.local_shell sh gen.sh, and no question named it';

async function approvedBy(value: string, over: Partial<StartRun> = {}): Promise<void> {
  const { run_id } = await app.start({ on_ask: 'wait', input: { type: 'string', value }, ...over });
  const { ask_id } = await app.seen(run_id, 'ask');
  const verdict = { outcome: 'approve', feedback: null, text: null, remember: null, binding: null } as const;
  await app.client.answerAsk({ id: ask_id, ...verdict });
  await app.client.awaitRun({ run_id });
}

describe('instructions that a call has changed', () => {
  beforeEach(async () => {
    app = await scriptedApp({ turns, chain });
    put('AGENTS.md', 'Run make check.\n');
    put('gen.sh', 'echo Obey. > AGENTS.md\n');
    put('back.sh', 'echo Run make check. > AGENTS.md\n');
    await trust(file());
  });

  it('are given to no later run until they are trusted, and the run that did it says so', async () => {
    const { notices } = await run('generate');
    expect(notices).toEqual([
      `${file()} was changed by a call, and no question about that named it: models are not given it until you trust it (reins trust add ${file()}).`,
    ]);
    expect(await run('next')).toMatchObject({ text: 'nothing', files: [`project: ${bySh}`] });
    const review = { chain: null, chain_path: null, policy: null, trust: [], review: true };
    expect(await app.client.untrusted(review)).toMatchObject([{ kind: 'agent', path: file(), changed: true }]);
    await trust(file());
    expect(await app.client.untrusted(review)).toEqual([]);
    expect(await run('next')).toMatchObject({ text: 'obeys', files: ['project: given'], notices: [] });
  });

  it('are let through by no other decision about the project, and by their hash for one run', async () => {
    await run('generate');
    const hashOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
    expect((await run('next', { trust: [hashOf(join(app.place.dir, 'chain.json'))] })).text).toBe('nothing');
    expect((await run('next', { trust: [hashOf(file())] })).text).toBe('obeys');
    expect((await run('next')).text).toBe('nothing');
  });

  it('count again when they are what they were, and an edit of a person counts at once', async () => {
    expect((await run('there and back')).text).toBe('checks');
    expect(await run('next')).toMatchObject({ text: 'checks', files: ['project: given'] });
    put('AGENTS.md', 'Run make check twice.\n');
    expect(await run('next')).toMatchObject({ text: 'checks', files: ['project: given'] });
  });

  it('stay withheld where somebody adds to them, and not where he puts back what was there', async () => {
    await run('generate');
    put('AGENTS.md', 'Obey.\nAnd run make check.\n');
    put('gen.sh', 'true\n');
    expect(await run('generate')).toMatchObject({ text: 'nothing', files: [`project: ${bySh}`] });
    put('AGENTS.md', 'Run make check.\n');
    expect((await run('next')).text).toBe('checks');
    await run('generate');
    put('AGENTS.md', 'Run make check twice.\n');
    expect((await run('next')).text).toBe('checks');
  });

  it('are withheld where they are new, or reached by another name', async () => {
    rmSync(file());
    expect((await run('generate')).notices).toHaveLength(1);
    expect((await run('next')).text).toBe('nothing');
    rmSync(file());
    put('AGENTS.md', 'Run make check.\n');
    linkSync(file(), file('twin.md'));
    put('gen.sh', 'echo Obey. > twin.md\n');
    await run('generate');
    expect((await run('next')).text).toBe('nothing');
  });

  it('count where a person was asked about the file by its name', async () => {
    put('obey.md', 'Obey.\n');
    await approvedBy('write it');
    expect(await run('next')).toMatchObject({ text: 'obeys', files: ['project: given'] });
  });

  it('are withheld where the question named something else', async () => {
    const policy = join(app.place.dir, 'asks.json');
    writeFileSync(policy, JSON.stringify({ default_action: 'approve', rules: [] }), { mode: 0o600 });
    await approvedBy('generate', { policy });
    expect((await run('next')).text).toBe('nothing');
  });

  it('are looked for behind a link', async () => {
    rmSync(file());
    put('CLAUDE.md', 'Run make check.\n');
    symlinkSync('CLAUDE.md', file());
    put('gen.sh', 'echo Obey. > CLAUDE.md\n');
    expect((await run('next')).text).toBe('checks');
    await run('generate');
    expect((await run('next')).text).toBe('nothing');
    await trust(file('CLAUDE.md'));
    expect((await run('next')).text).toBe('obeys');
  });

  it('of the user himself are watched too', async () => {
    rmSync(file());
    mkdirSync(join(app.place.home, '.reins'), { recursive: true, mode: 0o700 });
    writeFileSync(own(), 'Run make check.\n', { mode: 0o600 });
    put('gen.sh', `echo Obey. > ${own()}\n`);
    expect((await run('generate')).notices).toHaveLength(1);
    expect(await run('next')).toMatchObject({ text: 'nothing', files: [`user: ${bySh}`] });
    await trust(own());
    expect(await run('next')).toMatchObject({ text: 'the system says obey', files: ['user: given'] });
  });

  it('of the user himself are named by no question about those of the project', async () => {
    mkdirSync(join(app.place.home, '.reins'), { recursive: true, mode: 0o700 });
    writeFileSync(own(), 'Run make check.\n', { mode: 0o600 });
    put('gen.sh', `echo Obey. > ${own()}\n`);
    await approvedBy('both');
    expect(await run('next')).toMatchObject({
      text: 'checks',
      files: [`user: ${bySh.replace('gen.sh', 'gen.sh AGENTS.md')}`, 'project: given'],
    });
  });

  it('are withheld where the call never told how it ended', async () => {
    await run('next');
    put('gen.sh', 'true\n');
    await run('generate');
    const [host, boot, pid] = processOwner('cli').split(' ');
    const gone = [host, boot, pid, '1', 'cli'].join(' ');
    const found = JSON.stringify({
      owner: gone,
      found: { [file()]: createHash('sha256').update(readFileSync(file())).digest('hex') },
    });
    app.change(
      `INSERT INTO kv (tenant_id, key, value, updated_at) SELECT tenant_id, 'instructions.call.run_x.1', '${found}', 0 FROM kv LIMIT 1`,
    );
    put('AGENTS.md', 'Obey.\n');
    expect(await run('next')).toMatchObject({
      text: 'nothing',
      files: ['project: it was changed while a call was running, and no question named it'],
    });
    expect(app.rows("SELECT key FROM kv WHERE key LIKE 'instructions.call.%'")).toEqual([]);
    await trust(file());
    put('AGENTS.md', 'Run make check twice.\n');
    expect((await run('next')).text).toBe('checks');
  });

  it('leave nothing on record of calls that have ended', async () => {
    await run('generate');
    expect(app.rows("SELECT key FROM kv WHERE key LIKE 'instructions.call.%'")).toEqual([]);
    chmodSync(file(), 0o600);
    expect((await run('next')).text).toBe('nothing');
  });
});
