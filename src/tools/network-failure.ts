import { fail, type ToolFailure } from './failure.ts';

/** What the parser of HTTP says begins with this: something has answered, in another language. */
const notHttp = /^HPE_/;

/** Nothing usable came of a request that changes nothing: no server was there, or what it sent cannot be read. */
export function notReached(host: string, broken: { readonly reason: string; readonly answered: boolean }): ToolFailure {
  const { reason, answered } = broken;
  if (answered) return fail('network_error', `"${host}" answered, but its answer cannot be read: ${reason}.`);
  if (notHttp.test(reason)) return fail('network_error', `"${host}" does not answer in HTTP: ${reason}.`);
  return fail('network_error', `"${host}" could not be reached: ${reason}.`);
}
