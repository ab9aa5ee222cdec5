import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { evaluate, type EvaluateOptions } from '../../src/policy/evaluate.ts';
import { parsePolicy } from '../../src/policy/validate.ts';
import type { Evaluation, LoadedPolicy, PolicyCall, PolicyHost } from '../../src/schema/policy.ts';
import { parseScript } from '../../src/shell/parse-script.ts';
import { readCallWith, readOtherLine } from '../../src/shell/read-line.ts';
import { type VirtualMachine, virtualHost as withoutLinks } from '../../src/trials/virtual-host.ts';
import { isPresetName, presetPolicy, presetText } from '../../src/workspace/presets/policies.ts';

/** The `host` member of a case file (02 §1). */
export type HostFacts = VirtualMachine;

export const readFixture = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8'));

export const plainHost: HostFacts = {
  platform: 'linux',
  shell: 'sh',
  workspace: '/srv/p',
  cwd: '/srv/p',
  home: '/home/u',
  case_insensitive_paths: false,
  programs_dir: '/usr/bin',
  programs: ['cat', 'echo', 'env', 'find', 'git', 'ls', 'node', 'rm', 'sh', 'timeout'],
};

/** A machine without links: names resolve as the case file says. */
export const virtualHost = (facts: HostFacts, more: Partial<PolicyHost> = {}): PolicyHost => ({
  ...withoutLinks(facts),
  ...more,
});

/** A document as a run holds it. Fails when it does not load. */
export async function load(document: unknown): Promise<LoadedPolicy> {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  const { policy, findings } = await parsePolicy(text);
  if (policy === null) throw new Error(findings.map(({ path, code }) => `${path} ${code}`).join(', '));
  return {
    identity: { name: 'test', source: 'file', path: '/p.json', sha256: null, state: 'ok' },
    policy,
    text,
    findings,
  };
}

export function loadPreset(name: string): LoadedPolicy {
  if (!isPresetName(name)) throw new Error(`no preset ${name}`);
  return {
    identity: { name, source: 'builtin', path: null, sha256: null, state: 'ok' },
    policy: presetPolicy(name),
    text: presetText(name),
    findings: [],
  };
}

/** Judges a call as the gate does: the shell's reading beside it, the host relative to the call's directory. */
export function judge(
  policy: LoadedPolicy,
  call: PolicyCall,
  facts: HostFacts = plainHost,
  more: Partial<PolicyHost> = {},
  options: EvaluateOptions = {},
): Evaluation {
  const { cwd } = call.args;
  const shell = call.tools === 'local_shell';
  const at = shell && typeof cwd === 'string' ? { ...facts, cwd: posix.resolve(facts.cwd, cwd) } : facts;
  const read = shell ? readCallWith(call.args, parseScript) : null;
  const reading = read === null ? {} : { reading: read };
  const readLine = (line: string) => readOtherLine(line, parseScript);
  return evaluate(policy, call, virtualHost(at, more), { ...reading, readLine, ...options });
}
