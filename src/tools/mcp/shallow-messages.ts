import { isNestedDeeper, mostLevels } from '../../text/json-depth.ts';
import { noForm } from './pipe.ts';
import type { OpenTransport } from './transports.ts';

/** More than what a message holds may have: who takes a part of it says better what is wrong with it. */
const mostMessageLevels = 4 * mostLevels;

type Transport = OpenTransport['transport'];
type Handler = NonNullable<Transport['onmessage']>;
type Message = Parameters<Handler>[0];

/** Stands for an answer that cannot be taken, so that whoever waits for it is told at once. */
export const formless = (id: string | number): Message => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32_603, message: noForm },
});

/**
 * Keeps from the library what is nested too deep: it writes a message that it does not know into an error, which takes a
 * call of the stack for each level and, inside a listener, ends the program. To be done before the transport is used.
 */
export function refuseDeepMessages(transport: Transport): void {
  let handler: Handler | undefined;
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => handler,
    set(given: Handler | undefined) {
      handler =
        given &&
        ((message, extra) => {
          const taken = shallow(message);
          if (taken !== null) given(taken, extra);
        });
    },
  });
}

/** @returns null for what nobody waits for */
function shallow(message: Message): Message | null {
  if (!isNestedDeeper(message, mostMessageLevels)) return message;
  if ('method' in message || !('id' in message)) return null;
  const { id } = message;
  return typeof id === 'string' || typeof id === 'number' ? formless(id) : null;
}
