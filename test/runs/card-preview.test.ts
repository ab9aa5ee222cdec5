import { afterEach, expect, it } from 'vitest';
import type { Ask } from '../../src/schema/ask.ts';
import { askCard } from '../../src/view/ask-card.ts';
import { cardData } from '../../src/view/card-data.ts';
import { call, calls, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';

let app: ScriptedApp | undefined;
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const line = 'ssh -V\ntouch two | sh';
const shell = call('local_shell.local_shell', { command: line });

const verdict = (id: string) => ({ id, feedback: null, text: null, remember: null, binding: null });

it('tells what a request would take along: the names of its headers, and how much', async () => {
  const args = {
    url: 'http://93.184.216.34:8080/in?a=1',
    headers: { 'X-Key': 'k-value', Accept: '*/*' },
    body: 'größe',
  };
  const running = await scriptedApp({
    turns: [says('done', { tool: { count: 1 } }), calls([call('web.web_post', args)])],
    policy: { default_action: 'approve', rules: [] },
  });
  app = running;
  const { run_id } = await running.start({ on_ask: 'suspend' });
  await running.client.awaitRun({ run_id });
  const { asks } = await running.client.listAsks({
    ...{ state: 'pending', kind: null, session: null, mission: null, by: null, limit: 10 },
  });
  const ask = await running.client.showAsk({ id: asks[0]?.id ?? '' });
  expect(ask.preview.url).toEqual({
    scheme: 'http',
    host: '93.184.216.34',
    port: '8080',
    path: '/in?a=1',
    method: 'POST',
    headers: ['X-Key', 'Accept'],
    body_bytes: 7,
  });
  const url = askCard(ask, Date.now()).parts.find(({ label }) => label === 'url');
  expect(url?.lines).toEqual(['POST http://93.184.216.34:8080/in?a=1', 'headers X-Key, Accept; body 7 B']);
});

it('tells how a host reads in other letters, and which model asks', async () => {
  const running = await scriptedApp({
    turns: [says('done', { tool: { count: 1 } }), calls([call('web.web_get', { url: 'http://b\u00fccher.example/' })])],
    policy: { default_action: 'approve', rules: [] },
  });
  app = running;
  const { run_id } = await running.start({ on_ask: 'suspend' });
  const { model, backend } = await running.client.awaitRun({ run_id });
  const { asks } = await running.client.listAsks({
    ...{ state: 'pending', kind: null, session: null, mission: null, by: null, limit: 10 },
  });
  const ask = await running.client.showAsk({ id: asks[0]?.id ?? '' });
  const lines = (label: string) => askCard(ask, Date.now()).parts.find((part) => part.label === label)?.lines;
  expect(lines('url')).toEqual(['GET http://xn--bcher-kva.example:80/', 'in Unicode: b\u00fccher.example']);
  expect(lines('from')?.join(' ')).toContain(`, ${model} at ${backend}`);
  expect(cardData(ask, Date.now(), null).who).toMatchObject({ session: null, plan: null, step: null, model, backend });
});

it('tells each command of a line whose loop has more readings than a card shows', async () => {
  const running = await scriptedApp({
    turns: [
      says('done', { tool: { count: 1 } }),
      calls([
        call('local_shell.local_shell', {
          command: `for f in ${Array.from({ length: 50 }, (_, at) => `f${at}`).join(' ')}; do touch $f; done; rm x; sh -c 'touch y'`,
        }),
      ]),
    ],
    policy: { default_action: 'approve', rules: [] },
  });
  app = running;
  const { run_id } = await running.start({ on_ask: 'suspend' });
  await running.client.awaitRun({ run_id });
  const { asks } = await running.client.listAsks({
    ...{ state: 'pending', kind: null, session: null, mission: null, by: null, limit: 10 },
  });
  const { commands } = (await running.client.showAsk({ id: asks[0]?.id ?? '' })).preview;
  const own = commands?.first.filter(({ revealed }) => !revealed).map(({ words }) => words);
  expect(own).toEqual([
    ['touch', 'f49'],
    ['rm', 'x'],
    ['sh', '-c', 'touch y'],
  ]);
  expect(commands?.first).toHaveLength(40);
});

it('stores with an ask what its card tells of each command, how often it was asked, and what was edited', async () => {
  const running = await scriptedApp({
    turns: [says('done', { tool: { count: 2 } }), calls([shell], { tool: { count: 1 } }), calls([shell])],
    policy: { default_action: 'approve', rules: [{ tools: 'echo', tool: '*', action: 'allow' }] },
  });
  app = running;
  const { client } = running;
  const { run_id } = await running.start({ on_ask: 'wait' });
  const seen: Ask[] = [];
  for await (const batch of client.watch({ run_id, after: 0, signal: new AbortController().signal })) {
    for (const event of batch) {
      if (event.kind !== 'ask') continue;
      const ask = await client.showAsk({ id: event.ask_id });
      seen.push(ask);
      // The first is approved and made once more; the second is edited, and the new one denied.
      if (seen.length === 2) await client.editAsk({ id: ask.id, args: { command: 'touch three' }, binding: null });
      else await client.answerAsk({ ...verdict(ask.id), outcome: seen.length === 1 ? 'approve' : 'deny' });
    }
    if (seen.length === 3) break;
  }
  await client.awaitRun({ run_id });
  const [first, second, third] = seen.map(({ preview }) => preview);
  const command = (...words: readonly string[]) => expect.objectContaining({ words, revealed: false });
  expect(first).toMatchObject({
    rules: 1,
    // What `sh` reads from another program is more than the line shows.
    commands: { total: null, first: [command('ssh', '-V'), command('touch', 'two'), command('sh')] },
    flags: [
      { flag: 'network', what: 'ssh', lines: [1] },
      { flag: 'runs_code', what: 'sh', lines: [2] },
    ],
  });
  expect([first?.repeat, second?.repeat, third?.repeat]).toEqual([undefined, 2, undefined]);
  expect(third?.anew).toEqual({ edited: true, args: { command: line }, why: [] });
});
