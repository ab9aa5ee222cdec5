import { describe, expect, test } from 'vitest';
import {
  capInput,
  durationMs,
  extractNumber,
  narrow,
  parseRange,
  promptText,
  strictNumber,
} from '../../src/chain/values.ts';
import type { DataType } from '../../src/schema/chain.ts';
import type { Message } from '../../src/schema/message.ts';

const fresh = () => {
  let count = 0;
  const next = (kind: string) => (): string => {
    count += 1;
    return `${kind}${count}`;
  };
  return { messageId: next('m'), callId: next('call_'), timestamp: '2026-01-05T10:00:00.000Z' };
};

const message = (id: string, role: Message['role'], content: string): Message => ({
  id,
  role,
  content,
  timestamp: 't',
});

describe('narrowing', () => {
  const cases: readonly (readonly [unknown, DataType, unknown])[] = [
    [null, 'nil', null],
    [undefined, 'nil', null],
    ['text', 'string', 'text'],
    ['a\ud800b', 'string', 'a\ufffdb'],
    ['😀', 'string', '😀'],
    [true, 'bool', true],
    [12, 'int', 12],
    [-0, 'int', 0],
    [9007199254740991, 'int', 9007199254740991],
    [9007199254740992, 'float', 9007199254740992],
    [0.5, 'float', 0.5],
    [Number.NaN, 'nil', null],
    [[1], 'json', [1]],
    [{ messages: 'no' }, 'json', { messages: 'no' }],
    [{ messages: [{ role: 'friend', content: '' }] }, 'json', { messages: [{ role: 'friend', content: '' }] }],
  ];
  test.each(cases)('%j is %s', (given, type, value) => {
    expect(narrow(given, fresh())).toEqual({ type, value });
  });

  test('a history keeps what belongs to it, and gets the ids and tool names that it lacks', () => {
    const given = {
      messages: [
        { role: 'user', content: 'a', unknown: 1 },
        {
          id: 'x',
          role: 'assistant',
          callTools: [
            { id: 'c1', type: 'function', function: { name: 'web.web_get', arguments: '{}' } },
            { function: { name: 'web.web_get', arguments: '{}' } },
          ],
        },
        { id: 'x', role: 'tool', content: 'r', tool_call_id: 'c1', is_error: true },
      ],
      model: 'm',
      inputTokens: 3,
      outputTokens: 4,
      finishReason: 'stop',
    };
    const timestamp = '2026-01-05T10:00:00.000Z';
    expect(narrow(given, fresh())).toEqual({
      type: 'chat_history',
      value: {
        messages: [
          { id: 'm1', role: 'user', content: 'a', timestamp },
          {
            id: 'x',
            role: 'assistant',
            content: '',
            timestamp,
            tool_calls: [
              { id: 'c1', type: 'function', function: { name: 'web.web_get', arguments: '{}' } },
              { id: 'call_2', type: 'function', function: { name: 'web.web_get', arguments: '{}' } },
            ],
          },
          {
            id: 'm3',
            role: 'tool',
            content: 'r',
            timestamp,
            tool_call_id: 'c1',
            tool_name: 'web.web_get',
            is_error: true,
          },
        ],
        model: 'm',
        input_tokens: 3,
        output_tokens: 4,
        finish_reason: 'stop',
      },
    });
  });

  test('a call id that occurs twice is replaced, and the result behind it follows', () => {
    const call = { id: 'c', type: 'function', function: { name: 'a.b', arguments: '{}' } };
    const result = { role: 'tool', content: 'r', tool_call_id: 'c' };
    const given = {
      messages: [{ role: 'assistant', tool_calls: [call] }, result, { role: 'assistant', tool_calls: [call] }, result],
    };
    const { value } = narrow(given, fresh());
    // A chat_history value holds messages; the assertion below fails for anything else.
    const { messages } = value as { messages: Message[] };
    expect(messages.map((each) => each.tool_calls?.[0]?.id ?? each.tool_call_id)).toEqual([
      'c',
      'c',
      'call_3',
      'call_3',
    ]);
  });

  test('an image on another role than user makes it no history', () => {
    const image = { data: 'aGk=', mime_type: 'image/png', sha256: '0' };
    expect(narrow({ messages: [{ role: 'user', content: 'a', images: [image] }] }, fresh()).type).toBe('chat_history');
    expect(narrow({ messages: [{ role: 'assistant', content: 'a', images: [image] }] }, fresh()).type).toBe('json');
  });

  test('a message of thousands of calls makes it none', () => {
    const historyOf = (count: number) => {
      const tool_calls = Array.from({ length: count }, () => ({ function: { name: 'web.get', arguments: '' } }));
      return narrow({ messages: [{ role: 'assistant', tool_calls }] }, fresh()).type;
    };
    expect([historyOf(1024), historyOf(1025)]).toEqual(['chat_history', 'json']);
  });
});

