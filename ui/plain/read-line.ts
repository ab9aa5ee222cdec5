import { labelled } from '../../src/view/plain-lines.ts';
import { planLines } from '../../src/view/plan-lines.ts';
import type { Action } from '../actions.ts';
import type { Effect } from '../effect.ts';
import type { State } from '../state.ts';
import type { PlainAsks } from './plain-asks.ts';
import type { Question } from './told.ts';

export type LineDeps = {
  readonly asks: Pick<PlainAsks, 'prompt' | 'answer'>;
  readonly state: () => State;
  readonly dispatch: (action: Action) => void;
  readonly perform: (effect: Effect) => void;
  readonly write: (line: string) => void;
  readonly prompt: () => void;
  readonly failed: (error: unknown) => void;
  readonly now: () => number;
};

/** What a whole line of the operator is: an answer, a choice, a part of a message, or a message. */
export function createLineReader(deps: LineDeps) {
  let choosing: Question | null = null;
  let pending = '';

  const choose = ({ choices, otherwise }: Question, line: string): void => {
    const choice = choices.find(({ key }) => key === line.trim());
    for (const effect of choice?.effects ?? otherwise ?? []) deps.perform(effect);
    deps.prompt();
  };
  const showPlan = (): void => {
    const { plan } = deps.state().plan;
    for (const each of plan === null ? ['there is no plan: /plan new <goal>'] : planLines(plan))
      for (const part of labelled('note: ', each)) deps.write(part);
    deps.prompt();
  };

  return {
    /** The next line chooses. */
    ask(question: Question): void {
      choosing = question;
    },
    take(line: string): void {
      if (deps.asks.prompt() !== null) {
        void deps.asks.answer(line).catch(deps.failed).finally(deps.prompt);
      } else if (choosing !== null) {
        const question = choosing;
        choosing = null;
        choose(question, line);
      } else if (line.endsWith('\\')) {
        pending += `${line.slice(0, -1)}\n`;
      } else {
        const text = pending + line;
        pending = '';
        if (text.trim() === '') deps.prompt();
        else if (/^\/plan(?:\s+show)?\s*$/.test(text)) showPlan();
        else deps.dispatch({ type: 'submit', text, now: deps.now() });
      }
    },
  };
}
