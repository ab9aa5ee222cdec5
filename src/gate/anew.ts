import type { Ask, Preview } from '../schema/ask.ts';
import type { Evaluation } from '../schema/policy.ts';
import type { GateRun } from './run.ts';
import type { Judged } from './stages.ts';

/**
 * Why a call is asked about once more: the operator has put other arguments in the place of its own, or what was
 * approved is no longer what would run (03 §3.4, §3.5).
 */
export function anewOf(before: Ask, judged: Judged, preview: Preview): NonNullable<Preview['anew']> {
  if (before.verdict?.edited !== undefined) return { edited: true, args: before.args, why: [] };
  const { prepared, evaluation, places, programs } = judged;
  const program = (exec: Ask['record']['exec']) => JSON.stringify([exec?.file, exec?.program]);
  const why = [
    ...((before.preimage?.sha256 ?? null) === (preview.preimage?.sha256 ?? null)
      ? []
      : [
          before.preview.follows === undefined
            ? 'the file is another one'
            : 'the file is not what the earlier changes of its message were to leave',
        ]),
    ...(program(before.record.exec) === program(evaluation.exec) && (before.preview.programs ?? programs) === programs
      ? []
      : [evaluation.exec === null ? 'the tool is another one of that name' : 'the program is another one']),
    ...(before.preview.places === places
      ? []
      : [prepared.meant === null ? 'its paths lead elsewhere' : 'what it is about is another one']),
    ...(before.policy.sha256 === evaluation.policy.sha256 ? [] : ['the policy is another one']),
  ];
  return { edited: false, why: why.length > 0 ? why : [otherArguments(judged)] };
}

/** All else is as it was. */
const otherArguments = ({ prepared }: Judged): string => (hasMask(prepared) ? lost : 'its arguments are others');

const lost = 'a secret in its arguments was not kept: what would run has its mask';
const hasMask = ({ shown }: Judged['prepared']): boolean => JSON.stringify(shown).includes('•••(');

/**
 * What a run keeps while it rests has no known secrets in it, so that a call loses them (03 §11): where the rules let such a
 * call pass, the operator is asked.
 */
export const withLoss = (run: GateRun, prepared: Judged['prepared'], evaluation: Evaluation): Evaluation =>
  run.known !== null && evaluation.action === 'allow' && hasMask(prepared)
    ? { ...evaluation, action: 'approve', reason: 'floor', detail: lost }
    : evaluation;
