import type { CommandTables } from '../schema/command-tables.ts';
import type { BinaryState, Condition, Policy, PolicyFinding, Rule } from '../schema/policy.ts';
import { launches } from '../shell/launchers.ts';
import { builtInTools } from '../schema/tool-names.ts';
import { listEntries } from './commands.ts';
import { isCommandOperator, selector } from './compile.ts';
import { isBareInterpreter } from './bare-interpreter.ts';
import { judgeWords, tableOf } from './option-tables.ts';
import { isInterpreter, isLauncher, isNeverGranted } from './programs.ts';

export type VetOptions = {
  /** Names of registered hooks and tool servers; without them other toolsets are not judged. */
  readonly registered?: readonly string[];
  /** The operator's approval ceiling in seconds; null = never. */
  readonly ceilingSeconds?: number | null;
  /** What `declaredStates` found of the document's `trusted_binaries`; without it they are not judged. */
  readonly binaries?: readonly BinaryState[];
  /** The operator's own option tables; without them the shipped ones alone count. */
  readonly commandTables?: CommandTables | undefined;
};

type Add = (severity: 'error' | 'warn', path: string, code: string, message: string) => void;

/**
 * The findings of `policy vet` on a document that loads (02 §14.1), as far as they follow from the document and these
 * options: no file is looked at. In the order of the rules, then of `trusted_binaries`.
 */
export function vetPolicy(policy: Policy, options: VetOptions = {}): readonly PolicyFinding[] {
  const findings: PolicyFinding[] = [];
  const add: Add = (severity, path, code, message) => findings.push({ severity, path, code, message });
  if (policy.default_action === 'allow' && policy.rules.some(isNet)) {
    const message = 'allows what the lists of commands do not name: code inside scripts and interpreters is not seen';
    add('warn', '$.default_action', 'deny_list_only', message);
  }
  if (policy.default_action === 'allow' && policy.rules.every(({ action }) => action === 'allow')) {
    const message = 'allows every call, reading credentials such as ~/.ssh and .env among them: no rule denies or asks';
    add('warn', '$.default_action', 'nothing_denied', message);
  }
  policy.rules.forEach((rule, index) => {
    const path = `$.rules[${index}]`;
    vetReach(policy.rules.slice(0, index), rule, path, add);
    vetTool(rule, path, options, add);
    vetWait(rule, path, options, add);
    vetClawBack(policy.rules.slice(0, index), rule, path, add);
    rule.when.forEach((condition, place) => {
      vetCondition(rule, condition, `${path}.when[${place}]`, options, add);
    });
  });
  for (const { at, code, file, message } of options.binaries ?? []) add('warn', at, code, `${file} ${message}`);
  return findings;
}

const nets = ['command_path', 'command_blacklist', 'command_ask_always', 'command_prefix_allowlist'];

const isNet = (rule: Rule): boolean => rule.action !== 'allow' && rule.when.some(({ op }) => nets.includes(op));

const covers = (wide: string, narrow: string): boolean => selector(wide) === null || wide === narrow;

function vetReach(earlier: readonly Rule[], rule: Rule, path: string, add: Add): void {
  const before = earlier.findIndex(
    (one) =>
      one.when.length === 0 &&
      covers(one.tools, selector(rule.tools) ?? '*') &&
      covers(one.tool, selector(rule.tool) ?? '*'),
  );
  const first = earlier[before];
  if (first === undefined) return;
  const dangerous = rule.action === 'deny' || (rule.action === 'approve' && first.action === 'allow');
  const message = `is never reached: rule ${before + 1} matches every such call first and says ${first.action}`;
  add(dangerous ? 'error' : 'warn', path, 'unreachable', message);
}

function vetTool(rule: Rule, path: string, { registered }: VetOptions, add: Add): void {
  const tools = selector(rule.tools);
  const tool = selector(rule.tool);
  if (tools === null) return;
  const served = Object.hasOwn(builtInTools, tools) ? builtInTools[tools] : undefined;
  if (served === undefined) {
    if (registered !== undefined && !registered.includes(tools)) {
      add('warn', `${path}.tools`, 'unknown_tool', `${tools} is neither a built-in nor a registered toolset`);
    }
    return;
  }
  if (tool !== null && !Object.hasOwn(served, tool)) {
    const message = `${tools} has no tool ${tool}; it has ${Object.keys(served).join(', ')}`;
    add('error', `${path}.tool`, 'unknown_tool', message);
  }
}

