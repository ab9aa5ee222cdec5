import { describe, expect, it } from 'vitest';
import { createListWriter, encodeBody, keep } from '../../src/models/encode.ts';
import type { Message } from '../../src/schema/message.ts';

const message = (id: string, content = id): Message => ({ id, role: 'user', content, timestamp: '2026-01-01' });
const bodyText = (body: unknown): string => String(Buffer.concat(encodeBody(body)));

describe('a request body', () => {
  it.each([
    ['a\ud83d', '"a\ufffd"'],
    ['\ude00a', '"\ufffda"'],
    ['😀', '"😀"'],
    ['\\ud83d', '"\\\\ud83d"'],
    ['\\\ud83d', '"\\\\\ufffd"'],
  ])('holds %j well-formed, wherever it stands', (text, expected) => {
    expect(bodyText(text)).toBe(expected);
    const list = createListWriter(({ content }) => ({ content }))([], [message('m', text)], {});
    expect(bodyText({ a: text, b: [text], c: keep({ d: text }), list })).toBe(
      `{"a":${expected},"b":[${expected}],"c":{"d":${expected}},"list":[{"content":${expected}}]}`,
    );
  });

  it.each([
    [{}],
    [{ a: undefined }],
    [{ a: undefined, b: 1, c: [] }],
    [{ a: [undefined, null, [], {}, 'ü'], b: { c: 1 } }],
    [{ a: keep({ b: 'é' }), c: keep([{ d: [1, { e: '😀' }] }]), f: true }],
    [{ a: keep([]) }],
    [[1, 2]],
    [null],
  ])('is what JSON says: %j', (body) => {
    expect(bodyText(body)).toBe(JSON.stringify(body));
  });
});

describe('a list of messages', () => {
  it('is written whole, however it came to be; what stood in the request before is not made again', () => {
    const made: string[] = [];
    const write = createListWriter(
      ({ id, content }) => {
        made.push(id);
        return { content };
      },
      ({ content }) => content.length,
    );
    const names = {};
    const [one, two, three] = [message('one'), message('twö'), message('😀'.repeat(500))];
    const look = (head: readonly string[], messages: readonly Message[], under = names): string[] => {
      made.length = 0;
      const list = write(
        head.map((content) => ({ content })),
        messages,
        under,
      );
      const contents = [...head, ...messages.map(({ content }) => content)];
      expect(bodyText({ list })).toBe(JSON.stringify({ list: contents.map((content) => ({ content })) }));
      expect(list.weight).toBe(contents.join('').length);
      return [...made];
    };
    expect(look([], [])).toEqual([]);
    expect(look(['system'], [])).toEqual([]);
    expect(look([], [one])).toEqual(['one']);
    expect(look(['system'], [one, two])).toEqual(['twö']);
    expect(look(['another'], [one, two, three])).toEqual([three.id]);
    expect(look([], [one, two, three])).toEqual([]);
    expect(look([], [one, two])).toEqual(['one', 'twö']);
    expect(look([], [one, two, message('four')])).toEqual(['four']);
    expect(look([], [two])).toEqual(['twö']);
    expect(look([], [two], {})).toEqual(['twö']);
  });

  it('stays what it was when a longer one is written behind it', () => {
    const write = createListWriter(({ content }) => ({ content }));
    const names = {};
    const messages = Array.from({ length: 60 }, (_, index) => message(`m${index}`));
    const bodies = messages.map((_, index) => encodeBody({ list: write([], messages.slice(0, index + 1), names) }));
    bodies.forEach((body, index) => {
      const expected = messages.slice(0, index + 1).map(({ content }) => ({ content }));
      expect(JSON.parse(String(Buffer.concat(body)))).toEqual({ list: expected });
    });
  });
});
