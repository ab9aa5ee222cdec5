import {
  array,
  assign,
  boolean,
  define,
  dynamic,
  enums,
  type Failure,
  integer,
  lazy,
  literal,
  max,
  min,
  nonempty,
  number,
  object,
  optional,
  record,
  refine,
  type Struct,
  string,
  unknown,
} from 'superstruct';
import { otherDocument } from '../schema/document-kinds.ts';
import { RuntimeError } from '../schema/errors.ts';
import { FinishReason } from '../schema/message.ts';
import { isObject } from '../text/json-object.ts';
import { ownMember } from '../text/own-member.ts';
import { quote } from '../text/quote.ts';
import { readStrictJson } from '../text/strict-json.ts';
import { unknownSubstitution } from './scripted-fill.ts';
import type { Reply, Script } from './scripted-types.ts';

/** Used for checking alone; the types above say what a checked value is. */
type Check = Struct<unknown, unknown>;
const as = (struct: unknown): Check => struct as Check;
const isString = (value: unknown): value is string => typeof value === 'string';
/** Says what a value must be, so that a failure names it instead of a list of attempts. */
const either = (test: (value: unknown) => boolean, one: Check, other: Check): Check =>
  dynamic((value) => (test(value) ? one : other));

const count = (least: number, most: number) => max(min(integer(), least), most);
const words = array(string());
const textOrList = either(isString, as(string()), as(array(string())));

const textMatcher: Check = lazy(() =>
  either(
    isString,
    as(string()),
    as(
      object({
        equals: optional(string()),
        contains: optional(textOrList),
        any_of: optional(words),
        starts_with: optional(string()),
        ends_with: optional(string()),
        regex: optional(string()),
        empty: optional(boolean()),
        not: optional(textMatcher),
        case: optional(boolean()),
      }),
    ),
  ),
);
const numberMatcher = either(
  (value) => typeof value === 'number',
  as(number()),
  as(
    object({
      eq: optional(number()),
      lt: optional(number()),
      lte: optional(number()),
      gt: optional(number()),
      gte: optional(number()),
    }),
  ),
);
const thinkLevel = enums(['auto', 'off', 'minimal', 'low', 'medium', 'high', 'xhigh']);

const match = object({
  role: optional(enums(['user', 'assistant', 'tool'])),
  last_user: optional(textMatcher),
  last_assistant: optional(textMatcher),
  system: optional(textMatcher),
  any: optional(textMatcher),
  tool: optional(
    object({ name: optional(textMatcher), content: optional(textMatcher), count: optional(numberMatcher) }),
  ),
  turn: optional(numberMatcher),
  user_turn: optional(numberMatcher),
  attempt: optional(numberMatcher),
  model: optional(textMatcher),
  offered: optional(words),
  not_offered: optional(words),
  images: optional(numberMatcher),
  think: optional(thinkLevel),
});
const expectation = object({
  system: optional(textMatcher),
  last_user: optional(textMatcher),
  messages: optional(numberMatcher),
  offered: optional(words),
  not_offered: optional(words),
  max_tokens: optional(numberMatcher),
  temperature: optional(numberMatcher),
  num_ctx: optional(numberMatcher),
  think: optional(thinkLevel),
  images: optional(numberMatcher),
});

const tokens = count(0, 1e12);
const usage = either(
  isString,
  as(enums(['estimate', 'none'])),
  as(
    object({
      input_tokens: tokens,
      output_tokens: tokens,
      reasoning_tokens: optional(tokens),
      cached_input_tokens: optional(tokens),
    }),
  ),
);
const delay = count(0, 60_000);
const pace = {
  chunk: optional(
    either((value) => typeof value === 'number', as(count(1, 1_000_000)), as(enums(['word', 'char', 'line', 'none']))),
  ),
  delay_ms: optional(delay),
  first_delay_ms: optional(delay),
  usage: optional(usage),
};
const errorForm = object({
  class: enums([
    'cancelled',
    'timeout',
    'connect',
    'rate_limit',
    'overloaded',
    'server_error',
    'malformed',
    'empty_reply',
    'auth',
    'permission',
    'model_not_found',
    'context_exceeded',
    'quota',
    'content_filter',
    'no_tool_support',
    'unsupported',
    'invalid_request',
    'permanent',
  ]),
  status: optional(count(100, 599)),
  message: optional(string()),
  retry_after_ms: optional(count(0, 86_400_000)),
  after_chars: optional(count(0, 10_000_000)),
});

const stepKinds: Readonly<Record<string, Check>> = {
  text: as(string()),
  thinking: as(string()),
  wait_ms: as(delay),
  tool_call: as(
    object({
      index: count(0, 1000),
      id: optional(string()),
      name: optional(string()),
      arguments: optional(string()),
    }),
  ),
  usage,
  finish: as(FinishReason),
  error: as(errorForm),
  drop: as(literal(true)),
  hang: as(literal(true)),
  garbage: as(string()),
};
const oneStep = define<unknown>('step', () => `a step has exactly one of ${Object.keys(stepKinds).join(', ')}`);
const step = dynamic((value): Check => {
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const kind = keys[0] ?? '';
  const struct = ownMember(stepKinds, kind);
  return keys.length === 1 && struct !== undefined ? as(object({ [kind]: struct })) : oneStep;
});

