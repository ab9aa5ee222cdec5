import { createHash } from 'node:crypto';
import type { KeptReply, RepeatedRequest, RepeatRecords } from '../schema/repeats.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { errorReply, refuse } from './error-body.ts';
import { pathOf } from './guard.ts';
import type { Call } from './route.ts';

/**
 * What creates or starts something happens once for each `Idempotency-Key` (09 §5.4): whoever sends it again gets the first
 * reply. A refusal has begun nothing and is not kept, so that the same request may be tried again when its cause is gone.
 */
export function createOnce(records: RepeatRecords) {
  return async (call: Call, answer: () => Promise<KeptReply>): Promise<KeptReply> => {
    const request = requestOf(call);
    if (request === null) return answer();
    const before = records.begin(request);
    if (before.state === 'answered') return before.reply;
    if (before.state === 'other') {
      throw refuse('idempotency_mismatch', 'This key was used for another request.', { param: header });
    }
    if (before.state === 'going') {
      throw refuse(
        'conflict',
        'The first request with this key has no reply yet. If the server was stopped meanwhile, see what it started before another key is used.',
        { param: header },
      );
    }
    let reply: KeptReply;
    try {
      reply = await answer();
    } catch (error) {
      const failed = errorReply(error, call.id);
      // Of a failure that nobody foresaw it is not known how far it came.
      if (failed.status === 500) records.answered(request, failed);
      else records.forget(request);
      throw error;
    }
    records.answered(request, reply);
    return reply;
  };
}

const header = 'Idempotency-Key';

/** Null without a key. @throws RuntimeError invalid_parameter */
function requestOf({ request, principal, body }: Call): RepeatedRequest | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined || principal === null) return null;
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,128}$/.test(key)) {
    throw refuse('invalid_parameter', 'A key is 1 to 128 visible characters of ASCII.', { param: header });
  }
  const { method = '', url = '' } = request;
  const of = canonicalJson({ method, path: pathOf(url), body: body ?? null });
  return {
    credential: principal.kind === 'token' ? 'token' : 'operator',
    key,
    sha256: createHash('sha256').update(of).digest('hex'),
  };
}
