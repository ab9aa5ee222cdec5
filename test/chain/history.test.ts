import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutBefore, repairHistory, units } from '../../src/chain/history.ts';
import { shiftHistory } from '../../src/chain/shift.ts';
import { historyTokens, messageTokens, toolsTokens } from '../../src/chain/tokens.ts';
import { estimateTokens } from '../../src/text/tokens.ts';
import type { Message, ToolCallPart } from '../../src/schema/message.ts';

let count = 0;
const say = (role: 'system' | 'user' | 'assistant', content: string): Message => {
  count += 1;
  return { id: `m${count}`, role, content, timestamp: 't' };
};
const call = (id: string): ToolCallPart => ({
  id,
  type: 'function',
  function: { name: 'local_fs.grep', arguments: '{}' },
});
const asks = (...ids: readonly string[]): Message => ({ ...say('assistant', ''), tool_calls: ids.map(call) });
const result = (id: string, content = 'r'): Message => {
  count += 1;
  return { id: `m${count}`, role: 'tool', content, timestamp: 't', tool_call_id: id };
};

/** A history in short: `s u a`, calls as `a(1,2)`, results as `r1`. */
const short = (messages: readonly Message[]): string =>
  messages
    .map(({ role, tool_calls, tool_call_id, content }) => {
      if (role === 'tool') return `r${tool_call_id}`;
      if (content.startsWith('[')) return content;
      return role.charAt(0) + (tool_calls === undefined ? '' : `(${tool_calls.map(({ id }) => id).join(',')})`);
    })
    .join(' ');

describe('estimates', () => {
  test('count ASCII by four and other characters by one', () => {
    expect(estimateTokens('')).toBe(0);
    expect(estimateTokens('abcd')).toBe(1);
    expect(estimateTokens('abcde')).toBe(2);
    expect(estimateTokens('äö😀')).toBe(3);
    expect(estimateTokens('aä')).toBe(2);
  });

  test('count contents, calls and images of a message, not its thinking', () => {
    expect(messageTokens({ ...say('user', 'abcdefgh'), thinking: 'x'.repeat(100) })).toBe(6);
    expect(messageTokens(asks('1'))).toBe(4 + 4 + 1);
    expect(messageTokens({ ...say('user', ''), images: [{ data: 'x', mime_type: 'image/png', sha256: '' }] })).toBe(
      1004,
    );
    expect(historyTokens([say('user', ''), say('user', 'abcd')])).toBe(9);
  });

  test('count the JSON of tools', () => {
    const spec = { tools: 'a', tool: 'b', description: 'c', input_schema: {}, read_only: true };
    expect(toolsTokens([])).toBe(0);
    // {"name":"a.b","description":"c","parameters":{}} has 48 characters.
    expect(toolsTokens([spec, { ...spec }])).toBe(24);
  });
});

describe('units', () => {
  test('hold calls and results together', () => {
    const messages = [
      say('system', 's'),
      say('user', 'u'),
      asks('1', '2'),
      result('1'),
      result('2'),
      say('assistant', 'a'),
    ];
    expect(units(messages)).toEqual([
      { kind: 'system', start: 0, end: 1 },
      { kind: 'user', start: 1, end: 2 },
      { kind: 'exchange', start: 2, end: 5 },
      { kind: 'other', start: 5, end: 6 },
    ]);
  });
});

test('compaction cuts before a unit, never inside one', () => {
  const messages = [say('user', 'u'), asks('1', '2'), result('1'), result('2'), say('assistant', 'a')];
  expect([0, 1, 2, 3, 4, 5, 9].map((keep) => cutBefore(messages, keep))).toEqual([5, 4, 1, 1, 1, 0, 0]);
});

describe('repair', () => {
  const repair = (messages: readonly Message[]) => {
    const repaired = repairHistory(messages, ({ id }) => result(id, 'interrupted'));
    return [short(repaired.messages), repaired.added.length, repaired.dropped.length, repaired.changed];
  };

  test('leaves a whole history alone', () => {
    const messages = [say('user', 'u'), asks('1', '2'), result('1'), result('2'), say('assistant', 'a')];
    expect(repairHistory(messages, () => result('x')).messages).toBe(messages);
  });

  test('gives each call one result, in call order', () => {
    expect(repair([asks('1', '2'), result('2')])).toEqual(['a(1,2) r1 r2', 1, 0, true]);
    expect(repair([asks('1', '2'), result('2'), result('1')])).toEqual(['a(1,2) r1 r2', 0, 0, true]);
    expect(repair([asks('1'), say('user', 'u'), result('1')])).toEqual(['a(1) r1 u', 0, 0, true]);
    expect(repair([result('1'), asks('1')])).toEqual(['a(1) r1', 0, 0, true]);
    expect(repair([asks('1', '1'), result('1'), result('1')])).toEqual(['a(1,1) r1 r1', 1, 1, true]);
  });

  test('drops results without call and second results', () => {
    expect(repair([result('9'), asks('1'), result('1'), result('1', 'again')])).toEqual(['a(1) r1', 0, 2, true]);
    const first = result('1', 'first');
    expect(repairHistory([asks('1'), first, result('1', 'again')], () => result('x')).messages[1]).toBe(first);
  });
});

