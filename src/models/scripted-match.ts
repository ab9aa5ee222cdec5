import type { Message } from '../schema/message.ts';
import { messageOf } from '../text/thrown.ts';
import { ownMeta, systemText } from './history.ts';
import type { ModelRequest, ThinkLevel } from './model.ts';
import type { FillScope } from './scripted-fill.ts';
import type { Expect, Match, NumberMatcher, TextMatcher, Turn } from './scripted-types.ts';

/** A request as conditions see it: nothing but its own content (08 §6.2). */
export type RequestView = {
  readonly role: Message['role'] | null;
  readonly last_user: string;
  readonly last_assistant: string;
  readonly system: string;
  readonly contents: readonly string[];
  /** The last message, when it is a tool result; `count` = results since the newest user message. */
  readonly tool: { readonly name: string; readonly content: string; readonly count: number } | null;
  readonly turn: number;
  readonly user_turn: number;
  readonly attempt: number;
  readonly model: string;
  readonly offered: readonly string[];
  readonly images: number;
  readonly think: ThinkLevel;
  readonly messages: number;
  readonly max_tokens: number | undefined;
  readonly temperature: number | undefined;
  readonly num_ctx: number | undefined;
  /** How often each turn was played in this history. */
  readonly played: ReadonlyMap<string, number>;
};

const lastOf = (messages: readonly Message[], role: Message['role']): Message | undefined =>
  messages.findLast((message) => message.role === role);

export function viewOf(request: ModelRequest): RequestView {
  const messages = request.messages.filter((message) => message.role !== 'system');
  const last = messages.at(-1);
  const user = lastOf(messages, 'user');
  const sinceUser = user === undefined ? messages : messages.slice(messages.lastIndexOf(user) + 1);
  const played = new Map<string, number>();
  for (const message of messages) {
    const name = message.role === 'assistant' ? ownMeta(message, 'scripted')?.['turn'] : undefined;
    if (typeof name === 'string') played.set(name, (played.get(name) ?? 0) + 1);
  }
  return {
    role: last?.role ?? null,
    last_user: user?.content ?? '',
    last_assistant: lastOf(messages, 'assistant')?.content ?? '',
    system: systemText(request),
    contents: messages.map((message) => message.content),
    tool:
      last?.role === 'tool'
        ? {
            name: last.tool_name ?? '',
            content: last.content,
            count: sinceUser.filter((message) => message.role === 'tool').length,
          }
        : null,
    turn: messages.filter((message) => message.role === 'assistant').length + 1,
    user_turn: messages.filter((message) => message.role === 'user').length,
    attempt: request.attempt,
    model: request.model,
    offered: request.tools.map((tool) => `${tool.tools}.${tool.tool}`),
    images: user?.images?.length ?? 0,
    think: request.think,
    messages: messages.length,
    max_tokens: request.max_tokens,
    temperature: request.temperature,
    num_ctx: request.num_ctx,
    played,
  };
}

export const scopeOf = (view: RequestView, cwd: string, groups: FillScope['groups']): FillScope => ({
  last_user: view.last_user,
  last_assistant: view.last_assistant,
  model: view.model,
  turn: view.turn,
  tool: view.tool,
  groups,
  offered: view.offered,
  cwd,
});

type Groups = readonly (string | undefined)[];
/** Groups of the first regular expression that took part, empty without one; null when the text does not match. */
type TextTest = (text: string) => Groups | null;
type Condition = { readonly name: string; readonly holds: (view: RequestView) => Groups | null };

export type CompiledTurn = {
  readonly turn: Turn;
  readonly conditions: readonly Condition[];
  /** Assertions of `expect` (08 §6.4); each says what is wrong, or null. */
  readonly assertions: readonly ((view: RequestView) => string | null)[];
};

/** Makes the error of a turn; the pointer leads on from the turn. */
type Problem = (message: string, pointer: string) => Error;
const below =
  (problem: Problem, step: string): Problem =>
  (message, pointer) =>
    problem(message, `/${step}${pointer}`);

