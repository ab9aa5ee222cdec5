import { describe, expect, it } from 'vitest';
import { createBursts } from '../../../ui/keys/burst.ts';
import { createInputDecoder, type InputEvent } from '../../../ui/keys/decoder.ts';
import { notation } from '../../../ui/keys/key.ts';

const shown = (events: readonly InputEvent[]): readonly string[] =>
  events.map((event) =>
    event.type === 'key'
      ? notation(event)
      : event.type === 'paste'
        ? `paste ${JSON.stringify(event.text)}`
        : event.type,
  );

/** Reads of a terminal, each at its time, and what they were taken for. */
function read(...reads: readonly (readonly [at: number, bytes: string])[]): readonly string[] {
  const decoder = createInputDecoder();
  const bursts = createBursts();
  const events = reads.flatMap(([at, bytes]) => {
    const due = bursts.wakeAt();
    const before = due !== null && due <= at ? bursts.tick(due) : [];
    return [...before, ...bursts.take(decoder.push(Buffer.from(bytes), at), at)];
  });
  return shown([...events, ...bursts.tick(10_000)]);
}

describe('a burst of characters', () => {
  it.each([
    ['one\rtwo\rthree\r', ['paste "one\\ntwo\\nthree\\n"']],
    ['one\r\ntwo', ['paste "one\\ntwo"']],
    ['if x:\r\tgo()', ['paste "if x:\\n\\tgo()"']],
    ['\rnext', ['enter', 'n', 'e', 'x', 't']],
    ['k\rgo', ['k', 'enter', 'g', 'o']],
    ['ok\r', ['o', 'k', 'enter']],
    ['\r\r', ['enter', 'enter']],
    ['ab\t', ['a', 'b', 'tab']],
    ['one\rtwo\u001b[A', ['paste "one\\ntwo"', 'up']],
    ['a\u001b[13;2ub', ['a', 'shift+enter', 'b']],
  ])('of one read: %j', (bytes, expected) => {
    expect(read([0, bytes])).toEqual(expected);
  });

  it('goes on in the next read, which may have cut it anywhere', () => {
    expect(read([0, 'one\rtw'], [5, 'o'], [20, '\r'], [45, 'three\r'])).toEqual(['paste "one\\ntwo\\nthree\\n"']);
    expect(read([0, 'one\r'], [5, 'two\r'])).toEqual(['paste "one\\ntwo\\n"']);
  });

  it('is none where somebody types, however fast', () => {
    expect(read([0, 'o'], [10, 'k'], [20, '\r'], [30, 'y'])).toEqual(['o', 'k', 'enter', 'y']);
  });

  it('ends with a moment of silence', () => {
    expect(read([0, 'one\rtwo'], [40, '\r'])).toEqual(['paste "one\\ntwo"', 'enter']);
    expect(read([0, 'one\r'], [40, 'two\r'])).toEqual(['o', 'n', 'e', 'enter', 't', 'w', 'o', 'enter']);
  });
});