describe('shift', () => {
  const parts = {
    gap: (content: string): Message => ({ id: 'gap', role: 'user', content, timestamp: 't' }),
    shorten: (message: Message, maxBytes: number): Message => ({
      ...message,
      content: message.content.slice(0, maxBytes),
    }),
  };
  const words = (tokens: number): string => 'x'.repeat((tokens - 4) * 4);

  test('leaves alone what fits', () => {
    const messages = [say('user', 'u')];
    expect(shiftHistory(messages, 5, parts)).toEqual({ kind: 'fits', messages, tokens: 5 });
  });

  test('keeps system messages, the first user message and the newest units that fit, and marks the gap', () => {
    const messages = [
      say('system', words(10)),
      say('user', words(10)),
      say('assistant', words(10)),
      asks('1'),
      result('1', words(30)),
      say('assistant', words(10)),
      say('user', words(10)),
    ];
    // The line of the gap needs 12 tokens: 40 for what is kept always and the newest, 52 with the line.
    const shifted = shiftHistory(messages, 55, parts);
    expect(shifted).toMatchObject({
      kind: 'shifted',
      dropped_messages: 3,
      kept_messages: 4,
      before_tokens: 89,
      after_tokens: 52,
    });
    expect(shifted.kind === 'shifted' && short(shifted.messages)).toBe('s u [earlier messages left out: 3] a u');
  });

  test('stops at the first unit that does not fit, though an older one would', () => {
    const messages = [
      say('user', words(10)),
      say('assistant', words(5)),
      say('assistant', words(90)),
      say('user', words(10)),
    ];
    const shifted = shiftHistory(messages, 60, parts);
    expect(shifted.kind === 'shifted' && short(shifted.messages)).toBe('u [earlier messages left out: 2] u');
  });

  test('shortens the largest results of the newest unit when the minimum is too much', () => {
    const messages = [
      say('user', words(10)),
      say('assistant', words(9)),
      asks('1', '2'),
      result('1', words(2000)),
      result('2', words(9)),
    ];
    const shifted = shiftHistory(messages, 1000, parts);
    expect(shifted).toMatchObject({ kind: 'shifted', dropped_messages: 1 });
    expect(shifted.kind === 'shifted' && shifted.after_tokens).toBeLessThanOrEqual(1000);
    expect(shifted.kind === 'shifted' && short(shifted.messages)).toBe('u [earlier messages left out: 1] a(1,2) r1 r2');
  });

  test.each(['x', 'ж', '漢'])('shortens a result as far as its letters need: %s', (letter) => {
    const shorten = (message: Message, maxBytes: number): Message => ({
      ...message,
      content: Buffer.from(message.content).subarray(0, maxBytes).toString(),
    });
    const messages = [say('user', words(10)), asks('1'), result('1', letter.repeat(30_000))];
    const shifted = shiftHistory(messages, 2500, { ...parts, shorten });
    if (shifted.kind !== 'shifted') throw new Error(shifted.kind);
    expect(shifted.after_tokens).toBeLessThanOrEqual(2500);
    expect(shifted.after_tokens).toBeGreaterThan(1500);
  });

  test('gives up when even that is too much', () => {
    expect(shiftHistory([say('user', words(100))], 50, parts)).toEqual({ kind: 'too_large', tokens: 100 });
    expect(shiftHistory([say('user', words(10)), asks('1'), result('1', words(500))], 100, parts)).toMatchObject({
      kind: 'too_large',
    });
    expect(
      shiftHistory([say('system', words(40)), say('user', words(10)), say('user', words(10))], 50, parts),
    ).toMatchObject({ kind: 'too_large' });
  });

  test('leaves out the first user message too where a later one would have no room beside it', () => {
    const system = say('system', words(10));
    for (const first of [words(100), words(25)]) {
      const shifted = shiftHistory([system, say('user', first), say('user', words(10))], 40, parts);
      expect(shifted.kind === 'shifted' && short(shifted.messages)).toBe('s [earlier messages left out: 1] u');
    }
    const beside = [
      say('user', words(25)),
      say('assistant', words(10)),
      say('user', words(10)),
      asks('1'),
      result('1'),
    ];
    const shifted = shiftHistory(beside, 40, parts);
    expect(shifted.kind === 'shifted' && short(shifted.messages)).toBe('[earlier messages left out: 2] u a(1) r1');
  });
});

