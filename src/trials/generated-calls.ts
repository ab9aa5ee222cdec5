import { expandBraces } from '../policy/braces.ts';
import { builtInTools } from '../schema/tool-names.ts';
import { listEntries } from '../policy/commands.ts';
import { selector } from '../policy/compile.ts';
import type { Condition, Policy, PolicyCall, Rule } from '../schema/policy.ts';

/** Most calls that one operand gives: alternatives of a glob, entries of a list. */
const maxPerOperand = 64;

/** Calls that the rules of a document are about: at least one for each glob, entry, host and plain operand (02 §14.5). */
export function generatedCalls(policy: Policy): readonly PolicyCall[] {
  return policy.rules.flatMap((rule) => {
    const targets = targetsOf(rule);
    if (rule.when.length === 0) return targets.map((target) => ({ ...target, args: {} }));
    return rule.when.flatMap((condition) =>
      valuesOf(condition).flatMap((value) => targets.map((target) => ({ ...target, args: argsOf(condition, value) }))),
    );
  });
}

type Target = { readonly tools: string; readonly tool: string };

/** The tools that a rule selects; a wildcard stands for one reader and one writer, or the first tool of a toolset. */
function targetsOf(rule: Rule): readonly Target[] {
  const named = selector(rule.tool);
  const isCommand = rule.when.some(({ op }) => op.startsWith('command_') || op.endsWith('_substitution'));
  const isUrl = rule.when.some(({ op }) => op === 'host');
  const tools = selector(rule.tools) ?? (isCommand ? 'local_shell' : isUrl ? 'web' : 'local_fs');
  if (named !== null) return [{ tools, tool: named }];
  if (tools === 'local_fs') return ['read_file', 'write_file'].map((tool) => ({ tools, tool }));
  const [first] = Object.hasOwn(builtInTools, tools) ? Object.keys(builtInTools[tools] ?? {}) : [];
  return [{ tools, tool: first ?? tools }];
}

/** Values that a condition holds for, as far as its operand tells; none for an expression. */
function valuesOf({ op, value }: Condition): readonly unknown[] {
  switch (op) {
    case 'glob':
      return examplePaths(value);
    case 'command_path':
      return examplePaths(value).map((path) => `cat ${path}`);
    case 'path_within':
      return [`${value.replace(/\/+$/, '')}/example`];
    case 'host':
      return listEntries(value)
        .slice(0, maxPerOperand)
        .map((host) => urlOf(host.replace(/^\*\./, 'sub.')));
    case 'command_blacklist':
    case 'command_ask_always':
      return listEntries(value).slice(0, maxPerOperand);
    case 'command_prefix_allowlist':
      return listEntries(value)
        .slice(0, maxPerOperand)
        .flatMap((entry) => [entry, `${entry} example`]);
    case 'has_command_substitution':
    case 'no_command_substitution':
      return ['echo $(id)'];
    case 'in':
      return members(value);
    case 'lt':
    case 'lte':
      return [Number(value) - 1, Number(value)];
    case 'gt':
    case 'gte':
      return [Number(value), Number(value) + 1];
    case 'exists':
      return value === 'false' ? [undefined] : ['example'];
    case 'regex':
      return [];
    default:
      return [value];
  }
}

const urlOf = (host: string): string => `https://${host.includes(':') ? `[${host}]` : host}/`;

function members(operand: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(operand);
    return Array.isArray(list) ? list.slice(0, maxPerOperand) : [];
  } catch {
    return [];
  }
}

/** One path for each alternative of a glob: wildcards become plain text, and a leading `**` the base. */
export function examplePaths(glob: string, base = '/srv/p/'): readonly string[] {
  const patterns = expandBraces(glob);
  if (typeof patterns === 'string') return [];
  return patterns.slice(0, maxPerOperand).map((pattern) =>
    pattern
      .replace(/^\*\*\//, base)
      .replace(/\[[!^][^\]]*\]/g, '_')
      .replace(/\[(.)[^\]]*\]/g, '$1')
      .replace(/\*+/g, 'example')
      .replace(/\?/g, 'x')
      .replace(/\\(.)/g, '$1'),
  );
}

/** The arguments of a call in which only the key of the condition stands, as its JSON Pointer leads to it. */
function argsOf({ key, op }: Condition, value: unknown): PolicyCall['args'] {
  if (value === undefined) return {};
  const name = key === '' ? 'command' : key;
  if (!name.startsWith('/')) return { [name]: value };
  const steps = name.slice(1).split('/');
  if (op === 'exists' || steps.length === 0) return {};
  return steps.reduceRight<unknown>(
    (inner, step) => ({ [step.replaceAll('~1', '/').replaceAll('~0', '~')]: inner }),
    value,
  ) as PolicyCall['args'];
}
