import { transcriptWithin } from '../../chain/transcript.ts';
import { promptText, taskError } from '../../chain/values.ts';
import type { Task } from '../../schema/chain.ts';
import type { Prepared } from '../expand.ts';
import type { Handled } from '../failure.ts';
import { historyOf } from '../run-state.ts';
import { ask } from './prompt.ts';

const accepted: ReadonlySet<string> = new Set(['string', 'int', 'chat_history']);

/** `route` (04 §7.4): the model picks one declared label; the input passes. @throws RuntimeError task_error */
export async function route(step: Prepared): Promise<Handled> {
  const { input, task } = step;
  if (!accepted.has(input.type)) {
    throw taskError('bad_input_type', `route takes a string, an int or a chat_history, not ${input.type}`);
  }
  const history = historyOf(input);
  const text = history === null ? promptText(input.value, input.type) : '';
  const labels = labelsOf(task);
  const line = `Answer with exactly one of these labels and nothing else:\n${labels.join('\n')}`;
  const answer = await ask(step, line, (maxTokens) =>
    history === null ? text : promptText(transcriptWithin(history.messages, maxTokens), 'string'),
  );
  if (answer.kind === 'ended') return answer.handled;
  return { kind: 'done', output: input, evalText: chooseLabel(answer.text, labels) };
}

/** The `when` values of the `equals` branches, in order. */
const labelsOf = (task: Task): readonly string[] =>
  (task.transition?.branches ?? []).filter((branch) => branch.operator === 'equals').map((branch) => branch.when ?? '');

/** Who writes more than this has not answered with a label; each label is looked for at each place. */
const longestLook = 65_536;

/** The label that an answer means; the trimmed answer itself when it means none, or several. */
function chooseLabel(answer: string, labels: readonly string[]): string {
  const trimmed = answer.trim();
  const plain = /^(["'`])(.*)\1$/s.exec(trimmed.replace(/\.$/, ''))?.[2] ?? trimmed;
  const said = plain.trim().replace(/\.$/, '').toLowerCase();
  const equal = labels.find((label) => label.toLowerCase() === said);
  if (equal !== undefined) return equal;
  const look = trimmed.slice(0, longestLook).toLowerCase();
  const within = labels.filter((label) => holdsWord(look, label.toLowerCase()));
  const [only] = within;
  return within.length === 1 && only !== undefined ? only : trimmed;
}

/** Whether a text holds another with no letter, digit, `_` or `-` beside it. */
function holdsWord(where: string, what: string): boolean {
  if (what === '') return false;
  for (let at = where.indexOf(what); at >= 0; at = where.indexOf(what, at + 1)) {
    if (!isWordCharacter(where.charAt(at - 1)) && !isWordCharacter(where.charAt(at + what.length))) return true;
  }
  return false;
}

const isWordCharacter = (character: string): boolean => /^[\p{L}\p{N}_-]$/u.test(character);
