import { expect, it } from 'vitest';
import { recordedOutcome } from '../../src/gate/known.ts';
import type { CallRequest } from '../../src/schema/protocol.ts';
import type { KnownCall } from '../../src/store/calls.ts';

const request = (direct: boolean) => ({ call_id: 'c', direct }) as CallRequest;
const known = (over: Partial<KnownCall>): KnownCall => ({
  seq: 1,
  tools: 't',
  tool: 't',
  args: {},
  call_hash: 'h',
  record: {} as KnownCall['record'],
  started_at: null,
  state: 'done',
  ask_id: null,
  changed: null,
  result: undefined,
  output_ref: null,
  ...over,
});

it('gives a recorded result again as it was: text as text, a value as JSON, to a chain as the value itself', () => {
  expect(recordedOutcome(known({ result: 'text' }), request(true))).toEqual({
    kind: 'result',
    ok: true,
    content: 'text',
  });
  const value = { lines: [1, 2] };
  const asText = { kind: 'result', ok: true, content: '{"lines":[1,2]}' };
  expect(recordedOutcome(known({ result: value }), request(false))).toEqual(asText);
  expect(recordedOutcome(known({ result: value }), request(true))).toEqual({ ...asText, value });
  expect(recordedOutcome(known({ result: 'x', output_ref: '@output/c' }), request(false))).toMatchObject({
    output_ref: '@output/c',
  });
});

it('gives a failure, a denial and a settled unknown outcome again with their class', () => {
  for (const [state, error] of [
    ['failed', 'io_error'],
    ['skipped', 'denied'],
    ['unknown', 'outcome_unknown'],
  ] as const) {
    const result = { ok: false, error, message: 'm' };
    expect(recordedOutcome(known({ state, result }), request(true))).toEqual({
      kind: 'result',
      ok: false,
      content: JSON.stringify(result),
      error,
    });
  }
});

it('has nothing to give for a call that is open or whose outcome nobody has settled', () => {
  for (const state of ['planned', 'started', 'unknown'] as const) {
    expect(recordedOutcome(known({ state }), request(false))).toBeNull();
  }
});
