import type { Ask, Verdict } from '../schema/ask.ts';
import { RuntimeError } from '../schema/errors.ts';
import { canonicalJson } from '../text/canonical-json.ts';

/** Who acts, fixed when a client is made; never read from a request (03 §5). */
export type Actor = { readonly by: string; readonly name: string | null; readonly client: string };

export type AnswerInput = {
  readonly id: string;
  readonly outcome: 'approve' | 'deny' | 'answer' | 'cancel';
  readonly feedback: string | null;
  readonly text: string | null;
  readonly binding: string | null;
  /** What the approval is to hold for beside this call; whether it may is looked at before (`respond.ts`). */
  readonly remember?: 'session' | 'edits' | 'rule' | null;
  /** Records the verdict also where nobody is there who acts on it. */
  readonly no_resume?: boolean | undefined;
  /** What becomes of a call whose outcome is unknown; its only verdict. */
  readonly treat_as?: 'run_again' | 'done' | 'skip' | undefined;
  readonly accept_changed_chain?: boolean | undefined;
  /** With `cancel`: arguments for a new call in the place of the one that was asked about (`edit.ts`). */
  readonly edited?: Readonly<Record<string, unknown>> | undefined;
};

/** The ask as it stands. `rests`: nobody drives its run, which can go on here now. */
export type Answered = { readonly ask: Ask; readonly yours: boolean; readonly rests: boolean };

export type AnswerDeps = {
  /** @throws RuntimeError not_found, ambiguous_id */
  find(part: string): Ask;
  /** The one statement that decides (03 §5). @returns whether this verdict stands. */
  resolve(ask: Ask, verdict: Verdict, binding: string | null): boolean;
  /** Whether a process drives the run that asks, and takes the verdict. */
  isDriven(ask: Ask): boolean;
  /** Refuses where the run that asks could not go on in this process. @throws RuntimeError not_resumable_here, … */
  checkResumable(ask: Ask, acceptChangedChain: boolean): void;
  /** Whether the run that asks rests without having taken the verdict. */
  restsUntold(ask: Ask): boolean;
  /** The row as it is now. */
  current(ask: Ask): Ask;
  readonly now: () => number;
};

/** An identical verdict repeated within this time returns the stored result (03 §5). */
const repeatMs = 60_000;
const maxFeedback = 4_000;

/**
 * Answers an open ask. The first answer wins; an identical one repeated within 60 s gets the stored result.
 * @throws RuntimeError not_found, ambiguous_id, wrong_kind, already_answered, expired, binding_changed, not_resumable_here
 */
export function answerAsk(deps: AnswerDeps, input: AnswerInput, actor: Actor): Answered {
  const ask = deps.find(input.id);
  checkKind(ask, input);
  if (
    ask.unreadable === true &&
    input.outcome !== 'deny' &&
    (input.outcome !== 'cancel' || input.edited !== undefined)
  ) {
    throw new RuntimeError('storage', `${ask.id} cannot be read, so nobody can tell what it is about`, {
      hints: [`reins approvals respond ${ask.id} --cancel`, 'reins doctor'],
    });
  }
  const rests = takesUp(deps, ask, input);
  // Looked at once more: somebody else's answer may have come first, and the run have ended by it.
  if (rests && deps.current(ask).state === 'pending') deps.checkResumable(ask, input.accept_changed_chain === true);
  const feedback = input.outcome === 'deny' && input.feedback !== null ? input.feedback.slice(0, maxFeedback) : null;
  const verdict: Verdict = {
    outcome: input.outcome,
    by: input.edited === undefined ? actor.by : 'system:superseded',
    ...(input.edited === undefined ? {} : { edited: { args: input.edited, by: actor.by } }),
    ...(actor.name === null ? {} : { name: actor.name }),
    ...(feedback === null || feedback === '' ? {} : { feedback: feedback.toWellFormed() }),
    ...(input.text === null ? {} : { text: input.text.toWellFormed() }),
    ...(input.treat_as === undefined ? {} : { treat_as: input.treat_as }),
    ...(input.remember == null ? {} : { remember: input.remember }),
    at: new Date(deps.now()).toISOString(),
    binding: input.binding ?? ask.binding,
  };
  if (
    ask.state === 'pending' &&
    deps.resolve(ask, verdict, input.binding === null ? null : fullBinding(ask, input.binding))
  ) {
    return { ask: deps.current(ask), yours: true, rests };
  }
  // What is over stays as it was read: its row may be waiting for its deadline to be written.
  const standing = ask.state === 'pending' ? deps.current(ask) : ask;
  if (standing.state === 'expired') throw isExpired(deps, standing);
  const repeated = refuse(deps, standing, input, verdict);
  // Whoever gave it the first time may have been killed before the run went on (03 §15).
  return { ask: repeated, yours: false, rests: takesUp(deps, repeated, input) && deps.restsUntold(repeated) };
}