/** Any history: calls with unique ids, results anywhere, some twice, some missing, some of no call. */
const anyHistory: fc.Arbitrary<readonly Message[]> = fc
  .array(
    fc.oneof(
      fc.constant({ kind: 'system' as const }),
      fc.constant({ kind: 'user' as const }),
      fc.record({ kind: fc.constant('asks' as const), calls: fc.integer({ min: 0, max: 3 }) }),
      fc.record({ kind: fc.constant('result' as const), of: fc.integer({ min: 0, max: 12 }) }),
    ),
    { maxLength: 25 },
  )
  .map((steps) => {
    let calls = 0;
    return steps.map((step) => {
      if (step.kind === 'result') return result(`${step.of}`, 'some text of a result');
      if (step.kind !== 'asks') return say(step.kind, 'some text');
      if (step.calls === 0) return say('assistant', 'some text');
      return asks(...Array.from({ length: step.calls }, () => `${calls++}`));
    });
  });

/** Ids of calls with at least one result, and of calls without any. */
const pairs = (messages: readonly Message[]): ReadonlyMap<string, { called: number; answered: number }> => {
  const found = new Map<string, { called: number; answered: number }>();
  const entry = (id: string): { called: number; answered: number } => {
    const known = found.get(id) ?? { called: 0, answered: 0 };
    found.set(id, known);
    return known;
  };
  for (const message of messages) {
    for (const { id } of message.tool_calls ?? []) entry(id).called += 1;
    if (message.role === 'tool') entry(message.tool_call_id ?? '').answered += 1;
  }
  return found;
};

describe('of any history', () => {
  test('units are a partition', () => {
    fc.assert(
      fc.property(anyHistory, (messages) => {
        const found = units(messages);
        expect(found.flatMap(({ start, end }) => messages.slice(start, end))).toEqual(messages);
        expect(found.every(({ start, end }) => end > start)).toBe(true);
      }),
    );
  });

  test('compaction never separates a call from its results', () => {
    fc.assert(
      fc.property(anyHistory, fc.integer({ min: 1, max: 25 }), (messages, keep) => {
        const whole = pairs(messages);
        const kept = messages.slice(cutBefore(messages, keep));
        for (const [id, { called, answered }] of pairs(kept)) expect({ called, answered }).toEqual(whole.get(id));
      }),
    );
  });

  test('repair yields one result for each call, right behind it, and is done after once', () => {
    fc.assert(
      fc.property(anyHistory, (messages) => {
        const { messages: repaired } = repairHistory(messages, ({ id }) => result(id, 'interrupted'));
        const expected = repaired
          .filter(({ role }) => role !== 'tool')
          .flatMap((message) => [message.id, ...(message.tool_calls ?? []).map(({ id }) => `r${id}`)]);
        expect(repaired.map((message) => (message.role === 'tool' ? `r${message.tool_call_id}` : message.id))).toEqual(
          expected,
        );
        expect(repairHistory(repaired, () => result('x')).messages).toBe(repaired);
      }),
    );
  });

  test('shift never exceeds the budget, keeps pairs, and counts what it leaves out', () => {
    const parts = {
      gap: (content: string): Message => ({ id: 'gap', role: 'user', content, timestamp: 't' }),
      shorten: (message: Message): Message => ({ ...message, content: '' }),
    };
    fc.assert(
      fc.property(anyHistory, fc.integer({ min: 0, max: 200 }), (given, budget) => {
        const { messages } = repairHistory(given, ({ id }) => result(id, 'interrupted'));
        const shifted = shiftHistory(messages, budget, parts);
        if (shifted.kind === 'fits') expect(historyTokens(messages)).toBeLessThanOrEqual(budget);
        if (shifted.kind !== 'shifted') return;
        expect(historyTokens(shifted.messages)).toBe(shifted.after_tokens);
        expect(shifted.after_tokens).toBeLessThanOrEqual(budget);
        expect(shifted.kept_messages + shifted.dropped_messages).toBe(messages.length);
        const marked = shifted.messages.filter(({ id }) => id === 'gap');
        expect(marked.map(({ content }) => content)).toEqual(
          shifted.dropped_messages === 0 ? [] : [`[earlier messages left out: ${shifted.dropped_messages}]`],
        );
        for (const { called, answered } of pairs(shifted.messages).values()) expect([called, answered]).toEqual([1, 1]);
      }),
    );
  });
});
