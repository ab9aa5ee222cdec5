import { respond, type AskAnswer } from '../asks/respond.ts';
import { bindingOf } from '../gate/binding.ts';
import type { Ask } from '../schema/ask.ts';
import type { Rebound } from '../store/asks.ts';
import { createReview } from '../trials/review.ts';
import type { RoomsInput } from './rooms-input.ts';
import { type TrialInput, trialDeps } from './trial-deps.ts';

type Input = RoomsInput & TrialInput;

/** Answers to asks, with what judging their calls again takes. */
export function answerServices(input: Input) {
  const { options, secrets, store, now } = input;
  const trial = trialDeps(input);
  const review = createReview({ ...trial, rootOfRun: store.runs.workspaceOf });
  const reviewAsk = async (ask: Ask): Promise<Rebound | null> => {
    const judged = await review.judgeAgain(ask);
    if (judged === null) return null;
    const record = secrets.maskDeep(judged);
    const binding = bindingOf(ask.call_hash, judged.policy.sha256, ask.preimage?.sha256 ?? null);
    return { policy: judged.policy, record, binding };
  };
  return {
    answerAsk: (wanted: AskAnswer) =>
      respond(
        {
          ...store,
          tenant: options.tenant,
          now,
          reviewer: { review: reviewAsk, reserved: review.reserved, addRule: async () => {} },
        },
        wanted,
        store.actor,
      ),
  };
}
