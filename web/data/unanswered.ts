import { RuntimeError } from '../../src/schema/errors.ts';

/** A server answers within 30 s, if only to say that it takes longer (09 §2): who waits longer has lost it. */
const replyMs = 40_000;

/**
 * `fetch` that ends where no answer begins: a browser may send on a connection that died in the sleep of its machine, and
 * would wait there for minutes. @throws RuntimeError timeout
 */
export const fetchAnswered: typeof globalThis.fetch = async (input, init = {}) => {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), replyMs);
  const { signal, method = 'GET' } = init;
  try {
    return await fetch(input, { ...init, signal: signal ? AbortSignal.any([signal, silent.signal]) : silent.signal });
  } catch (thrown) {
    if (!silent.signal.aborted) throw thrown;
    const said = `The server has not answered for ${replyMs / 1000} seconds.${known(method)}`;
    throw new RuntimeError('timeout', said, { cause: thrown });
  } finally {
    clearTimeout(timer);
  }
};

const known = (method: string): string =>
  method === 'GET'
    ? ''
    : method === 'POST'
      ? ' It may have been done all the same; trying again does not do it twice.'
      : ' It may have been done all the same: look before you try again.';

/** Requests whose answers did not come, by what they said; each with the key that it was sent under. */
const unanswered = new Map<string, string>();

/**
 * Sends what creates or starts something under a key, and what is sent again because no answer came under the same one:
 * then it is begun once (09 §5.4).
 */
export async function sendOnce(
  input: RequestInfo | URL,
  init: RequestInit | undefined,
  send: (init: RequestInit | undefined) => Promise<Response>,
): Promise<Response> {
  const headers = new Headers(init?.headers);
  if (init?.method !== 'POST' || headers.has(header)) return send(init);
  const said = `${String(input)} ${String(init.body ?? '')}`;
  const key = unanswered.get(said) ?? newKey();
  headers.set(header, key);
  unanswered.set(said, key);
  const response = await send({ ...init, headers });
  // 504 is the server's own word for an answer that did not come in time.
  if (response.status !== 504) unanswered.delete(said);
  return response;
}

const header = 'idempotency-key';

/** No random UUIDs: a page that has come over plain HTTP from another machine is not given any. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
