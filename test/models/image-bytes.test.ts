import { expect, it } from 'vitest';
import type { Message } from '../../src/schema/message.ts';
import { collect, oneHarness, request, sends } from './wire-server.ts';

const test = oneHarness();

const mib = 1024 * 1024;
const message = (id: string, more: Partial<Message>): Message => ({
  id,
  role: 'user',
  content: id,
  timestamp: '2026-01-02T10:00:00.000Z',
  ...more,
});
const image = (name: string, bytes: number) => ({
  data: Buffer.alloc(bytes).toString('base64'),
  mime_type: 'image/png',
  sha256: name,
  name,
});
const reply = 'data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

/** What a message of the request holds: its text, and how many images. */
const held = ({ content }: { content: string | { type: string; text?: string }[] }): unknown =>
  typeof content === 'string' ? content : [content[0]?.text, content.filter(({ type }) => type !== 'text').length];

it('sends the newest 20 MiB of images, and says of older ones that they are left out', async () => {
  const { model } = await test.start('openai-compatible', sends('openai-compatible', reply));
  const messages = [
    message('first', { images: [image('a.png', 6 * mib), image('b.png', 6 * mib)] }),
    message('seen', { role: 'assistant' }),
    message('second', { images: [image('c.png', 3)] }),
    message('seen too', { role: 'assistant' }),
    message('third', { images: [image('d.png', 6 * mib), image('e.png', 6 * mib)] }),
  ];
  await collect(model, request({ messages }));
  expect((test.body()['messages'] as never[]).map(held)).toEqual([
    ['first\n[image a.png, 6291456 bytes, left out of a long talk]', 1],
    'seen',
    ['second', 1],
    'seen too',
    ['third', 2],
  ]);
}, 20_000);