function vetWait(rule: Rule, path: string, { ceilingSeconds }: VetOptions, add: Add): void {
  if (rule.on_timeout !== null && rule.on_timeout !== 'deny') {
    add('warn', `${path}.on_timeout`, 'on_timeout_other', 'resolves as a denial whatever it says; write deny');
  }
  if (typeof ceilingSeconds === 'number' && rule.timeout_s > ceilingSeconds) {
    const message = `waits ${rule.timeout_s} s, longer than the approval ceiling of ${ceilingSeconds} s, which does not shorten it`;
    add('warn', `${path}.timeout_s`, 'timeout_above_ceiling', message);
  }
}

function vetCondition(rule: Rule, condition: Condition, path: string, options: VetOptions, add: Add): void {
  const { op, value } = condition;
  if (op === 'command_prefix_allowlist' && rule.action === 'allow') vetAllowlist(rule, value, path, options, add);
  if (op === 'regex' && rule.action === 'allow' && /^(\(\?[a-zA-Z]+\))?\^?\.\*/.test(value) && /\.\*\$?$/.test(value)) {
    add('warn', `${path}.value`, 'regex_wide', 'is open at both ends: it allows whatever surrounds what it names');
  }
  if (rule.action === 'deny' && !isCommandOperator(op) && op !== 'exists') vetKey(rule, condition.key, path, add);
}

function vetAllowlist(rule: Rule, value: string, path: string, { commandTables: own }: VetOptions, add: Add): void {
  const tools = selector(rule.tools);
  const entries = listEntries(value);
  const dead = (message: string): void => add('error', `${path}.value`, 'dead_entry', message);
  if (tools !== null && tools !== 'local_shell')
    dead(`grants nothing on ${tools}: Reins does not control how it runs a command`);
  if (entries.length === 0) dead('grants nothing: the list is empty');
  for (const entry of entries) {
    const [program = '', ...rest] = entry.split(/[ \t]+/);
    const name = program.slice(program.lastIndexOf('/') + 1);
    if (isLauncher(name) || launches(name, rest)) dead(`${entry} grants nothing: ${name} starts another program`);
    else if (isInterpreter(name)) {
      if (isDeadInterpreter(name, rest, own))
        dead(`${entry} grants nothing: ${name} runs any program that it is given`);
    } else if (isNeverGranted(name)) dead(`${entry} grants nothing: ${name} is never granted`);
    else if (tableOf(name, own) === undefined) {
      const message = `grants ${entry} with any options: ${name} has no option table`;
      add('warn', `${path}.value`, 'untabled_program', message);
    }
  }
}

/** 02 §9.5: a bare entry grants at most itself, and that only where its program's table accepts it (`node --version`). */
function isDeadInterpreter(name: string, rest: readonly string[], own: CommandTables | undefined): boolean {
  if (!isBareInterpreter(name, rest)) return false;
  const table = tableOf(name, own);
  return rest.length === 0 || table === undefined || !judgeWords(table, rest, own).ok;
}

function vetKey(rule: Rule, key: string, path: string, add: Add): void {
  const tools = selector(rule.tools);
  const tool = selector(rule.tool);
  const served = tools !== null && Object.hasOwn(builtInTools, tools) ? builtInTools[tools] : undefined;
  if (served === undefined) return;
  const requiring = Object.entries(served).filter(([name]) => tool === null || name === tool);
  if (requiring.length === 0 || requiring.some(([, required]) => required.includes(key))) return;
  const message = `does not fire where ${key} is absent, and ${tool ?? 'no tool of this toolset'} ${tool === null ? 'requires' : 'does not require'} it`;
  add('warn', `${path}.key`, 'missing_key_deny', message);
}

/** A list that would ask or deny, below an allowlist that has granted one of its programs already. */
function vetClawBack(earlier: readonly Rule[], rule: Rule, path: string, add: Add): void {
  if (rule.action === 'allow') return;
  rule.when.forEach((condition, place) => {
    if (!['command_blacklist', 'command_ask_always', 'command_prefix_allowlist'].includes(condition.op)) return;
    const names = listEntries(condition.value).map((entry) => entry.split(/[ \t]+/)[0] ?? '');
    for (const [index, one] of earlier.entries()) {
      if (one.action !== 'allow' || !covers(one.tools, rule.tools) || !covers(one.tool, rule.tool)) continue;
      const granted = grantedPrograms(one).find((name) => names.includes(name));
      if (granted === undefined) continue;
      const message = `cannot take ${granted} back: rule ${index + 1} allows it first`;
      add('warn', `${path}.when[${place}]`, 'claw_back', message);
      return;
    }
  });
}

function grantedPrograms(rule: Rule): readonly string[] {
  const [only, ...more] = rule.when;
  if (only === undefined || more.length > 0 || only.op !== 'command_prefix_allowlist') return [];
  return listEntries(only.value).map((entry) => entry.split(/[ \t]+/)[0] ?? '');
}