describe('prompts', () => {
  const cases: readonly (readonly [unknown, DataType, string])[] = [
    ['text', 'string', 'text'],
    [12, 'int', '12'],
    [0.1, 'float', '0.1'],
    [false, 'bool', 'false'],
    [{ a: [1, 'x'] }, 'json', '{"a":[1,"x"]}'],
    [{ messages: [message('1', 'user', 'hi'), message('2', 'assistant', '')] }, 'chat_history', 'hi'],
  ];
  test.each(cases)('%j as %s', (value, type, text) => {
    expect(promptText(value, type)).toBe(text);
  });

  test('that are empty or hold no text are errors', () => {
    expect(() => promptText(' \n', 'string')).toThrow('empty_prompt: ');
    expect(() => promptText(null, 'nil')).toThrow('no_prompt: ');
    expect(() => promptText({ messages: [] }, 'chat_history')).toThrow('no_prompt: ');
  });
});

describe('capping', () => {
  test('cuts text at a character boundary and says so', () => {
    expect(capInput({ type: 'string', value: 'aäb😀c' }, 9)).toEqual({ type: 'string', value: 'aäb😀c' });
    expect(capInput({ type: 'string', value: 'aäb😀c' }, 7)).toEqual({
      type: 'string',
      value: 'aäb\n[cut: 4 of 9 bytes]',
    });
    expect(capInput({ type: 'string', value: 'aäb😀c' }, 2)).toEqual({
      type: 'string',
      value: 'a\n[cut: 1 of 9 bytes]',
    });
  });

  test('keeps the newest units of a history, the oldest kept one without its head', () => {
    const messages = [message('1', 'user', 'aaaa'), message('2', 'assistant', 'bbbb'), message('3', 'user', 'cccc')];
    const kept = (maxBytes: number): unknown => {
      const { value } = capInput({ type: 'chat_history', value: { messages } }, maxBytes);
      // capInput returns the type it was given.
      return (value as { messages: Message[] }).messages.map(({ id, content }) => [id, content]);
    };
    expect(kept(12)).toEqual([
      ['1', 'aaaa'],
      ['2', 'bbbb'],
      ['3', 'cccc'],
    ]);
    expect(kept(10)).toEqual([
      ['1', '[cut: 2 of 4 bytes]\naa'],
      ['2', 'bbbb'],
      ['3', 'cccc'],
    ]);
    expect(kept(8)).toEqual([
      ['2', 'bbbb'],
      ['3', 'cccc'],
    ]);
    expect(kept(1)).toEqual([['3', '[cut: 1 of 4 bytes]\nc']]);
  });

  test('refuses other types above the cap', () => {
    expect(capInput({ type: 'json', value: [1] }, 3)).toEqual({ type: 'json', value: [1] });
    expect(() => capInput({ type: 'json', value: [12] }, 3)).toThrow('has 4 bytes, input_max_bytes allows 3');
  });
});

test('numbers are taken from answers', () => {
  const cases: readonly (readonly [string, number | null])[] = [
    ['The answer is -12 apples', -12],
    [' "42" ', 42],
    ['`1.50`', 1.5],
    ['1e3', 1000],
    ['1e400', null],
    ['about 1,000', 1],
    ['3-5', 3],
    ['none', null],
    ['', null],
    ['9'.repeat(400), null],
  ];
  for (const [text, value] of cases) expect([text, extractNumber(text)]).toEqual([text, value]);
});

test('strict numbers are whole texts', () => {
  expect(strictNumber(' -1.5 ')).toBe(-1.5);
  expect(strictNumber('.5')).toBe(0.5);
  expect(strictNumber('1.')).toBeNull();
  expect(strictNumber('0x10')).toBeNull();
  expect(strictNumber('')).toBeNull();
});

test('durations are Go texts or nanoseconds', () => {
  const cases: readonly (readonly [string | number, number | null])[] = [
    ['500ms', 500],
    ['1m30s', 90_000],
    ['0.5h', 1_800_000],
    ['.5s', 500],
    ['1.s', 1000],
    ['2us', 0.002],
    ['2µs', 0.002],
    ['1500000ns', 1.5],
    [1_000_000, 1],
    ['+1s', 1000],
    ['0s', null],
    ['-1s', null],
    ['1', null],
    ['', null],
    ['s', null],
    ['1s ', null],
    ['1d', null],
    [0, null],
    [-5, null],
    [1.5, null],
  ];
  for (const [text, value] of cases) expect([text, durationMs(text)]).toEqual([text, value]);
});

test('ranges may have negative ends', () => {
  expect(parseRange('-10--2')).toEqual([-10, -2]);
  expect(parseRange(' 1 - 2.5 ')).toEqual([1, 2.5]);
  expect(parseRange('5-1')).toEqual([5, 1]);
  expect(parseRange('5')).toBeNull();
  expect(parseRange('a-b')).toBeNull();
});
