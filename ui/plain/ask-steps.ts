import type { RuntimeClient } from '../../src/client/operations.ts';
import type { Ask } from '../../src/schema/ask.ts';
import { toWire } from '../../src/schema/errors.ts';
import { isObject } from '../../src/text/json-object.ts';
import { ruleKinds, ruleMatches, ruleReach, ruleTarget } from '../../src/view/rule-lines.ts';
import { judgeEdit } from '../approvals/judge-edit.ts';
import type { JudgedUnder } from '../judged-under.ts';

/** A line that an answer needs beside its letter. `take` gives the next one, or null: back to the choices, or answered. */
export type Step = { readonly prompt: string; take(line: string): Promise<Step | null> };

export type Answer = Omit<Parameters<RuntimeClient['answerAsk']>[0], 'id' | 'binding'>;

export type StepDeps = {
  readonly client: () => Promise<RuntimeClient>;
  /** A note of any length, not escaped. */
  readonly note: (text: string) => void;
  readonly judgedUnder: () => Promise<JudgedUnder>;
  /** Records it. @throws what the runtime answers to it */
  readonly send: (answer: Partial<Answer>) => Promise<void>;
  /** The call becomes another one; what is asked about it is a new question. */
  readonly sendEdited: (args: Record<string, unknown>) => Promise<void>;
};

/** Told of whoever goes back to the choices. */
export const nothingAnswered = 'nothing was answered';

/** Words that an answer is made of; none go back. */
export const wordsStep = ({ note, send }: StepDeps, answer: (text: string) => Partial<Answer>): Step => ({
  prompt: 'words: ',
  async take(line) {
    if (line.trim() === '') note(`no words: ${nothingAnswered}`);
    else await send(answer(line));
    return null;
  },
});

/** The rules that would let the call through, and the number of one (03 §9). */
export async function ruleStep({ client, note, send }: StepDeps, { id }: Ask): Promise<Step | null> {
  const proposals = await (await client()).proposeRules({ id });
  const { candidates } = proposals;
  if (candidates.length === 0) {
    note(`no rule can be added: ${proposals.none ?? 'none would let only this through'}`);
    return null;
  }
  for (const [index, one] of candidates.entries()) {
    note(`rule ${index + 1}: ${ruleKinds[one.kind]}`);
    for (const text of [JSON.stringify(one.rule), ruleReach(one, proposals), ...ruleMatches(one)]) note(text);
  }
  for (const text of ruleTarget(proposals)) note(text);
  return {
    prompt: `Enter the number of the rule to write, 1 to ${candidates.length}, or nothing: `,
    async take(line) {
      const at = /^\d+$/.test(line.trim()) ? Number(line) - 1 : -1;
      const chosen = candidates[at];
      if (chosen === undefined) note(nothingAnswered);
      else await send({ remember: 'rule', rule: { candidate: at, sha256: chosen.sha256 } });
      return null;
    },
  };
}

/** The arguments as one line of JSON, to be typed anew; they are judged before they count. */
export function editStep(deps: StepDeps, ask: Ask): Step {
  const { client, note, judgedUnder, sendEdited } = deps;
  note(`the arguments now: ${JSON.stringify(ask.args)}`);
  return {
    prompt: 'arguments as JSON, or nothing: ',
    async take(line) {
      if (line.trim() === '') return notedBack(note);
      const args = readArguments(line);
      if (typeof args === 'string') {
        note(args);
        return null;
      }
      const { action, why } = await judgeEdit(await client(), ask.id, args, await judgedUnder());
      if (action === 'deny') {
        note(`the policy denies them, the question stays: ${why}`);
        return null;
      }
      if (action === 'approve') {
        await sendEdited(args);
        return null;
      }
      note(`the policy allows this: ${JSON.stringify(args)}`);
      return {
        prompt: 'run with these arguments? y or nothing: ',
        async take(answer) {
          if (answer.trim() !== 'y') return notedBack(note);
          await sendEdited(args);
          return null;
        },
      };
    },
  };
}

const notedBack = (note: StepDeps['note']): null => {
  note(nothingAnswered);
  return null;
};

/** @returns a sentence where it is no object */
function readArguments(line: string): Record<string, unknown> | string {
  try {
    const value: unknown = JSON.parse(line);
    if (isObject(value)) return { ...value };
    return 'arguments are an object: {"name": "value"}';
  } catch (error) {
    return `this is not JSON: ${toWire(error).message}`;
  }
}
