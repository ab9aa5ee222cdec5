import { type Struct, validate } from 'superstruct';
import { refuse } from './error-body.ts';

/**
 * A body that has exactly the members of a struct. @throws RuntimeError unknown_field, invalid_body with the path of the
 * first fault
 */
export function readBody<T, S>(struct: Struct<T, S>, body: unknown): T {
  const [error, value] = validate(body, struct);
  if (error === undefined) return value;
  // Members that are too many are told last by the struct, and first here.
  const failures = error.failures();
  const extra = failures.find(({ type }) => type === 'never');
  const found = extra ?? failures[0];
  const param = (found?.path ?? []).reduce<string>(
    (path, part) => (typeof part === 'number' ? `${path}[${part}]` : `${path}${path === '' ? '' : '.'}${String(part)}`),
    '',
  );
  const data = param === '' ? {} : { param };
  if (extra !== undefined) throw refuse('unknown_field', 'There is no such field here.', data);
  throw refuse(
    'invalid_body',
    param === '' ? 'The body is not the object that is wanted.' : 'The field is missing or of another type.',
    data,
  );
}
