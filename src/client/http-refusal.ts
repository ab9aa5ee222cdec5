import { type ErrorCode, errors, RuntimeError } from '../schema/errors.ts';

/** The refusal of a reply as an error of this program (09 §5.1). Also of one that no server of ours has written. */
export async function refusalOf(response: Response): Promise<RuntimeError> {
  const { status } = response;
  const body: unknown = await response.json().catch(() => null);
  const error = Object(Reflect.get(Object(body), 'error'));
  const message = Reflect.get(error, 'message');
  const data = {
    status,
    code: Reflect.get(error, 'code'),
    param: Reflect.get(error, 'param'),
    findings: Reflect.get(Object(body), 'findings'),
    /** What the server's own lines name it by. */
    requestId: response.headers.get('x-request-id'),
    retryAfterS: Number(response.headers.get('retry-after') ?? 0),
  };
  const text = typeof message === 'string' ? message : `The server answered ${status}.`;
  return new RuntimeError(knownCode(data.code), text, { data });
}

function knownCode(code: unknown): ErrorCode {
  if (code === 'invalid_chain') return 'chain_invalid';
  if (code === 'backend_error') return 'server_error';
  // Object.hasOwn has just said that it is one of them.
  return typeof code === 'string' && Object.hasOwn(errors, code) ? (code as ErrorCode) : 'internal';
}
