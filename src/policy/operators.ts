import type { Action, Condition } from '../schema/policy.ts';
import { exceedsBytes } from '../text/utf8.ts';
import { compileOperand, matchGlob } from './glob.ts';
import { covers, hostsOf, parseHosts } from './hosts.ts';
import { directoriesOf, directoryValue, isWithin, type PathValue } from './paths.ts';
import { no, pathMatches, type PathTest, type Reading, type Scope, unclear, yes } from './scope.ts';
import { unexpanded } from './unexpanded.ts';

/** Tests one scalar argument, or one element of an array (02 §7.1). */
export type ValueTest = (value: unknown, scope: Scope, action: Action) => Reading;

export type Parsed<T> = { readonly ok: true; readonly test: T } | { readonly ok: false; readonly message: string };

const parsed = <T>(test: T): Parsed<T> => ({ ok: true, test });
const refused = (message: string): { readonly ok: false; readonly message: string } => ({ ok: false, message });

/** Longest operand and longest value of `regex`, in bytes. */
const maxRegexBytes = 4096;
const maxRegexValueBytes = 65_536;
/**
 * Most steps that one match may cost, size times length: 1 ms for ordinary expressions, some tens for the worst (02 §7.1
 * wants 5). Beyond it nobody can tell.
 */
const maxRegexSteps = 2_500_000;

/** The value operators by name: each reads its operand once and gives a test, or says what is wrong with it. */
export const valueOperators: Readonly<Record<string, (condition: Condition) => Parsed<ValueTest>>> = {
  eq: ({ value }) =>
    parsed(
      rendered(
        (text) => text === value,
        (text) => `is ${text}`,
      ),
    ),
  neq: ({ value }) =>
    parsed(
      rendered(
        (text) => text !== value,
        (text) => `is ${text}, not ${value}`,
      ),
    ),
  in: ({ value }) =>
    listed(value, (list) =>
      rendered(
        (text) => list.has(text),
        (text) => `is ${text}`,
      ),
    ),
  not_in: ({ value }) =>
    listed(value, (list) =>
      rendered(
        (text) => !list.has(text),
        (text) => `is ${text}`,
      ),
    ),
  prefix: ({ value }) => textual(value, (text) => text.startsWith(value), 'starts with'),
  suffix: ({ value }) => textual(value, (text) => text.endsWith(value), 'ends with'),
  contains: ({ value }) => textual(value, (text) => text.includes(value), 'contains'),
  regex,
  lt: ({ value }) => numeric(value, (left, right) => left < right),
  lte: ({ value }) => numeric(value, (left, right) => left <= right),
  gt: ({ value }) => numeric(value, (left, right) => left > right),
  gte: ({ value }) => numeric(value, (left, right) => left >= right),
  host,
  glob,
  path_within: pathWithin,
};

/** `exists` looks at the member itself: `true` when its presence is what the operand asks for; null = bad operand. */
export function parseExists(operand: string): boolean | null {
  if (operand === '' || operand === 'true') return true;
  return operand === 'false' ? false : null;
}

/** A scalar as `eq`, `neq`, `in` and `not_in` compare it (RFC 8785 for numbers); null for what has no rendering. */
function render(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && Number.isFinite(value) ? JSON.stringify(value) : null;
}

const rendered =
  (holds: (text: string) => boolean, detail: (text: string) => string): ValueTest =>
  (value) => {
    const text = render(value);
    if (text === null) return unclear('is no text, number or boolean');
    return holds(text) ? yes(detail(text)) : no;
  };

function listed(operand: string, make: (list: ReadonlySet<string>) => ValueTest): Parsed<ValueTest> {
  let list: unknown;
  try {
    list = JSON.parse(operand);
  } catch {
    return refused('the operand must be a JSON array of texts, numbers or booleans');
  }
  const texts = Array.isArray(list) ? list.map(render) : [];
  if (texts.length === 0) return refused('the operand must be a JSON array with at least one member');
  const members = texts.filter((text) => text !== null);
  if (members.length < texts.length) return refused('every member of the operand must be a text, number or boolean');
  return parsed(make(new Set(members)));
}

