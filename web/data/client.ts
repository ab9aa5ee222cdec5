import { createHttpClient, type HttpClient } from '../../src/client/http-client.ts';
import { isStillIn } from '../session/renewal.ts';
import { loginAgain, passwordFirst, prove } from '../session/session.ts';
import { createStore } from './store.ts';
import { fetchAnswered, sendOnce } from './unanswered.ts';

/** The line to the server: lost for as long as one of the streams is. */
export type Connection =
  | { readonly state: 'open' }
  /** `retryAt`: milliseconds since the epoch of the next attempt. */
  | { readonly state: 'lost'; readonly retryAt: number };
export const connection = createStore<Connection>({ state: 'open' });

/**
 * `fetch` for the client: a login that has ended is renewed by the person and the request sent again, and so is a proof
 * that has grown old. What was on its way is not lost to either.
 */
const fetchAsOperator: typeof globalThis.fetch = (input, init) => sendOnce(input, init, (sent) => untilIn(input, sent));

const untilIn: typeof globalThis.fetch = async (input, init) => {
  for (let refusals = 0; ; ) {
    const response = await fetchAnswered(input, init);
    if (response.status === 401) {
      refusals += 1;
      // It may have been sent just before another tab renewed the login, or logged in.
      if (refusals > 1 || !(await isStillIn().catch(() => false))) await loginAgain();
      continue;
    }
    if (response.status !== 403) return response;
    const code = await refusalCode(response);
    if (code === 'password_change_required') {
      await passwordFirst();
      continue;
    }
    if (code !== 'reauthentication_required' || !(await prove())) return response;
  }
};

async function refusalCode(response: Response): Promise<unknown> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  return Reflect.get(Object(Reflect.get(Object(body), 'error')), 'code');
}

/** Streams that are lost, and when each of them is tried again. */
const lost = new Map<object, number>();

function heard(state: 'open' | 'lost' | 'over', retryInMs: number, stream: object): void {
  if (state === 'lost') lost.set(stream, Date.now() + retryInMs);
  else if (!lost.delete(stream)) return;
  const [retryAt] = [...lost.values()].toSorted((one, other) => one - other);
  connection.set(retryAt === undefined ? { state: 'open' } : { state: 'lost', retryAt });
}

const elsewhere = {};
/** The line of the tab that reads for this one. */
export const heardElsewhere = (line: Connection): void =>
  heard(line.state, line.state === 'lost' ? line.retryAt - Date.now() : 0, elsewhere);

/** The one table of operations, over HTTP. */
export const client: HttpClient = createHttpClient({
  base: '',
  fetch: fetchAsOperator,
  headers: () => ({}),
  connection: heard,
});

/** The same for something that must happen once, however often it is sent (09 §5.4). */
export const clientRepeating = (key: string): HttpClient =>
  createHttpClient({ base: '', fetch: fetchAsOperator, headers: () => ({ 'idempotency-key': key }) });