const reply = refine(
  object({
    ...pace,
    text: optional(textOrList),
    thinking: optional(textOrList),
    tool_calls: optional(
      array(
        object({
          name: nonempty(string()),
          arguments: either(isString, as(string()), as(record(string(), unknown()))),
          id: optional(string()),
        }),
      ),
    ),
    finish: optional(FinishReason),
    steps: optional(array(step)),
    error: optional(errorForm),
    hang: optional(literal(true)),
    expect: optional(expectation),
  }),
  'reply',
  // The object has been checked when a refinement runs.
  (value) => formProblem(value as unknown as Reply) ?? true,
);

const turnFields = object({ match: optional(match), times: optional(count(0, 1e9)), reply });
const scriptStruct = object({
  script: literal(1),
  models: nonempty(
    array(
      object({
        name: nonempty(string()),
        context: optional(count(1, 1e9)),
        max_output: optional(count(1, 1e9)),
        capabilities: optional(array(enums(['chat', 'tools', 'think', 'vision', 'embed']))),
      }),
    ),
  ),
  defaults: optional(object(pace)),
  turns: array(assign(object({ name: optional(nonempty(string())) }), turnFields)),
  fallback: optional(reply),
});

/** What is wrong with the forms of a reply, or null. */
function formProblem(value: Reply): string | null {
  const spoken = value.text !== undefined || value.thinking !== undefined || value.tool_calls !== undefined;
  const { steps, error, hang } = value;
  if (steps !== undefined && (spoken || error !== undefined || hang !== undefined)) {
    return 'steps stand alone: a reply has one form';
  }
  if (error !== undefined) {
    if (hang !== undefined) return 'a reply has one form: error or hang';
    if (!spoken) return error.after_chars === undefined ? null : 'after_chars needs a text beside the error';
    const textOnly = value.thinking === undefined && value.tool_calls === undefined;
    return textOnly && error.after_chars !== undefined
      ? null
      : 'a reply has one form: error takes a text beside it only with after_chars';
  }
  if (steps === undefined && !spoken && hang === undefined) {
    return 'a reply needs a form: text, thinking or tool_calls, steps, error, or hang';
  }
  return null;
}

/**
 * Reads the text of a script (08 §6.1).
 * @param name how messages call the file
 * @throws RuntimeError config_invalid naming the file and the JSON Pointer of the first defect
 */
export function parseScript(text: string, name: string): Script {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // In our own words: the engine's message quotes the file, and what that holds is not ours to show.
    const read = readStrictJson(text, 64);
    throw invalid(name, '', read.ok ? 'not JSON' : `not JSON at line ${read.line}, column ${read.column}`);
  }
  const other = isObject(value) ? otherDocument('script', Object.keys(value)) : null;
  if (other !== null) throw invalid(name, '', other.message, [other.next(quote(name))]);
  const [problem] = scriptStruct.validate(value);
  if (problem !== undefined) {
    const failure = problem.failures()[0] ?? problem;
    throw invalid(name, pointerOf(failure.path), failureText(failure));
  }
  // The struct above is the type `Script`, but for turns without a name.
  const checked = value as Script;
  const names = new Set<string>();
  const turns = checked.turns.map((turn, index) => {
    // An unnamed turn is called by its place, from 1.
    const turnName: string | undefined = turn.name;
    const named = { ...turn, name: turnName ?? `#${index + 1}` };
    if (names.has(named.name)) throw invalid(name, `/turns/${index}/name`, `a second turn named "${named.name}"`);
    names.add(named.name);
    return named;
  });
  const script: Script = { ...checked, turns };
  checkPlaceholders(script, name);
  return script;
}

function checkPlaceholders(script: Script, name: string): void {
  for (const [index, turn] of script.turns.entries()) checkReply(turn.reply, name, `/turns/${index}/reply`);
  if (script.fallback !== undefined) checkReply(script.fallback, name, '/fallback');
}

function checkReply(checked: Reply, name: string, pointer: string): void {
  const { expect: _expect, ...texts } = checked;
  const visit = (value: unknown, at: string): void => {
    if (typeof value === 'string') {
      const found = unknownSubstitution(value);
      if (found !== null) throw invalid(name, at, `unknown substitution \${${found}}`);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    for (const [key, member] of Object.entries(value)) visit(member, `${at}/${escapePointer(key)}`);
  };
  visit(texts, pointer);
}

export const invalid = (name: string, pointer: string, problem: string, hints: readonly string[] = []): RuntimeError =>
  new RuntimeError(
    'config_invalid',
    `The script does not load: ${problem} at ${name}:${pointer === '' ? '/' : pointer}`,
    { hints },
  );

const escapePointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');
const pointerOf = (path: readonly unknown[]): string => path.map((key) => `/${escapePointer(String(key))}`).join('');

function failureText(failure: Pick<Failure, 'type' | 'message' | 'path'>): string {
  if (failure.type === 'never') return `unknown field "${String(failure.path.at(-1))}"`;
  const { message } = failure;
  // "Expected a value of type `x`, but received: …" names the value, which may be long.
  const cut = message.search(/,? but received/);
  return (cut === -1 ? message : message.slice(0, cut)).replace(/^Expected /, 'expected ').slice(0, 300);
}
