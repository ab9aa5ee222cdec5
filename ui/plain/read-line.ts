import { planLines, spokenPlan } from '../../src/view/plan-lines.ts';
import type { Action } from '../actions.ts';
import type { State } from '../state.ts';
import type { PlainAsks } from './plain-asks.ts';
import type { PlainOverlays } from './plain-overlays.ts';

export type LineDeps = {
  readonly asks: Pick<PlainAsks, 'prompt' | 'answer' | 'open'>;
  readonly overlays: Pick<PlainOverlays, 'prompt' | 'answer'>;
  /** It is read out: a plan is told in words. */
  readonly spoken: boolean;
  /** The line is part of what is being pasted. */
  readonly pasting: () => boolean;
  readonly state: () => State;
  readonly dispatch: (action: Action) => void;
  readonly noted: (label: string, text: string) => void;
  readonly prompt: () => void;
  readonly failed: (error: unknown) => void;
  readonly now: () => number;
};

/** What a whole line of the operator is: an answer, a choice, a part of a message, or a message. */
export function createLineReader(deps: LineDeps) {
  const { asks, overlays, dispatch } = deps;
  /** Lines that were continued or pasted. */
  let pending = '';

  const showPlan = (): void => {
    const { plan } = deps.state().plan;
    const told =
      plan === null ? ['there is no plan: /plan new <goal>'] : deps.spoken ? spokenPlan(plan) : planLines(plan);
    for (const each of told) deps.noted('note: ', each);
    deps.prompt();
  };
  const send = (text: string): void => {
    const { composer, turn } = deps.state();
    const asked = askWanted(text);
    // What is queued and held is sent by an empty line.
    if (text.trim() === '' && !(composer.held && turn === null)) deps.prompt();
    else if (/^\/plan(?:\s+show)?\s*$/.test(text)) showPlan();
    // The field that opens for it on the screen is not here.
    else if (/^\/plan\s+new\s*$/.test(text)) {
      deps.noted('warning: ', '/plan new takes the goal');
      deps.prompt();
    } else if (asked !== null) {
      asks.open(deps.state(), asked);
      deps.prompt();
    } else dispatch({ type: 'submit', text: text.trim() === '/' ? '/help' : text, now: deps.now() });
  };

  return {
    /** What stands before the next line of a message. */
    prompt: (): string => (pending === '' ? '> ' : '| '),
    pending: (): string => pending,
    /** What was written so far is dropped. */
    drop(): void {
      pending = '';
    },
    take(line: string): void {
      if (deps.pasting()) {
        pending += `${line}\n`;
      } else if (asks.prompt() !== null) {
        void asks.answer(line).catch(deps.failed).finally(deps.prompt);
      } else if (overlays.prompt() !== null) {
        overlays.answer(line);
        deps.prompt();
      } else if (line.endsWith('\\')) {
        pending += `${line.slice(0, -1)}\n`;
        deps.prompt();
      } else {
        const text = pending + line;
        pending = '';
        send(text);
      }
    },
  };
}

/** The ask that a line wants to see, empty for all of them; null where it is about something else. */
function askWanted(text: string): string | null {
  const wanted = /^\/(?:asks|approvals)(?:\s+(.*))?$/.exec(text.trim());
  return wanted === null || wanted[1]?.trim() === 'forget' ? null : (wanted[1] ?? '').trim();
}
