import { MessageChannel } from 'node:worker_threads';
import { afterEach, expect, it } from 'vitest';
import type { CheckpointRequest, WorkerMessage } from '../../src/schema/protocol.ts';
import { createPortHost, type PortHost } from '../../workers/port-host.ts';

const { port1: main, port2: worker } = new MessageChannel();
const lists: WorkerMessage[][] = [];
let wake = (): void => {};
main.on('message', (list: WorkerMessage[]) => {
  lists.push(list);
  wake();
});
const host: PortHost = createPortHost(worker);

const received = async (count: number): Promise<void> => {
  while (lists.length < count) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
};
const checkpoint = (ahead_of: 'call' | 'model' | 'rest') =>
  // The state is main's to check; the port carries it as it is.
  ({ state: {}, ahead_of }) as unknown as CheckpointRequest;

afterEach(() => {
  lists.length = 0;
});

it('sends a checkpoint in one message with what was emitted before it and the request that it goes ahead of', async () => {
  host.host.emit({ kind: 'step_chunk', task_id: 't', attempt: 1, handler: 'noop', content: 'a', index: 0 } as never);
  await host.host.checkpoint(checkpoint('call'));
  const called = host.host.callTool({ call_id: 'c' } as never);
  await received(1);
  expect(lists[0]?.map((message) => (message.kind === 'request' ? message.op : message.kind))).toEqual([
    'events',
    'checkpoint',
    'callTool',
  ]);
  const request = lists[0]?.at(-1);
  main.postMessage({ kind: 'reply', id: request?.kind === 'request' ? request.id : 0, ok: true, output: 'done' });
  expect(await called).toBe('done');
});

it('sends a checkpoint that nothing follows by itself', async () => {
  await host.host.checkpoint(checkpoint('call'));
  await received(1);
  expect(lists[0]).toMatchObject([{ kind: 'request', op: 'checkpoint' }]);
});

it('waits for the reply to a checkpoint ahead of a model, which travels with the request for the turn', async () => {
  const order: string[] = [];
  const stored = host.host.checkpoint(checkpoint('model')).then(() => order.push('stored'));
  const turn = host.host.openTurn({ task_id: 't' } as never).then(() => order.push('admitted'));
  await received(1);
  const [first, second] = (lists[0] ?? []).flatMap((message) => (message.kind === 'request' ? [message] : []));
  expect([first?.op, second?.op]).toEqual(['checkpoint', 'openTurn']);
  main.postMessage({ kind: 'reply', id: second?.id, ok: true, output: {} });
  main.postMessage({ kind: 'reply', id: first?.id, ok: true, output: null });
  await Promise.all([stored, turn]);
  expect(order).toEqual(['admitted', 'stored']);
});

it('waits for the reply to the checkpoint of a run that rests', async () => {
  let stored = false;
  const resting = host.host.checkpoint(checkpoint('rest')).then(() => {
    stored = true;
  });
  await received(1);
  expect(stored).toBe(false);
  const request = lists[0]?.[0];
  main.postMessage({ kind: 'reply', id: request?.kind === 'request' ? request.id : 0, ok: true, output: null });
  await resting;
});

it('sends the end last, in one message with what was emitted before it', async () => {
  host.host.emit({ kind: 'notice', level: 'info', code: 'c', message: 'm' } as never);
  host.end({ kind: 'cancelled' });
  await received(1);
  expect(lists[0]?.map(({ kind }) => kind)).toEqual(['events', 'end']);
});
