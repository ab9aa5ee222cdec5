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
  const what = failure.message
    .replace(/^At path: .*? -- /, '')
    .replace(/,? but received[\s\S]*$/, '')
    .replaceAll('`', '');
  return new RuntimeError('invalid_body', `${param === '' ? name : param}: ${what}.`, {
    cause: error,
    ...(param === '' ? {} : { data: { param } }),
  });
}

/** `rules[2].when[0].op` */
const paramOf = (path: readonly unknown[]): string =>
  path.map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${String(part)}`)).join('');