const none: Groups = [];
const yes = (holds: boolean): Groups | null => (holds ? none : null);

/**
 * Makes the conditions of a turn ready to test.
 * @throws RuntimeError config_invalid through `problem` for a regular expression that the linear engine does not take
 */
export async function compileTurn(turn: Turn, problem: Problem): Promise<CompiledTurn> {
  const conditions: Condition[] = [];
  for (const [name, value] of Object.entries(turn.match ?? {})) {
    // The entries of a checked `match` have the types of their names.
    conditions.push({ name, holds: await conditionOf({ [name]: value } as Match, below(problem, `match/${name}`)) });
  }
  const { times } = turn;
  if (times !== undefined) {
    conditions.push({ name: 'times', holds: (view) => yes((view.played.get(turn.name) ?? 0) < times) });
  }
  return { turn, conditions, assertions: await assertionsOf(turn.reply.expect ?? {}, problem) };
}

/** The condition of a `match` with one member. */
async function conditionOf(match: Match, problem: Problem): Promise<Condition['holds']> {
  const { role, last_user, last_assistant, system, any, tool, model, offered, not_offered, think } = match;
  if (role !== undefined) return (view) => yes(view.role === role);
  for (const [name, matcher] of Object.entries({ last_user, last_assistant, system, model })) {
    if (matcher === undefined) continue;
    const test = await textTest(matcher, problem);
    // The names are those of the object above, all texts of the view.
    return (view) => test(view[name as 'last_user' | 'last_assistant' | 'system' | 'model']);
  }
  if (any !== undefined) {
    const test = await textTest(any, problem);
    return (view) => {
      for (const content of view.contents) {
        const groups = test(content);
        if (groups !== null) return groups;
      }
      return null;
    };
  }
  if (tool !== undefined) return toolCondition(tool, problem);
  if (offered !== undefined) return (view) => yes(missing(offered, view) === null);
  if (not_offered !== undefined) return (view) => yes(surplus(not_offered, view) === null);
  if (think !== undefined) return (view) => yes(view.think === think);
  for (const name of ['turn', 'user_turn', 'attempt', 'images'] as const) {
    const matcher = match[name];
    if (matcher !== undefined) return (view) => yes(numberHolds(matcher, view[name]));
  }
  throw new TypeError(`no condition in ${JSON.stringify(match)}`);
}

async function toolCondition(tool: NonNullable<Match['tool']>, problem: Problem): Promise<Condition['holds']> {
  const name = tool.name === undefined ? null : await textTest(tool.name, below(problem, 'name'));
  const content = tool.content === undefined ? null : await textTest(tool.content, below(problem, 'content'));
  const { count } = tool;
  return (view) => {
    if (view.tool === null) return null;
    if (count !== undefined && !numberHolds(count, view.tool.count)) return null;
    const fromName = name === null ? none : name(view.tool.name);
    const fromContent = content === null ? none : content(view.tool.content);
    if (fromName === null || fromContent === null) return null;
    return fromContent.length > 0 ? fromContent : fromName;
  };
}

/** The first wanted name that is not offered, or null. */
const missing = (wanted: readonly string[], view: RequestView): string | null =>
  wanted.find((name) => !view.offered.includes(name)) ?? null;

/** The first offered name that must not be, or null; `*` stands for every tool. */
const surplus = (unwanted: readonly string[], view: RequestView): string | null =>
  view.offered.find((name) => unwanted.includes(name) || unwanted.includes('*')) ?? null;

const numberTests = {
  eq: (value: number, limit: number) => value === limit,
  lt: (value: number, limit: number) => value < limit,
  lte: (value: number, limit: number) => value <= limit,
  gt: (value: number, limit: number) => value > limit,
  gte: (value: number, limit: number) => value >= limit,
} as const;

function numberHolds(matcher: NumberMatcher, value: number): boolean {
  if (typeof matcher === 'number') return value === matcher;
  return Object.entries(matcher).every(([name, limit]) =>
    // A checked matcher has the names of the table.
    numberTests[name as keyof typeof numberTests](value, limit),
  );
}

