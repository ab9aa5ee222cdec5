import { expect, test } from 'vitest';
import { renderTable } from '../../src/cli/columns.ts';
import { readHeaders } from '../../src/cli/commands/backend.ts';
import { exitOfRun } from '../../src/cli/follow.ts';
import { failureOf } from '../../src/cli/report-error.ts';
import { eventObject, streamLine } from '../../src/cli/result-json.ts';
import { distance, nearest } from '../../src/text/nearest.ts';
import { RuntimeError } from '../../src/schema/errors.ts';
import type { RunEvent } from '../../src/schema/event.ts';
import { noUsage } from '../../src/schema/message.ts';
import type { RunResult } from '../../src/schema/run.ts';

test('a table has a header in capitals, gutters of two and no rules', async () => {
  const heads = [{ title: 'NAME' }, { title: 'CTX', align: 'right' as const }, { title: 'NOTE' }];
  expect(
    await renderTable(
      heads,
      [
        ['漢字', '8', ''],
        ['b', '32768', 'x'],
      ],
      null,
    ),
  ).toBe('NAME    CTX  NOTE\n漢字      8  -\nb     32768  x\n');
});

test('a narrow terminal cuts the flexible column and nothing else does', async () => {
  const heads = [{ title: 'A' }, { title: 'TEXT', flexible: true as const }, { title: 'B' }];
  expect(await renderTable(heads, [['1', 'a long text', '2']], 12)).toBe('A  TEXT    B\n1  a lon…  2\n');
  expect(await renderTable(heads, [['1', 'a long text', '2']], null)).toBe('A  TEXT         B\n1  a long text  2\n');
});

test('a terminal that is narrower still cuts the widest of the others, never what names a row', async () => {
  const heads = [
    { title: 'THE NAME OF IT' },
    { title: 'CHAIN' },
    { title: 'N', align: 'right' as const },
    { title: 'TEXT', flexible: true as const },
  ];
  expect(await renderTable(heads, [['a name of some length', 'chain-step-summarizer', '12', 'a long text']], 44)).toBe(
    'THE NAME OF IT         CHAIN         N  TEXT\na name of some length  chain-step…  12  a l…\n',
  );
});

test('of two columns of one width the later one is cut, and a status stays', async () => {
  const heads = [
    { title: 'RUN' },
    { title: 'STATUS' },
    { title: 'CHAIN' },
    { title: 'INPUT', flexible: true as const },
  ];
  expect(await renderTable(heads, [['run_1', 'suspended', 'chain-run', 'write']], 32)).toBe(
    'RUN    STATUS     CHAIN     INP…\nrun_1  suspended  chain-r…  wri…\n',
  );
});

test('distance counts a swap of neighbours once', () => {
  expect([distance('sesion', 'session'), distance('docotr', 'doctor'), distance('', 'abc')]).toEqual([1, 1, 3]);
  expect(nearest('modl', ['model', 'mode', 'policy'], 2, 2)).toEqual(['mode', 'model']);
});

test('headers are name and value; one empty text clears them', () => {
  expect(readHeaders(['X-A: 1: 2', 'B:'])).toEqual({ 'X-A': '1: 2', B: '' });
  expect(readHeaders([''])).toEqual({});
  expect(() => readHeaders(['no colon'])).toThrow('is not of the form "Name: value"');
  for (const text of ['Authorization=Bearer abc', 'Authorization Bearer abc', 'Authorization: Bearer\nabc']) {
    expect(() => readHeaders([text])).toThrow(
      '--header: "Authorization…" is not of the form "Name: value" on one line',
    );
  }
  expect(() => readHeaders(['A: x\r\nB: y'])).toThrow('is not of the form "Name: value"');
});

test('a failure keeps its code, its exit and at most three hints', () => {
  const error = new RuntimeError('chain_invalid', 'c.json has 2 defects', {
    hints: ['a', 'b', 'c', 'd'],
    data: {
      findings: [
        { path: '/tasks/0', message: 'no handler', line: 3 },
        { path: '', message: 'x' },
      ],
    },
  });
  expect(failureOf(error)).toMatchObject({
    code: 'chain_invalid',
    exit: 3,
    hints: ['a', 'b', 'c'],
    findings: ['/tasks/0: no handler (line 3)', 'x'],
  });
  expect(failureOf(new TypeError('boom'))).toMatchObject({ code: 'internal', exit: 1, findings: [] });
});

const event: RunEvent = {
  v: 1,
  seq: 6,
  kind: 'print',
  timestamp: '2026-01-02T10:00:00.000Z',
  run_id: 'run_1',
  session_id: null,
  chain_id: 'c',
  text: 'a\u2028b',
};

test('a stream line counts lines, keeps the event number and splits at line feeds alone', () => {
  const line = streamLine(eventObject(event, 9));
  expect(line).toBe(
    '{"type":"print","seq":9,"event_seq":6,"timestamp":"2026-01-02T10:00:00.000Z","run_id":"run_1","text":"a\\u2028b"}\n',
  );
  expect(JSON.parse(line)).toMatchObject({ text: 'a\u2028b' });
  expect(eventObject({ ...event, seq: 0 }, 2)).not.toHaveProperty('event_seq');
});

const result: RunResult = {
  run_id: 'run_1',
  status: 'completed',
  exit_code: 0,
  error: null,
  output_type: 'string',
  text: '',
  output: '',
  session_id: null,
  session_name: null,
  plan: null,
  chain: { id: 'c', path: null, sha256: '' },
  model: 'm',
  provider: 'scripted',
  backend: null,
  policy: { name: 'default', source: 'builtin', path: null, sha256: null, state: 'ok' },
  num_turns: 1,
  num_tool_calls: 1,
  executed_tool_calls: 0,
  duration_ms: 1,
  duration_api_ms: 0,
  waited_ms: 0,
  usage: noUsage,
  asks: [],
  permission_denials: [],
  steps: [],
  warnings: [],
};
const denied = {
  id: 'ask_1',
  kind: 'permission',
  state: 'denied',
  tools: 'local_fs',
  tool: 'write_file',
  summary: 'a',
  rule: 1,
  created_at: '',
  expires_at: null,
  by: 'system:on-ask-deny',
  respond: null,
};
const denial = { tools: 'a', tool: 'b', call_id: 'c', args: {}, by: 'policy', rule: 0, reason: 'matched_rule' };

test('denials change the exit code where the specification says so', () => {
  expect(exitOfRun(result, false).exit).toBe(0);
  expect(exitOfRun({ ...result, asks: [denied] }, false).exit).toBe(5);
  expect(exitOfRun({ ...result, asks: [denied], executed_tool_calls: 1 }, false).exit).toBe(0);
  expect(exitOfRun({ ...result, permission_denials: [denial] }, false).exit).toBe(0);
  expect(exitOfRun({ ...result, permission_denials: [denial] }, true).exit).toBe(5);
  expect(exitOfRun({ ...result, asks: [denied], exit_code: 7 }, false).exit).toBe(5);
  expect(exitOfRun({ ...result, asks: [denied], exit_code: 6 }, false).exit).toBe(6);
  expect(exitOfRun({ ...result, asks: [denied], exit_code: 130 }, false).exit).toBe(130);
});
