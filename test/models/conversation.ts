import type { Image, Message, ToolSpec } from '../../src/schema/message.ts';

/** The same conversation for every wire, so that the bodies can be compared. */
const timestamp = '2026-01-02T10:00:00.000Z';

export const image: Image = { data: 'aW1n', mime_type: 'image/png', sha256: 'x', name: 'cat.png' };

export const readFile: ToolSpec = {
  tools: 'local_fs',
  tool: 'read_file',
  description: 'Reads a file.',
  input_schema: {
    type: 'object',
    properties: { path: { type: 'string', minLength: 1 } },
    required: ['path'],
    additionalProperties: false,
  },
  read_only: true,
};

export const user = (content: string, more: Partial<Message> = {}): Message => ({
  id: 'u',
  role: 'user',
  content,
  timestamp,
  ...more,
});

export const assistant = (content: string, more: Partial<Message> = {}): Message => ({
  id: 'a',
  role: 'assistant',
  content,
  timestamp,
  ...more,
});

export const call = (id: string, args: string, meta?: Record<string, unknown>) => ({
  id,
  type: 'function' as const,
  function: { name: 'local_fs.read_file', arguments: args },
  ...(meta === undefined ? {} : { provider_meta: meta }),
});

export const result = (id: string, content: string, more: Partial<Message> = {}): Message => ({
  id: 'r',
  role: 'tool',
  content,
  timestamp,
  tool_call_id: id,
  tool_name: 'local_fs.read_file',
  ...more,
});

/** A picture, two calls with their results (one failed, one with an image), and a further question. */
export const longTalk: readonly Message[] = [
  user('look', { images: [image] }),
  assistant('', {
    thinking: 'never sent',
    tool_calls: [call('call_1', '{"path":"a"}'), call('call_2', 'not json')],
  }),
  result('call_1', 'text of a', { images: [image] }),
  result('call_2', '{"error":"invalid_arguments"}', { is_error: true }),
  user('and now?'),
];
