import { expect, it } from 'vitest';
import { exampleCalls } from '../../src/trials/example-calls.ts';
import { canonicalJson } from '../../src/text/canonical-json.ts';
import { readFixture } from '../policy/virtual-host.ts';

it('the built-in calls are those of the case file, each once', () => {
  const { evaluate } = readFixture('policy-cases.json') as { evaluate: readonly { readonly call: unknown }[] };
  const calls = exampleCalls().map(canonicalJson);
  expect(new Set(calls).size).toBe(calls.length);
  expect(calls.sort()).toEqual([...new Set(evaluate.map(({ call }) => canonicalJson(call)))].sort());
});
