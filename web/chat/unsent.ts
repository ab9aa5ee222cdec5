import { RuntimeError } from '../../src/schema/errors.ts';
import type { Item } from '../../src/view/items.ts';
import { isUnderWay, type Outgoing, outgoingOf } from './kept.ts';

/** A message that was not taken, and why. */
export type Refusal = { readonly id: string; readonly error: RuntimeError };

/** Of those not taken the ones that no server has refused. */
export const unconfirmedOf = (session: string): readonly Outgoing[] =>
  outgoingOf(session)
    .get()
    .filter((message) => message.refused === null && !isUnderWay(message));

/** What was left before it was taken, as the chat begins. */
export const outgoingItems = (session: string): readonly Item[] =>
  outgoingOf(session)
    .get()
    .map((message) => {
      const { id, text } = message;
      return { kind: 'user', id, text, state: isUnderWay(message) ? 'pending' : 'unsent', seq: null };
    });

export const leftUnsent = (session: string): readonly Refusal[] =>
  outgoingOf(session)
    .get()
    .filter((message) => !isUnderWay(message))
    .map(({ id, refused }) => ({
      id,
      error: refused === null ? notConfirmed : new RuntimeError(refused.code as RuntimeError['code'], refused.message),
    }));

const notConfirmed = new RuntimeError(
  'timeout',
  'The page was left before the server had taken this. Trying again does not send it twice.',
);

/** Nobody knows whether it was taken: no answer came, or there was none when it was sent again (09 §5.4). */
export function isUnanswered(thrown: unknown): boolean {
  if (!(thrown instanceof RuntimeError)) return thrown instanceof TypeError;
  return thrown.code === 'timeout' || Reflect.get(Object(thrown.data), 'param') === 'Idempotency-Key';
}
