import type { Ask } from '../schema/ask.ts';
import { neverBegun } from '../schema/message.ts';
import type { Evaluation } from '../schema/policy.ts';
import { errorText } from './result.ts';
import type { Refused } from './stages.ts';

/** A call that is left behind with its run before it began (07 §2.7). */
export const neverBegan: Refused = {
  kind: 'refused',
  error: 'interrupted',
  message: neverBegun,
};

/** Texts for the model. Each says that nothing was run, and what is of use instead (02 §8, 03 §5, 04 §14.5). */

const byPolicy = (record: Evaluation): string => {
  const where =
    record.reason === 'control_plane'
      ? 'a wall that no policy lifts'
      : record.matched_rule === null
        ? `policy "${record.policy.name}", default`
        : `policy "${record.policy.name}", rule ${record.matched_rule + 1}`;
  const purpose = record.note === null ? '' : ` It serves: ${record.note}.`;
  const detail = record.detail === null ? '' : ` (${record.detail})`;
  return (
    `This call was not run: ${where} denies it${detail}.${purpose} This is not a transient error: do not retry it and do not ` +
    'reach the same effect another way. Go on with other work, or report that you are blocked.'
  );
};

export const deniedByPolicy = (record: Evaluation): string =>
  errorText('denied', byPolicy(record), {
    by: 'policy',
    ...(record.reason === 'control_plane' ? { reason: 'control_plane' } : {}),
  });

/** The model goes on in each case. */
function unanswered({ state }: Ask, by: string): string {
  const goOn = 'Do not ask it again: go on with what can be done without an answer, and say what you took for granted.';
  if (state === 'expired') return `The question was not answered in time. ${goOn}`;
  if (by === 'system:policy') return `The policy changed while this question waited and now denies it. ${goOn}`;
  if (by === 'system:on-ask-deny') return `Nobody is there to answer a question. ${goOn}`;
  return `The question was withdrawn without an answer. ${goOn}`;
}

/** A person's, a system's or a deadline's denial of an ask. */
export function deniedByAsk(ask: Ask): string {
  const by = ask.verdict?.by ?? 'system:cancelled';
  if (ask.kind === 'question') return errorText('denied', unanswered(ask, by), { by });
  if (ask.state === 'expired') {
    return errorText('denied', 'The approval was not given in time, which counts as a denial. This call was not run.', {
      by,
    });
  }
  if (ask.state === 'cancelled') {
    return errorText('denied', 'The question about this call was withdrawn. This call was not run.', { by });
  }
  if (by === 'system:on-ask-deny') {
    return errorText(
      'denied',
      'This call needs an approval, and nobody is there to give it. It was not run; do not repeat it.',
      {
        by,
      },
    );
  }
  if (by === 'system:policy') {
    return errorText('denied', 'The policy changed while this call waited and now denies it. This call was not run.', {
      by,
    });
  }
  const feedback = ask.verdict?.feedback;
  const who = by.startsWith('agent:') ? "The agent that answers in the operator's place" : 'The operator';
  return errorText('denied', `${who} declined this call. It was not run; do not retry it unchanged.`, {
    by,
    ...(feedback === undefined ? {} : { feedback }),
  });
}

export const deniedAgain = (): string =>
  errorText(
    'denied',
    'An identical call was denied earlier in this run. It was not run, and repeating it is of no use.',
    {
      by: 'policy',
      reason: 'denied_before',
    },
  );

/**
 * A call that cannot be made any more because its file is not the one that a person was asked about.
 * @param before the question @param unfit what stands in its way now
 */
export const changedSince = (before: Ask, unfit: Refused): Refused => {
  const what =
    before.preview.follows === undefined
      ? 'The file has changed since this call was asked about'
      : 'This call was asked about on top of the earlier ones of its message, and the file is not what they were to leave';
  return {
    ...unfit,
    error: 'changed_since_approval',
    message: `${what}, so it was not run and nothing was written. ${unfit.message}`,
  };
};

/** A question that could not be stored, for the reason that the database gave. */
export const notAsked = (reason: string): Refused => ({
  kind: 'refused',
  error: 'internal_error',
  message: `This call needs an approval, and the question could not be written down, which counts as a denial: ${reason} It was not run.`,
});
