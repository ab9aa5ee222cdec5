import type { RuntimeClient } from '../client/operations.ts';
import type { Ask } from '../schema/ask.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { CardChoice } from '../view/ask-card.ts';
import { argumentsText } from '../view/asked-arguments.ts';
import { editArguments } from './edit-arguments.ts';
import { choiceOf } from '../view/ask-choices.ts';
import type { Context } from './context.ts';
import { explainAsk } from './explain-ask.ts';
import { type Keys, openKeys } from './keys.ts';
import { createPaintedAsk } from './painted-ask.ts';
import { chooseRule } from './rule-prompt.ts';

/** Longest words of a person that go with a verdict (03 §5), and longest answer. */
const maxFeedback = 4000;
const maxAnswer = 20_000;

/**
 * `settled`: a verdict stands, from here or elsewhere; `later`: the run is to rest; `interrupt`: Ctrl-C; `gone`: the
 * terminal is.
 */
export type Prompted = 'settled' | 'later' | 'interrupt' | 'gone';

type Verdict = Partial<Parameters<RuntimeClient['answerAsk']>[0]>;

/**
 * Puts one ask on the terminal until it is answered, here or elsewhere (03 §10). Nothing but `y`, `s`, `w` and `r` approves;
 * Enter and anything unknown repeats the question.
 * @param withdrawn aborts when a verdict from elsewhere was seen; its reason is who answered
 */
export async function promptAsk(
  context: Context,
  client: RuntimeClient,
  askId: string,
  withdrawn: AbortSignal,
): Promise<Prompted> {
  const keys = openKeys(context.process);
  try {
    return await ask(context, client, askId, withdrawn, keys);
  } finally {
    keys.close();
  }
}

async function ask(
  context: Context,
  client: RuntimeClient,
  askId: string,
  withdrawn: AbortSignal,
  keys: Keys,
): Promise<Prompted> {
  const { terminal } = context;
  const painted = await createPaintedAsk(context, client, askId);
  const { question, shown } = painted;
  /** @returns `settled` when a verdict stands; null: the question does, and was put again */
  const settle = async (act: () => Promise<string>): Promise<'settled' | null> => {
    try {
      terminal.err(`${await act()}\n`);
      return 'settled';
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      terminal.err(`${context.safe(error.message)}\n`);
      if (error.code === 'already_answered' || error.code === 'expired') return 'settled';
      await painted.renew();
      return null;
    }
  };
  const verdict = (answer: Verdict, told?: string): Promise<'settled' | null> =>
    settle(async () => {
      const { id, binding } = painted.ask();
      const given = { outcome: 'deny', feedback: null, text: null, remember: null, ...answer } as const;
      const { ask: recorded } = await client.answerAsk({ id, binding, ...given });
      return [`${recorded.state} ${shown(id)}`, ...(told === undefined ? [] : [context.safe(told)])].join('\n');
    });
  /** What was saved and could not be used is where the next edit begins. */
  let draft: string | null = null;
  const edit = async (): Promise<'settled' | null> => {
    const edited = await editArguments(context, keys, draft ?? argumentsText(painted.ask()));
    painted.guard();
    if (withdrawn.aborted) return null;
    draft = edited.text ?? draft;
    if (edited.kind === 'changed') {
      const { id, binding } = painted.ask();
      return settle(async () => {
        await client.editAsk({ id, binding, args: edited.args });
        return `changed ${shown(id)}: the new call is judged`;
      });
    }
    terminal.err(`${context.safe(edited.message)}\n`);
    question();
    return null;
  };
  /** A verdict that takes words; without them the question stands. */
  const worded = async (what: string, answer: (text: string) => Verdict): Promise<'settled' | null> => {
    const text = await keys.line(() => terminal.err(`${what} (Enter alone goes back): `), withdrawn);
    if (withdrawn.aborted) return null;
    if (text !== null && text.trim() !== '') return verdict(answer(text.trim()));
    question();
    return null;
  };
  const answer = (choices: readonly string[]): Promise<'settled' | null> =>
    worded(choices.length === 0 ? 'answer' : 'answer, or the number of one', (text) => {
      const chosen = /^\d+$/.test(text) ? choices[Number(text) - 1] : undefined;
      return { outcome: 'answer', text: chosen ?? text.slice(0, maxAnswer) };
    });
  const approve = async (choice: 'once' | 'session' | 'edits' | 'rule'): Promise<'settled' | null> => {
    // What was never shown is not approved (03 §8.2).
    if (!painted.wasSeen()) {
      terminal.err('some lines were not shown yet: press v first\n');
      question();
      return null;
    }
    const remember = choice === 'once' ? null : choice;
    const chosen = choice === 'rule' ? await chooseRule(context, client, painted.ask().id, keys, withdrawn) : null;
    if (withdrawn.aborted) return null;
    if (choice !== 'rule' || chosen !== null) {
      const told = chosen?.told ?? lasts(painted.ask(), remember);
      return verdict({ outcome: 'approve', remember, rule: chosen?.rule ?? null }, told);
    }
    question();
    return null;
  };
  const choose = async (choice: CardChoice): Promise<Prompted | null> => {
    switch (choice) {
      case 'once':
      case 'session':
      case 'edits':
      case 'rule':
        return approve(choice);
      case 'edit':
        return edit();
      case 'deny':
        return verdict({ outcome: 'deny' });
      case 'deny_feedback':
        return worded('why', (text) => ({ outcome: 'deny', feedback: text.slice(0, maxFeedback) }));
      case 'answer':
        return answer(painted.ask().question?.choices ?? []);
      case 'run_again':
      case 'skip':
        return verdict({ outcome: 'answer', treat_as: choice });
      case 'done':
        return worded('its result, as the model will read it', (text) => ({
          outcome: 'answer',
          treat_as: 'done',
          text: text.slice(0, maxAnswer),
        }));
      case 'explain':
        terminal.err(`${(await explainAsk(context, client, painted.ask())).join('\n')}\n`);
        question();
        return null;
      case 'full':
        await painted.paintWhole();
        return null;
      case 'later':
        return 'later';
    }
  };

  await painted.paint();
  const again = (): void => {
    question();
    painted.guard();
  };
  for (;;) {
    const key = await keys.next(withdrawn, again);
    if (withdrawn.aborted) {
      terminal.err(`${context.safe(`${shown(painted.ask().id)} was ${String(withdrawn.reason)}`)}\n`);
      return 'settled';
    }
    if (key === null) return 'gone';
    if (key === '\u0003') return 'interrupt';
    if (painted.isGuarded()) continue;
    const choice = choiceOf(painted.choices(), key);
    const end = choice === undefined ? null : await choose(choice);
    if (end !== null) return end;
    if (choice === undefined) question();
  }
}

/** What is remembered, said once it is. */
function lasts(ask: Ask, remember: 'session' | 'edits' | 'rule' | null): string | undefined {
  if (remember === null || remember === 'rule') return undefined;
  const what = remember === 'session' ? 'the same call passes' : 'edits of files in this workspace pass';
  return `${what} without a question until ${ask.session_id === null ? 'this run' : 'the session'} ends`;
}
