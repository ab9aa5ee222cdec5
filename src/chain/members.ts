import { meantName } from './spelling.ts';

/** JSON types that members of the document have. */
export type MemberType =
  | 'string'
  | 'boolean'
  | 'integer'
  | 'number'
  | 'object'
  | 'array'
  | 'strings'
  /** A list of strings or null. */
  | 'allowlist'
  /** A string or an integer. */
  | 'duration'
  | 'text_or_integer';

/** Each object of a chain, in the words in which findings name it, with its members. */
export const members = {
  'a chain': {
    id: 'string',
    description: 'string',
    debug: 'boolean',
    tasks: 'array',
    token_limit: 'integer',
  },
  'a task': {
    id: 'string',
    handler: 'string',
    description: 'string',
    system_instruction: 'string',
    preface: 'string',
    execute_config: 'object',
    tools: 'object',
    prompt_template: 'string',
    output_template: 'string',
    print: 'string',
    input_var: 'string',
    input_max_bytes: 'integer',
    valid_conditions: 'object',
    transition: 'object',
    timeout: 'duration',
    retry_on_failure: 'integer',
  },
  'a transition': { on_failure: 'string', branches: 'array' },
  'a branch': {
    operator: 'string',
    when: 'string',
    edge: 'string',
    goto: 'string',
    compose: 'object',
  },
  compose: { with_var: 'string', strategy: 'string' },
  tools: { name: 'string', tool_name: 'string', args: 'object' },
  execute_config: {
    model: 'string',
    models: 'strings',
    provider: 'string',
    providers: 'strings',
    temperature: 'number',
    max_tokens: 'text_or_integer',
    think: 'string',
    tools: 'allowlist',
    hide_tools: 'strings',
    tools_policies: 'object',
    pass_clients_tools: 'boolean',
    shift: 'boolean',
    retry_policy: 'object',
    compact_policy: 'object',
  },
  retry_policy: {
    max_attempts: 'integer',
    initial_backoff: 'duration',
    max_backoff: 'duration',
    jitter: 'number',
    rate_limit_min_wait: 'duration',
    fallback_model_id: 'string',
    fallback_after: 'integer',
  },
  compact_policy: {
    trigger_fraction: 'number',
    keep_recent: 'integer',
    min_replaced_messages: 'integer',
    max_failures: 'integer',
    model: 'string',
    provider: 'string',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, MemberType>>>>;
export type Owner = keyof typeof members;

/** Where a word that stands in the wrong object is looked for, the inner ones first. */
const homes: readonly Owner[] = [
  'a branch',
  'a transition',
  'execute_config',
  'tools',
  'retry_policy',
  'compact_policy',
  'compose',
  'a task',
  'a chain',
];

/** What to do about a member that an object does not have: the word that was meant, where it belongs, or what is known. */
export function memberAdvice(owner: Owner, name: string): string {
  const known = Object.keys(members[owner]);
  const home = name === 'name' ? undefined : homes.find((each) => Object.hasOwn(members[each], name));
  if (home !== undefined) return `it belongs in ${home}`;
  const meant = meantName(name, known) ?? onlyOne(known.filter((each) => isPartOf(name, each)));
  return meant === null ? `known are ${known.join(', ')}` : `did you mean ${meant}?`;
}

/** The beginning of a word, such as `op` and `prompt`, or its last part, such as `conditions`. */
const isPartOf = (word: string, whole: string): boolean =>
  word.length > 1 && (whole.startsWith(word) || whole.endsWith(`_${word}`));

const onlyOne = (words: readonly string[]): string | null => (words.length === 1 ? (words[0] ?? null) : null);
