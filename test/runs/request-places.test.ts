import { afterEach, describe, expect, it, vi } from 'vitest';
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { createRequestPlaces } from '../../src/runs/request-places.ts';
import { noFields } from '../registry/rooms.ts';
import { loopChain, type ScriptedApp, scriptedApp } from '../support/scripted-app.ts';
import { type WireServer, wireServer } from '../models/wire-server.ts';

describe('places at a backend', () => {
  it('go to those that wait in their order, and to no other backend', () => {
    const places = createRequestPlaces(2);
    const begun: string[] = [];
    const enter = (name: string, backend = 'a') => places.enter(backend, () => begun.push(name));
    const first = enter('1');
    enter('2');
    enter('3');
    const fourth = enter('4');
    enter('5');
    enter('other', 'b');
    expect(begun).toEqual(['1', '2', 'other']);
    fourth();
    first();
    first();
    expect(begun).toEqual(['1', '2', 'other', '3']);
  });

  it('are free again once all have been given back', () => {
    const places = createRequestPlaces(1);
    let begun = 0;
    for (let round = 0; round < 3; round += 1) {
      const enter = () =>
        places.enter('a', () => {
          begun += 1;
        });
      const [open, waits] = [enter(), enter()];
      waits();
      open();
      waits();
    }
    expect(begun).toBe(3);
  });
});

describe('many runs at once', () => {
  let app: ScriptedApp;
  let server: WireServer;
  let other: WireServer;
  afterEach(async () => {
    await app.close();
    await server.close();
    await other.close();
  });

  const toEnd = { branches: [{ operator: 'default', goto: 'end' }] };
  const answer = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
  };

  it('have at most eight requests at one backend; one that ends or is cancelled keeps no place', async () => {
    const asked: string[] = [];
    const open = new Map<string, ServerResponse>();
    server = await wireServer(({ method, body }, response) => {
      if (method === 'GET') return void response.writeHead(200).end('{"data":[{"id":"m1"}]}');
      const { messages } = body as { messages: { content: string }[] };
      const goal = messages.at(-1)?.content ?? '';
      asked.push(goal);
      open.set(goal, response);
      response.on('close', () => open.delete(goal));
    });
    other = await wireServer(({ method }, response) => {
      if (method === 'GET') response.writeHead(200).end('{"data":[{"id":"m2"}]}');
      else answer(response);
    });
    app = await scriptedApp({ turns: [] });
    await app.client.addBackend({ ...noFields, type: 'openai-compatible', name: 'busy', url: server.url });
    await app.client.addBackend({ ...noFields, type: 'vllm', name: 'calm', url: other.url });
    const start = async (goal: string) => {
      const input = { type: 'string', value: goal } as const;
      const { run_id } = await app.start({ input, model: 'm1', provider: 'openai-compatible' });
      return { run_id, result: app.client.awaitRun({ run_id }) };
    };
    const runs = [];
    for (let one = 1; one <= 8; one += 1) runs.push(await start(`run ${one}`));
    await vi.waitFor(() => expect(open.size).toBe(8), 20_000);
    const late = [];
    for (let one = 9; one <= 12; one += 1) {
      late.push(await start(`run ${one}`));
      await app.seen(late.at(-1)?.run_id ?? '', 'model_selected');
    }
    // Another backend has places of its own.
    expect((await app.run({ model: 'm2', provider: 'vllm' })).text).toBe('hi');
    expect(open.size).toBe(8);
    // Who waits is told so, and who does not is not.
    const told = await app.seen(late.at(-1)?.run_id ?? '', 'notice');
    expect([told.code, told.message]).toEqual([
      'backend_busy',
      'busy has 8 requests to answer; this one begins when one of them ends.',
    ]);
    const inTime =
      "SELECT * FROM events WHERE kind = 'notice' AND run_id IN (SELECT id FROM runs ORDER BY rowid LIMIT 8)";
    expect(app.rows(inTime)).toEqual([]);

    // A task whose time is over while it waits.
    const [task] = loopChain.tasks;
    const brief = join(app.place.dir, 'brief.json');
    writeFileSync(brief, JSON.stringify({ id: 'brief', tasks: [{ ...task, timeout: '300ms', transition: toEnd }] }));
    const timed = await app.run({ model: 'm1', provider: 'openai-compatible', chain_path: brief });
    expect([timed.status, timed.error?.class]).toEqual(['failed', 'timeout']);

    // One that waits is given up, and one that is being answered: the next in line begins, and only that one.
    await app.client.cancelRun({ run_id: late[0]?.run_id ?? '', reason: 'test' });
    expect(await late[0]?.result).toMatchObject({ status: 'cancelled' });
    await app.client.cancelRun({ run_id: runs[0]?.run_id ?? '', reason: 'test' });
    await vi.waitFor(() => expect(asked.at(-1)).toBe('run 10'), 20_000);
    expect([asked.length, open.size]).toEqual([9, 8]);

    // Whoever is answered makes room.
    await vi.waitFor(() => {
      for (const response of open.values()) answer(response);
      expect(asked.length).toBe(11);
    }, 20_000);
    for (const response of open.values()) answer(response);
    const ends = await Promise.all([...runs.slice(1), ...late.slice(1)].map(async ({ result }) => (await result).text));
    expect(ends).toEqual(new Array(10).fill('hi'));
    // Places that are free at once are taken by two threads, and which of them is heard first is theirs.
    expect(asked.slice(8).sort()).toEqual(['run 10', 'run 11', 'run 12']);
  }, 60_000);
});
