import { RuntimeError } from '../schema/errors.ts';

/**
 * Services speak of the flags of a command. Over HTTP the same sentence speaks of the fields of a request: `--api-key-env`
 * becomes `api_key_env`, and is named as `param` (09 §5.1). Where a request has one field only, that one is meant.
 * @param fields members of the body
 */
export function inFields(error: unknown, fields: readonly string[]): unknown {
  if (!(error instanceof RuntimeError) || error.code !== 'usage') return error;
  let first: string | undefined;
  const message = error.message.replace(/--([a-z][a-z-]*)/g, (flag, name: string) => {
    const plain = name.replaceAll('-', '_');
    const field = [plain, `${plain}s`, `base_${plain}`, `${plain}_ms`].find((one) => fields.includes(one));
    first ??= field;
    return field ?? flag;
  });
  const param = first ?? (fields.length === 1 ? fields[0] : undefined);
  return new RuntimeError(error.code, message, {
    cause: error,
    data: { ...(param === undefined ? {} : { param }), ...Object(error.data) },
  });
}