/** Whether the run goes on in the process that answers: nobody drives it, and the answer is not only to be recorded. */
export const takesUp = (
  { isDriven }: Pick<AnswerDeps, 'isDriven'>,
  ask: Ask,
  { outcome, no_resume, edited }: Pick<AnswerInput, 'outcome' | 'no_resume' | 'edited'>,
): boolean => {
  const isGivenUp = outcome === 'cancel' && edited === undefined;
  return !isGivenUp && no_resume !== true && ask.run_id !== null && !isDriven(ask);
};

/** @throws RuntimeError wrong_kind when this ask takes another kind of verdict (03 §5) */
function checkKind(ask: Ask, { outcome, treat_as, edited }: AnswerInput): void {
  if (outcome === 'cancel' && (edited === undefined || ask.kind === 'permission')) return;
  const wrong = (takes: string): never => {
    throw new RuntimeError('wrong_kind', `${ask.id} is ${nameOf[ask.kind]}: it takes ${takes}`);
  };
  if (ask.kind === 'unknown_outcome') {
    if (treat_as === undefined) wrong('--treat-as run-again, done or skip');
  } else if (ask.kind === 'question') {
    if (outcome !== 'answer' || treat_as !== undefined) wrong('an answer');
  } else if (outcome === 'answer') wrong('approve or deny');
}

const nameOf: Readonly<Record<Ask['kind'], string>> = {
  permission: 'a permission',
  question: 'a question',
  budget: 'a budget',
  unknown_outcome: 'a call of unknown outcome',
};

/** Cards print 12 hex of the binding; an answer may name those. */
export const fullBinding = (ask: Pick<Ask, 'binding'>, given: string): string =>
  given.length >= 12 && ask.binding.startsWith(given.toLowerCase()) ? ask.binding : given;

/** The hint says how a run goes on that rested for this ask; it is told of the denial. */
function isExpired(deps: AnswerDeps, ask: Ask): RuntimeError {
  return new RuntimeError(
    'expired',
    `${ask.id} expired at ${ask.resolved_at ?? ask.expires_at}; that counted as a denial`,
    { hints: wayOn(deps, ask) },
  );
}

/** The command with which a run goes on that nobody drives and that was not told yet. */
const wayOn = ({ restsUntold }: AnswerDeps, ask: Ask): readonly string[] =>
  restsUntold(ask) ? [`reins state resume ${ask.run_id}`] : [];

/** What a verdict says and who says it. Two answers are identical only if all of this is: else one's words would be lost. */
const saysOf = ({ outcome, by, treat_as, text, feedback, remember, edited }: Verdict): string =>
  canonicalJson([outcome, by, treat_as, text, feedback, remember, edited].map((part) => part ?? null));

/** Why an answer did not stand: read from the row that does. */
function refuse(deps: AnswerDeps, ask: Ask, input: AnswerInput, given: Verdict): Ask {
  const { verdict } = ask;
  if (ask.state === 'pending') {
    throw new RuntimeError(
      'binding_changed',
      `${ask.id} is not what was looked at: arguments, policy or file changed`,
      {
        hints: [`reins approvals show ${ask.id}`],
      },
    );
  }
  const isRepeated =
    verdict !== null &&
    saysOf(verdict) === saysOf(given) &&
    (input.binding === null || fullBinding(ask, input.binding) === ask.binding) &&
    deps.now() - Date.parse(verdict.at) <= repeatMs;
  if (isRepeated) return ask;
  throw new RuntimeError(
    'already_answered',
    `${ask.id} was already ${ask.state} by ${verdict?.by ?? 'system'} at ${ask.resolved_at ?? ''}`,
    {
      data: { state: ask.state, by: verdict?.by ?? null, at: ask.resolved_at, param: ask.state },
      // Who answers a question that another one has replaced means the call, which is asked about there.
      hints: ask.superseded_by === null ? wayOn(deps, ask) : [`reins approvals show ${ask.superseded_by}`],
    },
  );
}
