import type { Ask } from '../schema/ask.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { Audit } from '../store/audit.ts';
import type { Rebound } from '../store/asks.ts';
import { editsKey, type Remembered } from '../store/remembered.ts';
import { ulid } from '../text/ids.ts';
import { type Actor, type Answered, type AnswerInput, fullBinding } from './answer.ts';
import type { Asks } from './asks.ts';

/** A rule that was chosen from those that were shown for an ask. */
export type ChosenRule = {
  /** Place in the list that was shown. */
  readonly candidate: number;
  /** Digest of what was shown of it. */
  readonly sha256: string;
};

/** What is told of a rule once its text stands in a file. */
export type WrittenTo = { readonly path: string; readonly index: number };

/** Who judges the call of an ask again, in whatever process it is answered. */
export type AskReviewer = {
  /** The call under the policy that governs now; null while that is still the one it was asked under. */
  review(ask: Ask): Promise<Rebound | null>;
  /** Why no answer to this call is remembered; null when one may be. */
  reserved(ask: Ask): Promise<string | null>;
  /**
   * Writes the chosen rule: `record` is called once, when only the file is still to be written, and calls `write`.
   * Rejects as `record` throws, and with `binding_changed` when something else was shown.
   */
  addRule(ask: Ask, chosen: ChosenRule, record: (written: WrittenTo, write: () => void) => void): Promise<void>;
};

export type RespondDeps = {
  readonly asks: Pick<Asks, 'show' | 'answer' | 'rebind' | 'close' | 'isDriven'>;
  readonly remembered: Pick<Remembered, 'add'>;
  readonly audit: Audit;
  readonly reviewer: AskReviewer;
  readonly tenant: string;
  readonly now: () => number;
};

export type AskAnswer = AnswerInput & {
  /** With `remember: 'rule'`. */
  readonly rule?: ChosenRule | null | undefined;
};

/**
 * Answers an ask as a surface does (03 §3.2, §9): judged anew where the policy has changed, and with what the operator
 * wants to be remembered in the transaction of the verdict.
 * @throws RuntimeError as `answerAsk`, and not_allowed for a choice that cannot be remembered
 */
export async function respond(deps: RespondDeps, { rule, ...input }: AskAnswer, actor: Actor): Promise<Answered> {
  const { asks } = deps;
  const judged = input.outcome === 'approve' || input.outcome === 'deny';
  let ask = asks.show(input.id);
  const known = ask.kind === 'permission' && ask.state === 'pending' && ask.unreadable !== true;
  if (judged && known) ask = await upToDate(deps, ask, input);
  const remember = input.remember ?? null;
  if (remember === null) return asks.answer(input, actor);
  if (ask.kind !== 'permission' || input.outcome !== 'approve') {
    throw new RuntimeError('wrong_kind', 'only the approval of a tool call can be remembered');
  }
  const answer = { ...input, binding: input.binding ?? ask.binding };
  // What is over is refused by whoever answers it, with who was first.
  if (ask.state !== 'pending') return asks.answer(answer, actor);
  const why = await deps.reviewer.reserved(ask);
  if (why !== null) {
    throw new RuntimeError('not_allowed', `an approval of this call is not remembered: ${why}`, {
      hints: [`reins approvals respond ${ask.id} --approve`],
    });
  }
  if (remember === 'session')
    return asks.answer(answer, actor, () => rememberCall(deps, ask, actor, 'session', ask.call_hash));
  if (remember === 'edits') {
    const { edits_root: root } = ask.preview;
    if (root === undefined) throw new RuntimeError('not_allowed', 'this call is no edit of a file in the workspace');
    return asks.answer(answer, actor, () => rememberCall(deps, ask, actor, 'edits', editsKey(root)));
  }
  if (rule == null) throw new RuntimeError('usage', 'no rule was chosen');
  let given: ReturnType<typeof asks.answer> | undefined;
  await deps.reviewer.addRule(ask, rule, (written, write) => {
    given = asks.answer(answer, actor, () => {
      noteChoice(deps, ask, actor, { choice: 'rule', ...written });
      // Last: a verdict that could not be written takes no rule with it, and the other way round.
      write();
    });
    if (!given.yours) throw new RuntimeError('already_answered', `${ask.id} was answered meanwhile; no rule was added`);
  });
  // True after a rule that was not rejected.
  return given ?? { ask: asks.show(ask.id), yours: false, rests: false };
}

/** 03 §3.2. @throws RuntimeError binding_changed, already_answered (closed by the policy) */
async function upToDate({ asks, reviewer }: RespondDeps, ask: Ask, { binding }: AskAnswer): Promise<Ask> {
  const rebound = await reviewer.review(ask);
  if (rebound === null) return ask;
  if (rebound.record.action === 'deny') {
    asks.close(ask.id, 'deny', 'system:policy');
    const closed = asks.show(ask.id);
    const by = closed.verdict?.by ?? 'system';
    const what = by === 'system:policy' ? 'the policy has changed and denies this call now: ' : '';
    throw new RuntimeError('already_answered', `${what}${ask.id} is ${closed.state} by ${by}`, {
      data: { state: closed.state, by, at: closed.resolved_at },
      // Nobody's answer makes a run go on that rested for this one alone.
      hints: ask.run_id === null || asks.isDriven(ask) ? [] : [`reins state resume ${ask.run_id}`],
    });
  }
  asks.rebind(ask, rebound);
  if (binding !== null && fullBinding(rebound, binding) === rebound.binding) return asks.show(ask.id);
  throw new RuntimeError('binding_changed', `the policy has changed since ${ask.id} was asked: look at it again`, {
    hints: [`reins approvals show ${ask.id}`],
  });
}

function rememberCall(deps: RespondDeps, ask: Ask, actor: Actor, choice: 'session' | 'edits', call_hash: string): void {
  const { run_id, session_id, policy } = ask;
  if (policy.sha256 === null) throw new RuntimeError('not_allowed', 'nothing is remembered under an invalid policy');
  const at = deps.now();
  deps.remembered.add({
    id: ulid(at),
    session_id,
    run_id,
    call_hash,
    policy_sha256: policy.sha256,
    ask_id: ask.id,
    created_at: at,
  });
  noteChoice(deps, ask, actor, { choice, call_hash, policy_sha256: policy.sha256 });
}

const noteChoice = (deps: RespondDeps, ask: Ask, { by }: Actor, choice: object): void =>
  deps.audit.append(
    {
      type: 'remember',
      tenant_id: deps.tenant,
      run_id: ask.run_id,
      session_id: ask.session_id,
      body: { ask_id: ask.id, ...choice, by },
    },
    deps.now(),
  );
