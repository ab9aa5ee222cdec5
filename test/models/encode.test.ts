import { describe, expect, it } from 'vitest';
import { createForms, encodeBody, keep } from '../../src/models/encode.ts';
import { wireNames } from '../../src/models/names.ts';
import type { Message } from '../../src/schema/message.ts';

const message = (id: string, content: string): Message => ({ id, role: 'user', content, timestamp: '2026-01-01' });

describe('a request body', () => {
  it.each([
    ['a\ud83d', '"a\ufffd"'],
    ['\ude00a', '"\ufffda"'],
    ['😀', '"😀"'],
    ['\\ud83d', '"\\\\ud83d"'],
    ['\\\ud83d', '"\\\\\ufffd"'],
  ])('holds %j well-formed, wherever it stands', (text, expected) => {
    expect(String(encodeBody(text))).toBe(expected);
    expect(String(encodeBody({ a: text, b: [text, keep({ c: text })] }))).toBe(
      `{"a":${expected},"b":[${expected},{"c":${expected}}]}`,
    );
  });

  it.each([
    [{}],
    [{ a: undefined }],
    [{ a: undefined, b: 1, c: [] }],
    [{ a: [undefined, null, [], {}, 'ü'], b: { c: [keep({ d: 1 })] } }],
    [{ a: keep({ b: 'é' }), c: [keep({ d: [1, { e: '😀' }] }), { f: true }, keep({})] }],
    [[1, 2]],
    [null],
  ])('is what JSON says: %j', (body) => {
    expect(String(encodeBody(body))).toBe(JSON.stringify(body));
  });
});

describe('the form of a message', () => {
  it('is made once for a message and a map of names, and written as it was made', async () => {
    let made = 0;
    const form = createForms(({ content }) => {
      made += 1;
      return { content, made };
    });
    const [first, second] = [message('m1', 'one'), message('m2', 'two')];
    const [names, others] = [await wireNames([]), await wireNames([])];
    expect(names).not.toBe(others);
    for (let turn = 0; turn < 3; turn += 1) {
      const body = { messages: [form(first, names), form(second, names)] };
      expect(JSON.parse(String(encodeBody(body)))).toEqual({
        messages: [
          { content: 'one', made: 1 },
          { content: 'two', made: 2 },
        ],
      });
    }
    expect(form(first, others)).toEqual({ content: 'one', made: 3 });
  });
});
