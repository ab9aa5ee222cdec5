import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { RuleCandidate } from '../../src/schema/policy-views.ts';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const after = (count: number) => ({ tool: { count } });
const write = (path: string) => call('local_fs.write_file', { path, content: 'x' });
const shell = (command: string) => call('local_shell.local_shell', { command });

/** A model that makes these calls one after another, under the policy that governs without a flag. */
async function withCalls(...list: readonly unknown[]): Promise<ScriptedApp> {
  app = await scriptedApp({ turns: turnsOf(list) });
  return app;
}

function turnsOf(list: readonly unknown[]): readonly unknown[] {
  const later = list.slice(1).map((one, index) => calls([one], after(index + 1)));
  return [says('done', after(list.length)), ...later.reverse(), calls([list[0]])];
}

const userFile = (running: ScriptedApp, name = 'hitl-policy.json') => join(running.place.home, '.reins', name);
function ownPolicy(running: ScriptedApp, text: string): string {
  const path = userFile(running);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

const answer = (id: string, more: object = {}) =>
  ({ id, outcome: 'approve', feedback: null, text: null, remember: null, binding: null, ...more }) as const;
const asRule = (id: string, candidates: readonly RuleCandidate[], candidate: number) =>
  answer(id, { remember: 'rule', rule: { candidate, sha256: candidates[candidate]?.sha256 ?? '' } });

/** Starts a run and resolves with its first ask. */
async function firstAsk(running: ScriptedApp, trust: readonly string[] = []) {
  const { run_id } = await running.start({ policy: null, on_ask: 'wait', trust: [...trust] });
  const { ask_id } = await running.seen(run_id, 'ask');
  return { run_id, ask_id };
}

const directory = (value: string) => ({
  tools: 'local_fs',
  tool: 'write_file',
  when: [{ key: 'path', op: 'path_within', value }],
  action: 'allow',
});

it('writes the rule into a copy of the built-in policy, which governs the run that asked from then on', async () => {
  const running = await withCalls(write('out/a'), write('out/b'));
  const { run_id, ask_id } = await firstAsk(running);
  const path = userFile(running, 'hitl-policy-default.json');
  const proposals = await running.client.proposeRules({ id: ask_id });
  expect(proposals).toMatchObject({ path, copy: 'default', looked_at: 0, none: null });
  expect(proposals.candidates.map(({ kind, rule, index, also_allowed }) => [kind, rule, index, also_allowed])).toEqual([
    [
      'exact',
      {
        tools: 'local_fs',
        tool: 'write_file',
        when: [
          { key: 'path', op: 'eq', value: 'out/a' },
          { key: 'content', op: 'eq', value: 'x' },
          { key: 'path', op: 'path_within', value: 'out/a' },
        ],
        action: 'allow',
      },
      62,
      0,
    ],
    ['directory', directory('out'), 62, 0],
  ]);
  expect(existsSync(path)).toBe(false);
  const { ask } = await running.client.answerAsk(asRule(ask_id, proposals.candidates, 1));
  expect(ask).toMatchObject({ state: 'approved', verdict: { remember: 'rule', by: 'operator:cli' } });
  const result = await running.client.awaitRun({ run_id });
  expect(result.asks).toHaveLength(1);
  expect([
    existsSync(join(running.place.workspace, 'out/a')),
    existsSync(join(running.place.workspace, 'out/b')),
  ]).toEqual([true, true]);
  expect(JSON.parse(readFileSync(path, 'utf8')).rules[62]).toEqual({
    '//': expect.stringMatching(new RegExp(`^added 20.* from ${ask_id}$`)),
    ...directory('out'),
  });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const decided = running.rows(
    `SELECT json_extract(body, '$.record.action') AS action, json_extract(body, '$.record.matched_rule') AS rule,
       json_extract(body, '$.record.policy.path') AS path FROM audit WHERE type = 'decision' ORDER BY seq`,
  );
  expect(decided).toEqual([
    { action: 'approve', rule: 62, path: null },
    { action: 'allow', rule: 62, path },
  ]);
  const noted = running.rows(
    `SELECT type, json_extract(body, '$.ask_id') AS ask, json_extract(body, '$.path') AS path,
       json_extract(body, '$.index') AS place, json_extract(body, '$.by') AS by
     FROM audit WHERE type IN ('rule_added', 'remember', 'verdict') ORDER BY seq`,
  );
  const row = { ask: ask_id, path, place: 62, by: 'operator:cli' };
  expect(noted).toEqual([
    { ...row, type: 'verdict', path: null, place: null },
    { ...row, type: 'remember' },
    { ...row, type: 'rule_added' },
  ]);
});

it.each([
  ['a file', write('way'), 'way'],
  ['a directory', call('local_shell.local_shell', { command: 'touch -c a', cwd: 'way' }), 'touch -c a'],
])('has a rule for one exact call hold for the place that it was given to: %s', async (kind, one, summary) => {
  const running = await withCalls(one, one, write('pause'), one);
  const { workspace } = running.place;
  mkdirSync(join(workspace, 'elsewhere'));
  if (kind === 'a directory') mkdirSync(join(workspace, 'way'));
  const { run_id, ask_id } = await firstAsk(running);
  const { candidates } = await running.client.proposeRules({ id: ask_id });
  expect(candidates[0]?.kind).toBe('exact');
  await running.client.answerAsk(asRule(ask_id, candidates, 0));
  const asked: string[] = [];
  for await (const batch of running.client.watch({ run_id, after: 0, signal: new AbortController().signal })) {
    for (const event of batch) {
      if (event.kind !== 'ask' || event.ask_id === ask_id) continue;
      asked.push((await running.client.showAsk({ id: event.ask_id })).summary);
      if (asked.length === 1) {
        rmSync(join(workspace, 'way'), { recursive: true });
        symlinkSync(kind === 'a directory' ? 'elsewhere' : 'other', join(workspace, 'way'));
      }
      await running.client.answerAsk(answer(event.ask_id, { outcome: asked.length === 1 ? 'approve' : 'deny' }));
    }
  }
  expect(asked).toEqual(['pause', summary]);
});

it('puts the rule below every deny that could match, and changes no other byte of the own file', async () => {
  const running = await withCalls(write('out/a'));
  const guarded = '**/{.*,.*/**,id_*,wallet.dat,*.kdbx,*.keychain-db,_netrc,crontab,Library/**,hitl-policy*.json}';
  const rules = [
    JSON.stringify({ tools: 'local_fs', tool: 'write_file', action: 'approve' }),
    JSON.stringify({ tools: 'local_fs', action: 'deny', when: [{ key: 'path', op: 'glob', value: guarded }] }),
  ];
  const text = `{ "//": "mine",\n  "rules": [\n    ${rules.join(',\n    ')}\n  ]\n}`;
  const path = ownPolicy(running, text);
  const { run_id, ask_id } = await firstAsk(running);
  const { candidates, none } = await running.client.proposeRules({ id: ask_id });
  // Below the deny it would never be reached: the approve above decides.
  expect([candidates, none]).toEqual([[], 'none would let this call through and nothing that was denied before']);
  const turned = text.replace(rules.join(',\n    '), [...rules].reverse().join(',\n    '));
  writeFileSync(path, turned, { mode: 0o600 });
  await expect(running.client.answerAsk(answer(ask_id))).rejects.toMatchObject({ code: 'binding_changed' });
  const now = await running.client.proposeRules({ id: ask_id });
  expect(now).toMatchObject({ path, copy: null });
  expect(now.candidates.map(({ kind, index }) => [kind, index])).toEqual([
    ['exact', 1],
    ['directory', 1],
  ]);
  await running.client.answerAsk(asRule(ask_id, now.candidates, 1));
  await running.client.awaitRun({ run_id });
  const [, , , added = ''] = readFileSync(path, 'utf8').split('\n');
  expect(readFileSync(path, 'utf8').replace(`${added}\n`, '')).toBe(turned);
  expect(JSON.parse(added.replace(/,$/, ''))).toMatchObject(directory('out'));
});

it('never writes a file of the project: a copy of its policy governs then', async () => {
  const text = '{"default_action":"approve","rules":[]}';
  const running = await scriptedApp({ turns: turnsOf([write('out/a'), write('out/b')]), projectPolicy: text });
  app = running;
  const path = join(running.place.workspace, '.reins/hitl-policy.json');
  const { run_id, ask_id } = await firstAsk(running, [createHash('sha256').update(text).digest('hex')]);
  const proposals = await running.client.proposeRules({ id: ask_id });
  expect(proposals).toMatchObject({ path: userFile(running, 'hitl-policy-default.json'), copy: 'default' });
  const place = proposals.candidates.findIndex(({ kind }) => kind === 'exact');
  await running.client.answerAsk(asRule(ask_id, proposals.candidates, place));
  const { ask_id: second } = await (async () => {
    for await (const batch of running.client.watch({ run_id, after: 0, signal: new AbortController().signal })) {
      const found = batch.find((event) => event.kind === 'ask' && event.ask_id !== ask_id);
      if (found?.kind === 'ask') return found;
    }
    throw new Error('the second call asked nobody');
  })();
  expect((await running.client.showAsk({ id: second })).policy.path).toBe(proposals.path);
  await running.client.answerAsk(answer(second, { outcome: 'deny' }));
  await running.client.awaitRun({ run_id });
  expect(readFileSync(path, 'utf8')).toBe(text);
});

it('offers no rule that would have allowed a call that was denied', async () => {
  const running = await withCalls(write('out/a'));
  const { run_id, ask_id } = await firstAsk(running);
  await running.client.answerAsk(answer(ask_id, { outcome: 'deny' }));
  await running.client.awaitRun({ run_id });
  const again = await firstAsk(running);
  expect(await running.client.proposeRules({ id: again.ask_id })).toMatchObject({ candidates: [], looked_at: 1 });
  await running.client.cancelRun({ run_id: again.run_id, reason: 'test' });
  await running.client.awaitRun({ run_id: again.run_id });
});

it('writes nothing when the file has changed since the rule was shown, and the question stays', async () => {
  const running = await withCalls(write('out/a'));
  const path = ownPolicy(running, '{"default_action":"approve","rules":[]}');
  const { run_id, ask_id } = await firstAsk(running);
  const { candidates } = await running.client.proposeRules({ id: ask_id });
  const edited = '{"default_action":"approve","rules":[{"tools":"web","action":"deny"}]}';
  writeFileSync(path, edited, { mode: 0o600 });
  const chosen = asRule(ask_id, candidates, 0);
  const changed = { code: 'binding_changed' };
  await expect(running.client.answerAsk(chosen)).rejects.toMatchObject(changed);
  // The question is about the new policy now; the rule was shown for the old one.
  await expect(running.client.answerAsk(chosen)).rejects.toMatchObject(changed);
  expect(readFileSync(path, 'utf8')).toBe(edited);
  expect((await running.client.showAsk({ id: ask_id })).state).toBe('pending');
  expect(running.rows("SELECT seq FROM audit WHERE type IN ('rule_added', 'remember')")).toEqual([]);
  await running.client.answerAsk(answer(ask_id, { outcome: 'deny' }));
  await running.client.awaitRun({ run_id });
});

it.each([
  ['a file that looks like a secret', write('out/.env')],
  ['a file that runs code later', write('.vscode/tasks.json')],
  ['a line that cannot be read', shell('cat <(')],
])('offers none for %s, and says why', async (_name, one) => {
  const running = await withCalls(one);
  ownPolicy(running, '{"default_action":"approve","rules":[]}');
  const { run_id, ask_id } = await firstAsk(running);
  expect(await running.client.proposeRules({ id: ask_id })).toMatchObject({ candidates: [], none: expect.any(String) });
  await running.client.answerAsk(answer(ask_id, { outcome: 'deny' }));
  await running.client.awaitRun({ run_id });
});

it('offers for what a rule about commands asks about nothing but the very call', async () => {
  const running = await withCalls(shell('rm -rf dist'));
  const { run_id, ask_id } = await firstAsk(running);
  const { candidates } = await running.client.proposeRules({ id: ask_id });
  expect(candidates.map(({ kind }) => kind)).toEqual(['exact']);
  await running.client.cancelRun({ run_id, reason: 'enough' });
});

it('SEM-008: names one entry for each command of a line, and never the line', async () => {
  const running = await withCalls(
    shell('touch -c one && mkdir -p two'),
    shell('mkdir -p two three && touch -c one four'),
  );
  const { run_id, ask_id } = await firstAsk(running);
  const { candidates } = await running.client.proposeRules({ id: ask_id });
  expect(candidates.map(({ kind, rule }) => [kind, rule.when?.[0]?.value])).toEqual([
    ['prefix', 'touch -c one, mkdir -p two'],
  ]);
  await running.client.answerAsk(asRule(ask_id, candidates, 0));
  expect((await running.client.awaitRun({ run_id })).asks).toHaveLength(1);
  expect(existsSync(join(running.place.workspace, 'three'))).toBe(true);
});

it('SEM-008: covers no other line that begins like the one that was approved', async () => {
  const running = await withCalls(shell('cd src && touch one'), shell('touch two'), shell('cd / && rm -rf src'));
  mkdirSync(join(running.place.workspace, 'src'));
  const { run_id, ask_id } = await firstAsk(running);
  const { candidates } = await running.client.proposeRules({ id: ask_id });
  expect(candidates).toEqual([]);
  await running.client.answerAsk(answer(ask_id, { remember: 'session' }));
  const asked: string[] = [];
  for await (const batch of running.client.watch({ run_id, after: 0, signal: new AbortController().signal })) {
    for (const event of batch) {
      if (event.kind !== 'ask' || event.ask_id === ask_id) continue;
      asked.push(event.summary);
      await running.client.answerAsk(answer(event.ask_id, { outcome: 'deny' }));
    }
  }
  expect(asked).toEqual(['touch two', 'cd / && rm -rf src']);
  expect(existsSync(join(running.place.workspace, 'src'))).toBe(true);
});

it('SEM-009: a rule for a path with blanks and quotes covers the same call again, and none is offered for a line end', async () => {
  const odd = write('a "b" \'c\'  d ');
  const running = await withCalls(odd, odd, write('a'), write('a "b"\n  d'));
  const { run_id, ask_id } = await firstAsk(running);
  const { candidates } = await running.client.proposeRules({ id: ask_id });
  await running.client.answerAsk(asRule(ask_id, candidates, 0));
  const other: string[] = [];
  for await (const batch of running.client.watch({ run_id, after: 0, signal: new AbortController().signal })) {
    for (const event of batch) {
      if (event.kind !== 'ask' || event.ask_id === ask_id) continue;
      other.push(event.summary);
      await running.client.answerAsk(answer(event.ask_id, { outcome: 'deny' }));
    }
  }
  expect(other).toEqual(['a']);
  const states = running.rows('SELECT state FROM tool_calls WHERE run_id = ? ORDER BY seq', run_id);
  expect(states.map(({ state }) => state)).toEqual(['done', 'done', 'skipped', 'skipped']);
});

it('names the host of a request, and offers no rule that is too long to be read', async () => {
  const long = call('local_fs.write_file', { path: 'long', content: 'x'.repeat(20_000) });
  const running = await withCalls(call('web.web_get', { url: 'https://api.example.test/x' }), long);
  const { run_id, ask_id } = await firstAsk(running);
  const { candidates } = await running.client.proposeRules({ id: ask_id });
  expect(candidates.map(({ kind }) => kind)).toEqual(['exact', 'host']);
  expect(candidates[1]?.rule.when).toEqual([{ key: 'url', op: 'host', value: 'api.example.test' }]);
  await running.client.answerAsk(answer(ask_id, { outcome: 'deny' }));
  for await (const batch of running.client.watch({ run_id, after: 0, signal: new AbortController().signal })) {
    const next = batch.find((event) => event.kind === 'ask' && event.ask_id !== ask_id);
    if (next?.kind !== 'ask') continue;
    expect((await running.client.proposeRules({ id: next.ask_id })).candidates).toEqual([]);
    await running.client.answerAsk(answer(next.ask_id, { outcome: 'deny' }));
    break;
  }
  await running.client.awaitRun({ run_id });
});
