import type { Answered } from '../asks/answer.ts';
import { type AskEdit, editAsk } from '../asks/edit.ts';
import { type AskAnswer, type AskReviewer, respond } from '../asks/respond.ts';
import { bindingOf } from '../gate/binding.ts';
import { RuntimeError } from '../schema/errors.ts';
import { restsSoon } from '../runs/hand-over.ts';
import type { Backends } from '../registry/backends.ts';
import { createPropose } from '../trials/propose.ts';
import { createReview } from '../trials/review.ts';
import { createAddRule } from '../workspace/add-rule.ts';
import { addRuleDeps } from './add-rule-deps.ts';
import type { RoomsInput } from './rooms-input.ts';
import type { ArgumentNames } from './tool-sources.ts';
import { refusalWith } from './tool-refusal.ts';
import { argumentNamesWith, type TrialInput, trialDeps } from './trial-deps.ts';

/** Answers to asks, with what judging their calls again and writing rules for them takes. */
export function answerServices(
  input: RoomsInput &
    TrialInput & {
      readonly registeredArguments: ArgumentNames;
      readonly backends: Pick<Backends, 'registered'>;
    },
) {
  const { options, pools, secrets, store, prepare, now } = input;
  const trial = trialDeps(input);
  const review = createReview({ ...trial, rootOfRun: store.runs.workspaceOf });
  const rules = createAddRule(addRuleDeps(input));
  const { propose } = createPropose({
    ...trial,
    review,
    recorded: store.recorded,
    argumentNames: argumentNamesWith(prepare, input.registeredArguments),
    targetOf: rules.targetOfPolicy,
  });

  const reviewer: AskReviewer = {
    async review(ask) {
      const judged = await review.judgeAgain(ask);
      if (judged === null) return null;
      const record = secrets.maskDeep(judged);
      const binding = bindingOf(ask.call_hash, judged.policy.sha256, ask.preimage?.sha256 ?? null);
      return { policy: judged.policy, record, binding };
    },
    reserved: review.reserved,
    async addRule(ask, chosen, record) {
      const proposed = await propose(ask);
      const candidate = proposed.candidates[chosen.candidate];
      if (candidate?.sha256 !== chosen.sha256) {
        throw new RuntimeError(
          'binding_changed',
          'another rule was shown, or the policy has changed: nothing was written',
          {
            hints: [`reins approvals show ${ask.id}`],
          },
        );
      }
      const { index } = candidate;
      const rule = { '//': `added ${new Date(now()).toISOString()} from ${ask.id}`, ...candidate.rule };
      await rules.addRuleTo(
        () => trial.policyNow(ask.policy),
        { rule, index, sha256: proposed.policy.sha256 ?? '' },
        (entry, write) =>
          record({ path: entry.path, index }, () => {
            const body = secrets.maskDeep({ ...entry, ask_id: ask.id, by: store.actor.by });
            const { run_id, session_id } = ask;
            store.audit.append({ type: 'rule_added', tenant_id: options.tenant, run_id, session_id, body }, now());
            write();
          }),
      );
    },
  };

  /** Whoever answers goes on with a run that came to rest meanwhile. */
  const handedOver = async (answered: Answered): Promise<Answered> => {
    const { ask, yours, rests } = answered;
    if (!yours || rests || ask.run_id === null) return answered;
    const handOver = { runs: store.runs, isDelivered: store.asks.isDelivered, now };
    return { ...answered, rests: await restsSoon(handOver, ask.run_id, ask.id) };
  };

  /** The words of a person go into rows, events and the model's history: a known secret does not (03 §8.3). */
  const masked = (wanted: AskAnswer): AskAnswer => {
    const { feedback, text } = wanted;
    if (feedback === null && text === null) return wanted;
    // Nothing has read the keys of backends where nothing but an answer is given.
    input.backends.registered();
    const hide = (words: string | null): string | null => (words === null ? null : secrets.maskKnown(words).text);
    return { ...wanted, feedback: hide(feedback), text: hide(text) };
  };

  return {
    async answerAsk(given: AskAnswer): Promise<Answered> {
      const wanted = masked(given);
      // Its thread starts while the call is judged again and the verdict is written.
      if (store.asks.willGoOn(wanted)) void pools.warm();
      const answered = await respond({ ...store, tenant: options.tenant, now, reviewer }, wanted, store.actor);
      return wanted.no_resume === true || wanted.outcome === 'cancel' ? answered : handedOver(answered);
    },
    editAsk: async (wanted: AskEdit) =>
      handedOver(
        await editAsk(
          {
            asks: store.asks,
            mask: secrets.maskKnownDeep,
            refusal: refusalWith(prepare, () => store.registry.toolsets()),
          },
          wanted,
          store.actor,
        ),
      ),
    proposeRules: async ({ id }: { readonly id: string }) => propose(store.asks.show(id)),
  };
}
