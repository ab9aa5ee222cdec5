import { expect, test } from 'vitest';
import { edgeKey, passed } from '../../web/chains/taken.ts';
import { layOut } from '../../web/chains/layout.ts';
import { fileOfPath, pathOfFile } from '../../web/data/document-path.ts';
import { moveElement, placeOf, placesOf } from '../../web/editor/json-places.ts';
import { createFinder, foundWords, patternOf } from '../../web/chat/find-text.ts';
import { lineDiff } from '../../web/editor/line-diff.ts';
import { stepDiff } from '../../web/plans/step-diff.ts';
import { readMap } from '../../web/tools/read-map.ts';
import { emptyCall } from '../../src/view/transcript.ts';
import type { Item } from '../../src/view/items.ts';
import { scaleOf } from '../../src/view/timeline.ts';
import { barsOf as barsOfRun } from '../../web/runs/bars.ts';
import { barsOf, byModel, daysOf } from '../../web/usage/figures.ts';

const text = '{\n  "a": [ {"x": 1}, {"x": "}"} ],\n  "b": tru';

test('a path of a finding leads to its place, also in a text that is not finished', () => {
  const places = placesOf(text);
  const at = (path: string) => {
    const place = placeOf(places, path);
    return place === null ? null : text.slice(place.from, place.to);
  };
  expect([at('a[1].x'), at('/a/0'), at('$.b'), at('a[7].x')]).toEqual([
    '"}"',
    '{"x": 1}',
    'tru',
    '[ {"x": 1}, {"x": "}"} ]',
  ]);
});

test('an element of a list is moved with its own spelling, and what is around it stays', () => {
  const rules = '{"rules": [\n  {"n":  1},\n  {"n": 2}\n]}';
  expect(moveElement(rules, ['rules'], 0, 1)).toBe('{"rules": [\n  {"n": 2},\n  {"n":  1}\n]}');
  expect(moveElement(rules, ['rules'], 1, 5)).toBe(rules);
});

test('a chain is laid out from its start down to the end, and what leads back goes around', () => {
  const node = (id: string, start = false) => ({ id, handler: 'h', label: id, start, tools: [] });
  const edge = (from: string, to: string, operator = 'default') => ({ from, to, operator, when: '', label: operator });
  const picture = layOut({
    nodes: [node('b'), node('a', true), node('lost')],
    edges: [edge('a', 'b'), edge('b', 'a'), edge('a', 'end', 'equals'), edge('b', 'end', 'on_failure')],
    unreachable: ['lost'],
  });
  expect(picture.nodes.map(({ id, unreachable, end }) => [id, unreachable, end])).toEqual([
    ['a', false, false],
    ['b', false, false],
    ['lost', true, false],
    ['end', false, true],
  ]);
  expect(picture.edges.map(({ from, to, back, failure }) => [from, to, back, failure])).toEqual([
    ['a', 'b', false, false],
    ['b', 'a', true, false],
    ['a', 'end', false, false],
    ['b', 'end', false, true],
  ]);
  const y = Object.fromEntries(picture.nodes.map((one) => [one.id, one.y]));
  expect([Number(y['a']) < Number(y['b']), Number(y['b']) < Number(y['end'])]).toEqual([true, true]);
  for (const { x, width } of picture.nodes) {
    expect(x - width / 2 >= picture.x && x + width / 2 <= picture.x + picture.width).toBe(true);
  }
});

test('the way of a run is counted by edge, to the end only when it came there', () => {
  const steps = [
    { task_id: 'work', next: 'tools' },
    { task_id: 'tools', next: 'work' },
    { task_id: 'work', next: null },
  ];
  const whole = passed(steps, true, false);
  expect([...whole.edges]).toEqual([
    [edgeKey('work', 'tools'), 1],
    [edgeKey('tools', 'work'), 1],
    [edgeKey('work', 'end'), 1],
  ]);
  expect(whole.tasks.get('work')).toBe(2);
  expect(passed(steps.slice(0, 1), false, true)).toMatchObject({ current: 'tools' });
});

test('planning anew keeps what is done, and says what went and what came', () => {
  const step = (id: string, description: string, status: string) => ({ id, description, status });
  expect(
    stepDiff(
      [step('1', 'one', 'completed'), step('2', 'two', 'failed'), step('3', 'three', 'pending')],
      [step('1', 'one', 'completed'), step('2', 'two', 'skipped'), step('4', 'four', 'pending')],
    ),
  ).toEqual([
    { change: 'kept', description: 'one' },
    { change: 'removed', description: 'two' },
    { change: 'removed', description: 'three' },
    { change: 'added', description: 'four' },
  ]);
});

