import { ownMember } from '../text/own-member.ts';
import { placeOf, placeOfMember, type Findings } from './findings.ts';
import type { JsonMember, JsonNode, JsonObject, JsonString } from './json.ts';

/**
 * Turns the input dialect into canonical names (04 §2.6): the same tree with other names and words, positions kept.
 * Also: numbers in `tools_policies` become text, operator signs become words, a negative `retry_on_failure` becomes 0.
 */
export function normalise(root: JsonNode, findings: Findings): JsonNode {
  return eachMember(root, { tasks: (tasks) => eachItem(tasks, (task) => normaliseTask(task, findings)) });
}

function normaliseTask(given: JsonNode, findings: Findings): JsonNode {
  if (given.kind !== 'object') return given;
  const renamed = rename(given, 'hook', 'tools', findings);
  const macros = (value: JsonNode): JsonNode => eachString(value, (text) => canonicalMacros(text, findings));
  const task = eachMember(renamed, {
    handler: (value) => (value.kind === 'string' && value.value === 'hook' ? instead(value, 'tools', findings) : value),
    system_instruction: macros,
    preface: macros,
    prompt_template: macros,
    output_template: macros,
    print: macros,
    tools: (value) => eachMember(value, { args: macros }),
    execute_config: (value) => macros(normaliseConfig(value, findings)),
    retry_on_failure: (value) => notNegative(value, findings),
  });
  const handler = textOf(task, 'handler');
  const plainOutput = (textOf(task, 'output_template') ?? '') === '';
  return eachMember(task, {
    transition: (value) =>
      eachMember(value, {
        branches: (branches) =>
          eachItem(branches, (branch) => normaliseBranch(branch, handler ?? '', plainOutput, findings)),
      }),
  });
}

function normaliseConfig(given: JsonNode, findings: Findings): JsonNode {
  if (given.kind !== 'object') return given;
  const config = rename(rename(given, 'hooks', 'tools', findings), 'hook_policies', 'tools_policies', findings);
  return eachMember(config, {
    tools_policies: (policies) => everyMember(policies, (limits) => everyMember(limits, asText)),
  });
}

/** Numbers and booleans of a provider's limits as text (04 §5). */
const asText = (value: JsonNode): JsonNode =>
  value.kind === 'number' || value.kind === 'boolean'
    ? { ...value, kind: 'string', value: String(value.value) }
    : value;

function notNegative(value: JsonNode, findings: Findings): JsonNode {
  if (value.kind !== 'number' || !(value.value < 0)) return value;
  findings.warning('out_of_range', placeOf(value), 'a negative retry_on_failure counts as 0');
  return { ...value, value: 0 };
}

const operatorSigns: Readonly<Record<string, string>> = { '>': 'gt', '<': 'lt' };

/** Words of the dialect for evals, by the handler that yields them. */
const evalAliases: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  chat_completion: { 'tool-call': 'tool_call' },
  execute_tool_calls: { no_op: 'noop' },
  noop: { no_op: 'noop' },
  tools: { ok: 'tools_executed' },
};

function normaliseBranch(branch: JsonNode, handler: string, plainOutput: boolean, findings: Findings): JsonNode {
  const known = Object.hasOwn(evalAliases, handler) && (handler !== 'tools' || plainOutput);
  const aliases = known ? (evalAliases[handler] ?? {}) : {};
  return eachMember(branch, {
    operator: (value) => {
      const word = value.kind === 'string' && Object.hasOwn(operatorSigns, value.value) ? value.value : null;
      return word === null || value.kind !== 'string' ? value : { ...value, value: operatorSigns[word] ?? word };
    },
    when: (value) => {
      const word = value.kind === 'string' ? ownMember(aliases, value.value) : undefined;
      return word === undefined || value.kind !== 'string' ? value : instead(value, word, findings);
    },
  });
}

/** `{{hookservice:…}}` in its canonical form; both have the same length, so positions in the text hold. */
function canonicalMacros(node: JsonString, findings: Findings): JsonString {
  const value = node.value.replace(
    /\{\{(\s*)hookservice(\s*:\s*)(hooks)?/g,
    (_, before: string, colon: string, hooks: string | undefined, index: number) => {
      findings.info('alias_used', findings.inside(node, index), '{{hookservice:…}} is read as {{toolservice:…}}');
      return `{{${before}toolservice${colon}${hooks === undefined ? '' : 'tools'}`;
    },
  );
  return value === node.value ? node : { ...node, value };
}

function instead(node: JsonString, word: string, findings: Findings): JsonString {
  findings.info('alias_used', placeOf(node), `${node.value} is read as ${word}`);
  return { ...node, value: word };
}

function rename(object: JsonObject, alias: string, name: string, findings: Findings): JsonObject {
  const used = object.members.find((member) => member.name === alias);
  if (used === undefined) return object;
  if (object.members.some((member) => member.name === name)) {
    findings.error('alias_conflict', placeOfMember(used), `${alias} is another name of ${name}; keep one of the two`);
    return { ...object, members: object.members.filter((member) => member !== used) };
  }
  findings.info('alias_used', placeOfMember(used), `${alias} is read as ${name}`);
  return {
    ...object,
    members: object.members.map((member) => (member === used ? { ...member, name } : member)),
  };
}

function textOf(node: JsonNode, name: string): string | null {
  const value = node.kind === 'object' ? node.members.find((member) => member.name === name)?.value : undefined;
  return value?.kind === 'string' ? value.value : null;
}

type Change = (value: JsonNode) => JsonNode;

/** The object with some members changed; anything else as it is. */
function eachMember(node: JsonNode, changes: Readonly<Record<string, Change>>): JsonNode {
  return withMembers(node, ({ name, value }) =>
    Object.hasOwn(changes, name) ? (changes[name]?.(value) ?? value) : value,
  );
}

const everyMember = (node: JsonNode, change: Change): JsonNode => withMembers(node, ({ value }) => change(value));

function withMembers(node: JsonNode, change: (member: JsonMember) => JsonNode): JsonNode {
  if (node.kind !== 'object') return node;
  return { ...node, members: node.members.map((member) => ({ ...member, value: change(member) })) };
}

function eachItem(node: JsonNode, change: Change): JsonNode {
  return node.kind === 'array' ? { ...node, items: node.items.map(change) } : node;
}

/** Changes every string of a value, at any depth. */
function eachString(node: JsonNode, change: (node: JsonString) => JsonNode): JsonNode {
  if (node.kind === 'string') return change(node);
  if (node.kind === 'array') return eachItem(node, (item) => eachString(item, change));
  return everyMember(node, (value) => eachString(value, change));
}
