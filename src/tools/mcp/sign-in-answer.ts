import { createServer, type Server } from 'node:http';
import { RuntimeError } from '../../schema/errors.ts';
import { parseUrl } from '../../text/parse-url.ts';
import { codeOf } from '../../text/thrown.ts';
import { refused } from './sign-in-refusal.ts';

/** Where the browser brings the answer, for servers that know one address only (05 §10.8.3). */
const fixedPort = 49_152;
const here = 'http://127.0.0.1';

/**
 * Waits on the loopback for the one answer that carries `state`; anything else is told that it is not meant.
 * @param expected the issuer whose answer it has to be, where that is known, and whether it has promised to say so
 * @param anyPort another port will do where the fixed one is taken
 */
export async function listenForAnswer(
  state: string,
  expected: { readonly issuer: string | null; readonly isNamed: boolean },
  anyPort: boolean,
) {
  const { issuer, isNamed } = expected;
  let settle: (found: { readonly code: string } | { readonly error: RuntimeError }) => void = () => {};
  const found = new Promise<{ readonly code: string } | { readonly error: RuntimeError }>((resolve) => {
    settle = resolve;
  });
  const server: Server = createServer((request, response) => {
    const reply = (status: number, text: string): void => {
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
      response.end(`${text}\n`);
    };
    // Anybody on this machine may ask, for what is no address as well.
    const url = parseUrl(`${here}${request.url ?? '/'}`);
    if (url?.pathname !== '/callback') return reply(404, 'There is nothing here.');
    if (url.searchParams.get('state') !== state) return reply(400, 'This sign-in was not asked for.');
    const from = url.searchParams.get('iss');
    const error = url.searchParams.get('error');
    const code = url.searchParams.get('code');
    if (issuer !== null && from !== issuer && (from !== null || isNamed)) {
      reply(400, 'This answer comes from somewhere else.');
      settle({ error: refused(`the answer names ${from === null ? 'no issuer' : 'another issuer'}`) });
    } else if (error !== null || code === null) {
      reply(200, 'The sign-in was refused. You can close this page.');
      settle({ error: refused(`the sign-in was refused (${(error ?? 'no code').slice(0, 100)})`) });
    } else {
      reply(200, 'You are signed in. You can close this page.');
      settle({ code });
    }
  });
  const port = await bind(server, fixedPort).catch((error: unknown) => {
    if (anyPort && codeOf(error) === 'EADDRINUSE') return bind(server, 0);
    throw refused(
      `port ${fixedPort} of the loopback, where the answer comes in, cannot be used: ${codeOf(error) ?? ''}`,
    );
  });
  return {
    redirect: `http://127.0.0.1:${port}/callback`,
    code: found.then((one) => {
      if ('error' in one) throw one.error;
      return one.code;
    }),
    close(): void {
      server.close();
      server.closeIdleConnections();
    },
  };
}

function bind(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

/** The code, when it comes. @throws RuntimeError timeout when nobody signs in, cancelled when `signal` says so */
export function codeInTime(code: Promise<string>, timeoutMs: number, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new RuntimeError('timeout', `nobody signed in within ${Math.round(timeoutMs / 60_000)} minutes`)),
      timeoutMs,
    );
    const abort = (): void => reject(new RuntimeError('cancelled', 'cancelled'));
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    code.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    });
  });
}
