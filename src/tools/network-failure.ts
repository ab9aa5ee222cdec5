import { cancelled, fail, type ToolFailure } from './failure.ts';
import type { Reply } from './web-request.ts';

/** What the parser of HTTP says begins with this: something has answered, in another language. */
const notHttp = /^HPE_/;

/**
 * What a model is told of a request that got no answer.
 * @param call `safe`: the request changes nothing; `late`: the sentence that says that its time is over
 */
export function networkFailure(
  { why, reason, sent, answered }: Extract<Reply, { kind: 'broken' }>,
  host: string,
  call: { readonly safe: boolean; readonly late: string },
): ToolFailure {
  if (sent && !call.safe) {
    const message = `The connection to "${host}" ended (${reason}) after the request was sent: it may have been served. Check before repeating it.`;
    return fail('outcome_unknown', message);
  }
  if (why === 'cancelled') return cancelled();
  if (why === 'timeout') return fail('timeout', call.late);
  if (answered) return fail('network_error', `"${host}" answered, but its answer cannot be read: ${reason}.`);
  if (reason === 'HPE_HEADER_OVERFLOW') return fail('network_error', `The headers of "${host}" are too long.`);
  if (notHttp.test(reason)) return fail('network_error', `"${host}" does not answer in HTTP: ${reason}.`);
  return fail('network_error', `"${host}" ${sent ? 'gave no answer' : 'could not be reached'}: ${reason}.`);
}
