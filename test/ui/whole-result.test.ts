import { expect, test } from 'vitest';
import type { RuntimeClient } from '../../src/client/operations.ts';
import type { SessionMessage } from '../../src/schema/session.ts';
import type { CallItem } from '../../src/view/items.ts';
import { storedItems } from '../../src/view/stored-items.ts';
import { isInPart, wholeResult } from '../../ui/whole-result.ts';
import { pressAll, readyState } from './reducing.ts';

const lines = Array.from({ length: 50_000 }, (_, index) => `line ${index} of a long output`);
const result = JSON.stringify({ exit_code: 0, stdout: lines.join('\n'), stderr: '' });

const base = {
  id: '',
  seq: 1,
  kind: 'message',
  status: 'complete',
  thinking: null,
  error: null,
  created_at: '',
} as const;
const call: SessionMessage = {
  ...base,
  role: 'assistant',
  text: '',
  tool_calls: [{ id: 'c1', name: 'local_shell.local_shell', arguments: '{"command":"seq"}' }],
  tool_call_id: null,
  run_id: 'r1',
};
const answer: SessionMessage = { ...call, seq: 2, role: 'tool', text: result, tool_calls: [], tool_call_id: 'c1' };

/** Of the client only the record of the run is read. */
const client = {
  showRun: async () => ({ calls: [{ call_id: 'c1', result: JSON.parse(result) }] }),
} as unknown as RuntimeClient;

const longCall = (): CallItem => {
  const [item] = storedItems([call, answer]);
  if (item?.kind !== 'call') throw new Error('no call');
  return item;
};

test('a result over 256 KiB is held in part, and its size is that of the whole', () => {
  const item = longCall();
  expect(item.result).toHaveLength(262_144);
  expect(item.result?.startsWith('line 0 of a long output\nline 1 ')).toBe(true);
  expect(item.bytes).toBe(result.length);
  expect(isInPart(item)).toBe(true);
});

test('the full view pages through it, with the numbers of its lines, and back', async () => {
  const item = longCall();
  const { effects } = pressAll(readyState({ items: [item] }), 'ctrl+o', 'v');
  expect(effects).toEqual([{ do: 'view-result', item, part: 0, end: false }]);

  const first = await wholeResult(client, item, 0);
  if (first.kind !== 'view' || first.part === undefined) throw new Error('not in parts');
  expect(first.title).toBe('local_shell.local_shell · part 1 of 12');
  expect(first.lines.join('\n').length).toBeLessThan(262_145);

  const down = pressAll(readyState({ items: [item], overlays: [first] }), 'end', 'pagedown');
  expect(down.effects).toEqual([{ do: 'view-result', item, part: 1, end: false }]);

  const all: string[] = [];
  for (let part = 0; part < first.part.count; part += 1) {
    const overlay = await wholeResult(client, item, part);
    if (overlay.kind !== 'view') throw new Error('no text');
    expect(overlay.part?.firstLine).toBe(all.length);
    all.push(...overlay.lines);
  }
  expect(all.filter((line) => line.startsWith('line '))).toEqual(lines);

  const second = await wholeResult(client, item, 1);
  const up = pressAll(readyState({ items: [item], overlays: [second] }), 'pageup');
  expect(up.effects).toEqual([{ do: 'view-result', item, part: 0, end: true }]);
});