async function textTest(matcher: TextMatcher, problem: Problem): Promise<TextTest> {
  if (typeof matcher === 'string') return textTest({ contains: matcher }, problem);
  const folded = matcher.case === true ? (text: string) => text : (text: string) => text.toLowerCase();
  const { equals, contains, any_of, starts_with, ends_with, empty, regex } = matcher;
  const listed = (typeof contains === 'string' ? [contains] : (contains ?? [])).map(folded);
  const some = any_of?.map(folded);
  const expression = regex === undefined ? null : await compile(regex, matcher.case === true, below(problem, 'regex'));
  const not = matcher.not === undefined ? null : await textTest(matcher.not, below(problem, 'not'));
  const simple = (text: string): boolean => {
    const value = folded(text);
    return (
      (equals === undefined || value === folded(equals)) &&
      listed.every((part) => value.includes(part)) &&
      (some === undefined || some.some((part) => value.includes(part))) &&
      (starts_with === undefined || value.startsWith(folded(starts_with))) &&
      (ends_with === undefined || value.endsWith(folded(ends_with))) &&
      (empty === undefined || empty === (text === ''))
    );
  };
  return (text) => {
    if (!simple(text) || (not !== null && not(text) !== null)) return null;
    return expression === null ? none : expression(text);
  };
}

async function compile(source: string, exactCase: boolean, problem: Problem): Promise<(text: string) => Groups | null> {
  const { compileRegex } = await import('../text/linear-regex.ts');
  try {
    const expression = await compileRegex(source, { ignoreCase: !exactCase });
    return (text) => expression.exec(text)?.groups ?? null;
  } catch (error) {
    throw problem(`the regular expression ${source} is not valid: ${messageOf(error)}`, '');
  }
}

async function assertionsOf(expect: Expect, problem: Problem): Promise<CompiledTurn['assertions']> {
  const assertions: ((view: RequestView) => string | null)[] = [];
  for (const name of ['system', 'last_user'] as const) {
    const matcher = expect[name];
    if (matcher === undefined) continue;
    const test = await textTest(matcher, below(problem, `reply/expect/${name}`));
    assertions.push((view) => (test(view[name]) === null ? `${name} is ${quoted(view[name])}` : null));
  }
  for (const name of ['messages', 'max_tokens', 'temperature', 'num_ctx', 'images'] as const) {
    const matcher = expect[name];
    if (matcher === undefined) continue;
    assertions.push((view) => {
      const value = view[name];
      if (value === undefined) return `${name} is not set`;
      return numberHolds(matcher, value) ? null : `${name} is ${value}`;
    });
  }
  const { offered, not_offered, think } = expect;
  if (offered !== undefined) {
    assertions.push((view) => {
      const name = missing(offered, view);
      return name === null ? null : `offered lacks ${name}`;
    });
  }
  if (not_offered !== undefined) {
    assertions.push((view) => {
      const name = surplus(not_offered, view);
      return name === null ? null : `offered has ${name}`;
    });
  }
  if (think !== undefined) assertions.push((view) => (view.think === think ? null : `think is ${view.think}`));
  return assertions;
}

const quoted = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** The turn that a request gets, or what each turn lacked (at most 20). */
export type Choice =
  | { readonly kind: 'turn'; readonly compiled: CompiledTurn; readonly groups: Groups }
  | { readonly kind: 'none'; readonly failed: readonly string[] };

/** The first turn whose conditions all hold; without one, of the first 20 the condition that did not. */
export function chooseTurn(turns: readonly CompiledTurn[], view: RequestView): Choice {
  const failed: string[] = [];
  for (const compiled of turns) {
    let groups = none;
    let lacking: string | null = null;
    for (const { name, holds } of compiled.conditions) {
      const found = holds(view);
      if (found === null) {
        lacking = name;
        break;
      }
      if (groups.length === 0) groups = found;
    }
    if (lacking === null) return { kind: 'turn', compiled, groups };
    if (failed.length < 20) failed.push(`${compiled.turn.name}: ${lacking}`);
  }
  return { kind: 'none', failed };
}
