import { describe, expect, it } from 'vitest';
import { createLedger } from '../../src/engine/ledger.ts';
import type { Message } from '../../src/schema/message.ts';

const message = (id: string, more: Partial<Message> = {}): Message => ({
  id,
  role: 'user',
  content: 'four',
  timestamp: 't',
  ...more,
});
const called = (id: string, ...calls: string[]): Message =>
  message(id, {
    role: 'assistant',
    tool_calls: calls.map((call) => ({ id: call, type: 'function', function: { name: 'a.b', arguments: '{}' } })),
  });
const answer = (call: string): Message => message(`r${call}`, { role: 'tool', tool_call_id: call });

describe('the messages of a run', () => {
  it('numbers the base, then its own, and writes a history as ranges', () => {
    const ledger = createLedger([message('a'), message('b')], [message('c')]);
    expect(ledger.next).toBe(4);
    const grown = ledger.append(ledger.base, message('d'));
    expect(ledger.ranges(ledger.base.messages)).toEqual([[1, 2]]);
    expect(ledger.ranges(grown.messages)).toEqual([
      [1, 2],
      [4, 4],
    ]);
    expect(
      ledger
        .read([
          [1, 1],
          [3, 4],
        ])
        .map((each) => each.id),
    ).toEqual(['a', 'c', 'd']);
    expect(() => ledger.read([[5, 5]])).toThrow(RangeError);
    expect(() => ledger.ranges([message('x')])).toThrow(RangeError);
  });

  it('keeps the number of a message that it knows, and knows which it does not', () => {
    const ledger = createLedger([], []);
    const one = message('a');
    expect([ledger.add(one), ledger.add(one), ledger.next]).toEqual([1, 1, 2]);
    const two = message('b');
    expect(ledger.unknown([one, two])).toEqual([two]);
  });

  it('sees that a history begins with another one, whole or not at all', () => {
    const ledger = createLedger([message('a'), message('b'), message('c')], []);
    const [a, b, c] = ledger.base.messages;
    if (a === undefined || b === undefined || c === undefined) throw new Error('three messages');
    expect(ledger.sharedHead(ledger.base.messages, [a, b])).toBe(2);
    expect(ledger.sharedHead([a, b], ledger.base.messages)).toBe(0);
    expect(ledger.sharedHead([a, c, b], [a, c])).toBe(2);
    expect(ledger.sharedHead([a, b, c], [a, c])).toBe(0);
    expect(ledger.sharedHead([a, b], [])).toBe(0);
  });

  it('adds up the tokens of known histories from their ranges, and of others one by one', () => {
    const ledger = createLedger([message('a'), message('b', { content: 'x'.repeat(40) })], []);
    expect(ledger.tokens(ledger.base.messages)).toBe(5 + 14);
    expect(ledger.tokens(ledger.append(ledger.base, message('c')).messages)).toBe(24);
    expect(ledger.tokens([message('n')])).toBe(5);
  });

  it('lists the open calls of its own messages only', () => {
    const ledger = createLedger([called('old', 'x')], [called('a', 'y', 'z'), answer('y')]);
    expect(ledger.openCalls().map(({ message, call }) => [message.id, call.id])).toEqual([['a', 'z']]);
    expect([ledger.hasCallId('x'), ledger.hasCallId('z'), ledger.hasCallId('q')]).toEqual([true, true, false]);
  });
});
