import { RuntimeError } from '../schema/errors.ts';
import type { PolicyCall } from '../schema/policy.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import type { Actor, Answered } from './answer.ts';
import type { Asks } from './asks.ts';

export type EditDeps = {
  readonly asks: Pick<Asks, 'show' | 'answer'>;
  /** Masks known secrets. */
  readonly mask: <T>(value: T) => T;
  /** Why the tool would not take such a call; null when it would. */
  readonly refusal: (call: PolicyCall) => string | null;
};

export type AskEdit = {
  readonly id: string;
  /** All of them, in the place of the call's own. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly binding: string | null;
  readonly no_resume?: boolean | undefined;
  readonly accept_changed_chain?: boolean | undefined;
};

/**
 * Changes the arguments of the call that an ask is about (03 §3.5): the ask ends as `cancelled`, by
 * `system:superseded`, and carries them to whoever drives the run, now or when it is taken up again; there they are a
 * new call, judged, and asked about once more where the rules say so.
 * @throws RuntimeError as `answerAsk`; not_allowed where a secret is involved; invalid_parameter for what is no change,
 *   or no call of this tool
 */
export function editAsk({ asks, mask, refusal }: EditDeps, input: AskEdit, actor: Actor): Answered {
  const { args, ...rest } = input;
  const ask = asks.show(input.id);
  const answer = { ...rest, outcome: 'cancel', feedback: null, text: null, edited: args } as const;
  // What is over is refused by whoever answers it, with who was first; so is what is no call.
  if (ask.state !== 'pending' || ask.kind !== 'permission') return asks.answer(answer, actor);
  const text = canonicalJson(args);
  // The row holds the mask, and the mask would be run.
  if (JSON.stringify(ask.args).includes('•••(')) {
    throw new RuntimeError('not_allowed', `${ask.id}: a secret in the arguments is masked, so they cannot be edited`);
  }
  if (canonicalJson(mask(args)) !== text) {
    throw new RuntimeError('not_allowed', 'the arguments hold a known secret, which must not be written down');
  }
  if (text === canonicalJson(ask.args)) {
    throw new RuntimeError('invalid_parameter', 'the arguments are what they were');
  }
  const refused = refusal({ tools: ask.tools, tool: ask.tool, args });
  if (refused !== null) throw new RuntimeError('invalid_parameter', `no call of ${ask.tools}.${ask.tool}: ${refused}`);
  return asks.answer(answer, actor);
}
