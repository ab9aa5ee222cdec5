import { describe, expect, it } from 'vitest';
import { vetPolicy } from '../../src/policy/vet.ts';
import { parsePolicy } from '../../src/policy/validate.ts';
import type { Evaluation, PolicyCall } from '../../src/schema/policy.ts';
import { canonicalJson } from '../../src/text/canonical-json.ts';
import { isPresetName, presetNames, presetText } from '../../src/workspace/presets/policies.ts';
import { type HostFacts, judge, load, loadPreset, readFixture } from './virtual-host.ts';

type Document = {
  readonly rules?: readonly { readonly when?: readonly { readonly op: string }[] | null }[] | null;
  readonly trusted_binaries?: unknown;
};
type EvaluateCase = {
  readonly id: string;
  readonly policy?: Document;
  readonly preset?: string;
  readonly call: PolicyCall;
  readonly host?: Partial<HostFacts>;
  readonly expect: Partial<Evaluation> & { readonly action: Evaluation['action'] };
  readonly detail_contains?: string;
};
type InvalidCase = {
  readonly id: string;
  readonly policy?: unknown;
  readonly policy_raw?: string;
  readonly load: 'accept' | 'reject';
  readonly errors?: readonly { readonly path: string; readonly code: string }[];
  readonly vet: 'ok' | 'warn' | 'error';
  readonly why: string;
};
type CaseFile = {
  readonly host: HostFacts;
  readonly presets: Readonly<Record<string, unknown>>;
  readonly evaluate: readonly EvaluateCase[];
  readonly invalid: readonly InvalidCase[];
};

// The file's format is fixed by 02 §1; what does not fit it fails the cases below.
const file = readFixture('policy-cases.json') as CaseFile;

const run = async (one: EvaluateCase): Promise<Evaluation> => {
  const policy = one.preset === undefined ? await load(one.policy) : loadPreset(one.preset);
  return judge(policy, one.call, { ...file.host, ...one.host });
};

const differences = (one: EvaluateCase, record: Evaluation): readonly string[] => {
  const wrong = Object.entries(one.expect).filter(([name, value]) => Reflect.get(record, name) !== value);
  const lacks = one.detail_contains !== undefined && record.detail?.includes(one.detail_contains) !== true;
  return [...wrong.map(([name]) => name), ...(lacks ? ['detail'] : [])];
};

describe('the evaluate cases of policy-cases.json', () => {
  it.each(file.evaluate.map((one) => [one.id, one] as const))('%s gives what it expects', async (_id, one) => {
    const record = await run(one);
    expect({ id: one.id, wrong: differences(one, record), record }).toMatchObject({ id: one.id, wrong: [] });
  });
});

describe('the invalid cases of policy-cases.json', () => {
  it.each(file.invalid.map((one) => [one.id, one.why, one] as const))('%s: %s', async (_id, _why, one) => {
    const { policy, findings } = await parsePolicy(one.policy_raw ?? JSON.stringify(one.policy));
    const errors = findings.map(({ path, code }) => `${path} ${code}`).sort();
    const vetted = policy === null ? null : vetPolicy(policy).map(({ severity }) => severity);
    const worst = vetted === null || vetted.includes('error') ? 'error' : vetted.length > 0 ? 'warn' : 'ok';
    expect({ load: policy === null ? 'reject' : 'accept', errors, worst }).toEqual({
      load: one.load,
      errors: (one.errors ?? []).map(({ path, code }) => `${path} ${code}`).sort(),
      worst: one.vet,
    });
  });
});

describe('the shipped presets', () => {
  it('are the ones of the case file', () => {
    expect([...presetNames].sort()).toEqual(Object.keys(file.presets).sort());
  });

  it.each(Object.keys(file.presets))('%s equals its document byte for byte in canonical form', (name) => {
    expect(isPresetName(name) && presetText(name)).toBe(canonicalJson(file.presets[name]));
  });

  it.each(presetNames)('%s loads without a finding and as it is built', async (name) => {
    const { policy, findings } = await parsePolicy(presetText(name));
    const built = loadPreset(name).policy;
    const withoutNotes = { ...built, rules: built.rules.map((rule) => ({ ...rule, note: null })) };
    expect(findings).toEqual([]);
    expect(policy).toEqual(withoutNotes);
  });

  it('say what each of their refusals serves', () => {
    for (const name of presetNames) {
      for (const rule of loadPreset(name).policy.rules) {
        if (rule.action === 'deny' && rule.when.length > 0) expect(rule.note).not.toBeNull();
      }
    }
  });
});
