import { create, type Failure, type Struct, StructError } from 'superstruct';
import { RuntimeError } from '../schema/errors.ts';

/**
 * What was given as the input of an operation. @throws RuntimeError unknown_field, invalid_body with the path of the first
 * fault as `param`; no value that was given is in the message
 */
export function checkInput<T, S>(name: string, given: unknown, struct: Struct<T, S>): T {
  try {
    return create(given, struct);
  } catch (error) {
    if (!(error instanceof StructError)) throw error;
    throw faultOf(name, error);
  }
}

function faultOf(name: string, error: StructError): RuntimeError {
  // A name that nobody knows says more than the name that is missing for it.
  const failure: Failure = error.failures().find(({ type }) => type === 'never') ?? error;
  const param = paramOf(failure.path);
  if (failure.type === 'never') {
    return new RuntimeError('unknown_field', `There is no field ${param} here.`, { cause: error, data: { param } });
  }
  // The value may be a secret that was put into the wrong place.
  return new RuntimeError('invalid_body', `${param === '' ? `The input of ${name}` : param} ${wanted(failure)}.`, {
    cause: error,
    ...(param === '' ? {} : { data: { param } }),
  });
}

/** What stands behind the name: that it is missing, or what is taken. */
function wanted({ value, message }: Failure): string {
  if (value === undefined) return 'is missing';
  const said = message
    .replace(/^At path: .*? -- /, '')
    .replace(/,? but received[\s\S]*$/, '')
    .replaceAll('`', '');
  if (!said.startsWith('Expected ')) return said;
  const taken = plainWords.reduce((text, [from, to]) => text.replace(from, to), said.slice('Expected '.length));
  return `must be ${taken}`;
}

/** The library's words for what it expects, as a person says it. */
const plainWords: readonly (readonly [RegExp, string])[] = [
  [/^the value to satisfy a union of /, ''],
  [/^the literal /, ''],
  [/^a value of type boolean$/, 'true or false'],
  [/^a value of type /, 'of type '],
  [/^an array value$/, 'a list'],
  [/^a integer/, 'an integer'],
  [/ \| /g, ' or '],
  [/(?<="),(?=")/g, ', '],
];

/** `rules[2].when[0].op` */
const paramOf = (path: readonly unknown[]): string =>
  path.map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${String(part)}`)).join('');