test('figures are summed by day and model, and heights are parts of the highest day', () => {
  const row = (day: string, model: string | null, input_tokens: number) => ({
    ...{ day, model, provider: null, runs: 1, input_tokens, output_tokens: 0, estimated: 0, turns: 1 },
    ...{ tool_calls: 0, model_ms: 5, total_ms: 9, asks: 1, waited_ms: 3 },
  });
  const rows = [row('2026-01-01', 'a', 30), row('2026-01-01', 'b', 10), row('2026-01-03', 'a', 20)];
  const days = daysOf('2026-01-01', '2026-01-03');
  expect(byModel(rows)).toEqual([
    { model: 'a', runs: 2, input_tokens: 50, output_tokens: 0, model_ms: 10, asks: 2, waited_ms: 6 },
    { model: 'b', runs: 1, input_tokens: 10, output_tokens: 0, model_ms: 5, asks: 1, waited_ms: 3 },
  ]);
  expect(barsOf('tokens', days, rows, ['a', 'b']).bars).toEqual([
    {
      day: '2026-01-01',
      sum: 40,
      pieces: [
        { model: 'a', sum: 30, from: 0, to: 0.75 },
        { model: 'b', sum: 10, from: 0.75, to: 1 },
      ],
    },
    { day: '2026-01-02', sum: 0, pieces: [] },
    { day: '2026-01-03', sum: 20, pieces: [{ model: 'a', sum: 20, from: 0, to: 0.5 }] },
  ]);
});

test('small things: lines that differ, names of files in paths, maps whose values are kept', () => {
  expect(lineDiff('a\nb\n', 'a\nc\n')).toBe('@@ -1,2 +1,2 @@\n a\n-b\n+c\n');
  expect(lineDiff('a', 'a')).toBe('');
  expect([pathOfFile('hitl-policy.json'), fileOfPath('hitl-policy'), fileOfPath('x.json')]).toEqual([
    'hitl-policy',
    'hitl-policy.json',
    'x.json',
  ]);
  expect(readMap('A: b: c\n\nKept\nEmpty:')).toEqual({ A: 'b: c', Kept: null, Empty: null });
});

test('what waits now is drawn to the edge of its picture, and not behind it', () => {
  const span = { label: 'ask', detail: '', state: 'open', call_id: null, ask_id: null } as const;
  const timeline = {
    spans: [
      { ...span, id: 'a', lane: 'tools', from: 0, to: 1000 },
      { ...span, id: 'b', lane: 'waiting', from: 1000, to: null },
    ],
    from: 0,
    to: 1000,
  } as const;
  const waiting = (now: number) =>
    barsOfRun(timeline.spans, scaleOf(timeline, now), 100, now)
      .get('waiting')
      ?.map(({ x, width }) => [x, width]);
  expect([waiting(1000), waiting(2000)]).toEqual([[[97, 3]], [[50, 50]]]);
});

test('finds in a conversation whatever can be seen of it, in any case and over any blanks, the newest first', () => {
  const items: readonly Item[] = [
    { kind: 'user', id: 'one', text: 'Where is the\nLONG word?', state: 'sent', seq: 1 },
    {
      ...emptyCall('two', null),
      tools: 'local_fs',
      tool: 'read_file',
      args: { path: 'a.md' },
      result: '{"x":"a long word"}',
    },
    { kind: 'assistant', id: 'three', text: 'Nothing (a+b) here, Übermut', state: 'complete', seq: 3 },
    { kind: 'notice', id: 'four', level: 'info', text: 'a long  word' },
  ];
  const found = (text: string) => {
    const pattern = patternOf(text);
    return pattern === null ? null : createFinder(pattern)(items);
  };
  expect(found('long word')).toEqual(['four', 'two', 'one']);
  expect([found('(a+b)'), found('übermut'), found('read_file'), found('a.md'), found('a.c')]).toEqual([
    ['three'],
    ['three'],
    ['two'],
    ['two'],
    [],
  ]);
  expect([found('  '), patternOf('')]).toEqual([null, null]);
  const text = `${'before '.repeat(20)}needle${' behind'.repeat(20)}`;
  expect(foundWords({ kind: 'assistant', id: 'a', text, state: 'complete', seq: 1 }, /NEEDLE/i)).toBe(
    `Reins: …fore${' before'.repeat(5)} needle${' behind'.repeat(10)} beh…`,
  );
});