function textual(operand: string, holds: (text: string) => boolean, verb: string): Parsed<ValueTest> {
  if (operand === '') return refused('the operand must not be empty');
  return parsed((value) => {
    if (typeof value !== 'string') return unclear('is no text');
    return holds(value) ? yes(`${verb} ${operand}`) : no;
  });
}

function regex({ value: operand, regex: compiled }: Condition): Parsed<ValueTest> {
  if (operand === '') return refused('the expression must not be empty');
  if (exceedsBytes(operand, maxRegexBytes)) return refused(`the expression is longer than ${maxRegexBytes} bytes`);
  return parsed((value) => {
    if (typeof value !== 'string') return unclear('is no text');
    if (compiled === undefined) return unclear('the expression was not compiled');
    if (exceedsBytes(value, maxRegexValueBytes)) return unclear(`is longer than ${maxRegexValueBytes} bytes`);
    if (compiled.size * value.length > maxRegexSteps) return unclear('is too long for so large an expression');
    return compiled.matchWhole(value) ? yes(`matches ${operand}`) : no;
  });
}

const jsonNumber = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

/** One that a double does not hold is as large as a double can be. */
const numberOf = (text: string): number | null => (jsonNumber.test(text) ? Number(text) : null);

function numeric(operand: string, holds: (left: number, right: number) => boolean): Parsed<ValueTest> {
  const right = numberOf(operand);
  if (right === null || !Number.isFinite(right))
    return refused('the operand must be a JSON number that a double holds');
  return parsed((value) => {
    const left = typeof value === 'number' ? value : typeof value === 'string' ? numberOf(value) : null;
    if (left === null || Number.isNaN(left)) return unclear('is no number');
    return holds(left, right) ? yes(`is ${left}`) : no;
  });
}

function host({ value: operand }: Condition): Parsed<ValueTest> {
  const list = parseHosts(operand);
  if (!list.ok) return refused(list.message);
  return parsed((value, _scope, action) => {
    if (typeof value !== 'string') return unclear('is no URL text');
    const found = hostsOf(value);
    if (found.length === 0) return unclear('has no host');
    for (const target of found) {
      if (action === 'allow' && !target.explicit) continue;
      if (list.entries.some((entry) => covers(entry, target))) return yes(`reaches ${target.host}`);
    }
    return no;
  });
}

/** A text that can be a path: not empty of meaning, without U+0000. */
const isPath = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0');

/** The path that an argument names: the directory of a shell call is the one that does not lie in that directory. */
const pathAt = (key: string, text: string, scope: Scope): PathValue =>
  scope.call.tools === 'local_shell' && (key === 'cwd' || key === '/cwd')
    ? directoryValue(text, scope.host)
    : scope.path(text);

function glob({ key, value: operand }: Condition): Parsed<ValueTest> {
  const compiled = compileOperand(operand);
  if (!compiled.ok) return refused(compiled.message);
  const matches: PathTest = (path, scope) => matchGlob(compiled.glob, path, scope.places());
  return parsed((value, scope, action) => {
    if (!isPath(value)) return unclear('is no path');
    return pathMatches(pathAt(key, value, scope), matches, scope, action) ? yes(`${value} matches ${operand}`) : no;
  });
}

function pathWithin({ key, value: operand }: Condition): Parsed<ValueTest> {
  if (operand === '') return refused('the directory must not be empty');
  if (!isPath(operand)) return refused('the directory must not hold U+0000');
  const elsewhere = unexpanded(operand);
  if (elsewhere !== null) return refused(elsewhere);
  if (/(^|\/)\*\*\/?$/.test(operand))
    return refused('is a directory, not a pattern: what lies below it counts; use glob for patterns');
  const within: PathTest = (path, scope) =>
    directoriesOf(operand, scope.places(), scope.host).some((directory) => isWithin(path, directory));
  return parsed((value, scope, action) => {
    if (!isPath(value)) return unclear('is no path');
    return pathMatches(pathAt(key, value, scope), within, scope, action) ? yes(`${value} is within ${operand}`) : no;
  });
}
