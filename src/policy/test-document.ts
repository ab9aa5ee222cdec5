import type { PolicyCall, PolicyFinding } from '../schema/policy.ts';
import type { ExpectedVerdict } from '../schema/policy-views.ts';
import { readStrictJson } from '../text/strict-json.ts';
import { createFindings, type Findings } from './findings.ts';
import { type Members, readMembers } from './members.ts';
import { readAction } from './rules.ts';

/** The host of a case: what is absent is that of the machine (02 §1, §14.3). */
export type HostOverride = {
  readonly platform: string | undefined;
  readonly shell: string | undefined;
  readonly workspace: string | undefined;
  readonly cwd: string | undefined;
  readonly home: string | undefined;
  readonly case_insensitive_paths: boolean | undefined;
  readonly programs_dir: string | undefined;
  readonly programs: readonly string[] | undefined;
};

export type PolicyTestCase = {
  readonly name: string;
  readonly call: PolicyCall;
  readonly cwd: string | null;
  readonly host: HostOverride | null;
  readonly expect: ExpectedVerdict;
};

export type PolicyTestDocument = {
  /** A name or a path; null = the policy that would govern here. */
  readonly policy: string | null;
  readonly cases: readonly PolicyTestCase[];
};

const maxDepth = 64;
const maxCases = 10_000;

/** Reads a `*.policy-test.json` (02 §14.3): all that is wrong with it, or the document. Never throws. */
export function readTestDocument(text: string): {
  readonly document: PolicyTestDocument | null;
  readonly findings: readonly PolicyFinding[];
} {
  const findings = createFindings();
  const json = readStrictJson(text, maxDepth);
  if (!json.ok) {
    findings.add('$', json.problem, `${json.message} (line ${json.line}, column ${json.column})`);
    return { document: null, findings: findings.list };
  }
  for (const twice of json.duplicates) findings.add(twice, 'duplicate_member', 'stands twice in one object');
  const members = readMembers(json.value, '$', new Set(['policy', 'cases']), findings);
  if (members === null) return { document: null, findings: findings.list };
  const cases = required(members, 'cases', findings) ? members.list('cases', maxCases) : undefined;
  const document = {
    policy: members.text('policy') ?? null,
    cases: (cases ?? []).map((one, index) => readCase(one, `$.cases[${index}]`, findings)),
  };
  return { document: findings.list.length === 0 ? document : null, findings: findings.list };
}

function required(members: Members, name: string, findings: Findings): boolean {
  if (members.get(name) !== undefined) return true;
  findings.add(members.pathOf(name), 'missing_member', 'is missing');
  return false;
}

const emptyCase: PolicyTestCase = {
  name: '',
  call: { tools: '', tool: '', args: {} },
  cwd: null,
  host: null,
  expect: { action: 'deny', rule: null, detail_contains: null },
};

function readCase(value: unknown, path: string, findings: Findings): PolicyTestCase {
  const members = readMembers(value, path, new Set(['name', 'call', 'host', 'expect']), findings);
  if (members === null) return emptyCase;
  for (const name of ['name', 'call', 'expect']) required(members, name, findings);
  const host = members.get('host');
  return {
    name: members.text('name') ?? '',
    ...readCall(members.get('call'), `${path}.call`, findings),
    host: host === undefined ? null : readHost(host, `${path}.host`, findings),
    expect: readExpect(members.get('expect'), `${path}.expect`, findings),
  };
}

function readCall(value: unknown, path: string, findings: Findings): Pick<PolicyTestCase, 'call' | 'cwd'> {
  const members = value === undefined ? null : readMembers(value, path, callMembers, findings);
  if (members === null) return emptyCase;
  const tools = required(members, 'tools', findings) ? (members.text('tools') ?? '') : '';
  const args = members.get('args') ?? {};
  const isObject = typeof args === 'object' && !Array.isArray(args);
  if (!isObject) findings.add(members.pathOf('args'), 'wrong_type', 'must be an object');
  // True because a value of JSON that is neither a scalar nor a list is an object.
  const record = isObject ? (args as PolicyCall['args']) : {};
  return { call: { tools, tool: members.text('tool') ?? tools, args: record }, cwd: members.text('cwd') ?? null };
}

const callMembers = new Set(['tools', 'tool', 'args', 'cwd']);
const hostTexts = ['platform', 'shell', 'workspace', 'cwd', 'home', 'programs_dir'] as const;

function readHost(value: unknown, path: string, findings: Findings): HostOverride | null {
  const known = new Set<string>([...hostTexts, 'case_insensitive_paths', 'programs']);
  const members = readMembers(value, path, known, findings);
  if (members === null) return null;
  const programs = members.list('programs', maxCases);
  const names = programs?.filter((name) => typeof name === 'string');
  if (names?.length !== programs?.length) {
    findings.add(members.pathOf('programs'), 'wrong_type', 'must be a list of texts');
  }
  const [platform, shell, workspace, cwd, home, programs_dir] = hostTexts.map((name) => members.text(name));
  const folds = members.boolean('case_insensitive_paths');
  return { platform, shell, workspace, cwd, home, programs_dir, case_insensitive_paths: folds, programs: names };
}

function readExpect(value: unknown, path: string, findings: Findings): PolicyTestCase['expect'] {
  const known = new Set(['action', 'rule', 'detail_contains']);
  const members = value === undefined ? null : readMembers(value, path, known, findings);
  if (members === null) return emptyCase.expect;
  const action = required(members, 'action', findings) ? readAction(members, 'action', findings) : undefined;
  const rule = members.get('rule');
  const isRule =
    rule === undefined || rule === 'default' || (typeof rule === 'number' && Number.isInteger(rule) && rule >= 0);
  if (!isRule) findings.add(members.pathOf('rule'), 'wrong_type', 'must be an index from 0, or "default"');
  return {
    action: action ?? 'deny',
    rule: isRule && rule !== undefined ? rule : null,
    detail_contains: members.text('detail_contains') ?? null,
  };
}
