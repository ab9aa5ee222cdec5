import type { RuntimeClient } from '../../src/client/operations.ts';
import { type Ask, verdictsFor } from '../../src/schema/ask.ts';
import { explanationLines } from '../../src/view/explanation.ts';
import { escapeText } from '../../src/view/escape.ts';
import { labelled, type PlainLook } from '../../src/view/plain-lines.ts';
import { spokenTime } from '../../src/view/spoken.ts';
import { restingRun, type State } from '../state.ts';
import { type Answer, editStep, nothingAnswered, ruleStep, type Step, type StepDeps, wordsStep } from './ask-steps.ts';
import type { CardChoice } from '../../src/view/ask-card.ts';
import { askFlags } from '../../src/view/card-warnings.ts';
import type { JudgedUnder } from '../judged-under.ts';
import { namedAsk, shortId } from '../approvals/approvals-state.ts';
import { createOpenAsks } from './open-asks.ts';
import { askLines, choicesOf, type PlainChoice } from './ask-lines.ts';

export type PlainAskDeps = {
  readonly client: () => Promise<RuntimeClient>;
  readonly write: (line: string) => void;
  readonly judgedUnder: () => Promise<JudgedUnder>;
  readonly look: () => PlainLook;
  readonly bell: () => void;
  readonly now: () => number;
  /** What came sooner after the prompt was written than this many milliseconds was not typed for it. */
  readonly guardMs: () => number;
  /** Drops what is being typed. */
  readonly drop: () => void;
  /** Calls after so many milliseconds. @returns takes it back */
  readonly later: (ms: number, call: () => void) => () => void;
  /** Goes on with the resting run of an ask that was answered here. */
  readonly goOn: (ask: Ask) => Promise<void>;
};

/** Questions among lines: one at a time, answered by the next line (10 §10.1). */
export type PlainAsks = {
  /** Puts the next open ask of the run in view, and says what became of one that is gone. */
  look(state: State): void;
  /** Puts an open ask by the end of its id, of whatever run; empty: tells all of them, to be chosen by number. */
  open(state: State, named: string): void;
  /** Whether what runs waits for a question that was left for later: nothing else is going to come. */
  isLeft(state: State): boolean;
  /** What the next line answers; null = it is no answer. */
  prompt(): string | null;
  /** @throws what the runtime answers to it */
  answer(text: string): Promise<void>;
  /** Ctrl+C: from a line that an answer needs to its choices, from these to later. @returns false where nothing is asked */
  back(): boolean;
  close(): void;
};

/** The question that the next line answers; `step`: a line that the answer needs first. */
type Asked = {
  readonly ask: Ask;
  readonly choices: readonly PlainChoice[];
  readonly hidden: number;
  readonly at: number;
  step: Step | null;
};

/** Runs in view, whose questions are put as they come. */
const runsOf = (state: State): readonly (string | null | undefined)[] => [
  state.turn?.run_id,
  state.plan.driving?.run_id,
  restingRun(state),
];

const approving: ReadonlySet<CardChoice> = new Set(['once', 'session', 'edits', 'rule', 'edit', 'run_again']);

/** Why a choice does nothing now; null where it can be taken. */
function whyNotHere(choice: CardChoice, { ask, hidden }: Asked): string | null {
  if (!approving.has(choice)) return null;
  if (hidden > 0) return 'not everything was shown: v shows all';
  const lasts = choice === 'session' || choice === 'edits';
  return lasts && askFlags(ask).includes('hidden_characters') ? 'hidden characters: answer this once' : null;
}

/** Told aloud when so many minutes are left. */
const toldMinutes = [10, 1];
/** A timer holds no more milliseconds; who waits for weeks is told at the next start. */
const mostTimer = 2 ** 31;

export function createPlainAsks(deps: PlainAskDeps): PlainAsks {
  const { write, look, now } = deps;
  let asked: Asked | null = null;
  let answering = false;
  let warnings: readonly (() => void)[] = [];
  /** Answered here, or left for later. */
  const settled = new Set<string>();
  const left = new Set<string>();
  /** Those that are open now. */
  let open: readonly Ask[] = [];
  const ofRun = ({ run_id: run }: Ask): readonly Ask[] =>
    run === null ? [] : open.filter(({ run_id, id }) => run_id === run && !settled.has(id));

  const note = (text: string): void => {
    for (const line of labelled('note: ', text, look())) write(line);
  };

  const put = (ask: Ask, whole: boolean): void => {
    list.close();
    const shown = askLines(ask, now(), look(), whole);
    // What is being typed was not meant for this question.
    deps.drop();
    for (const each of shown.lines) write(each);
    asked = { ask, choices: choicesOf(ask, now()), hidden: shown.hidden, at: now(), step: null };
    if (look().spoken) for (const [index, { words }] of asked.choices.entries()) write(`${index + 1}. ${words}`);
    if (shown.hidden > 0)
      write(`note: ${shown.hidden} lines are hidden: view all shows them; nothing unseen is approved`);
    deps.bell();
    if (look().spoken && !whole) warn(ask);
  };

  /** Tells the time that is left before it is too late to answer (10 §10.2). */
  const warn = ({ expires_at: end }: Ask): void => {
    quiet();
    if (end === null) return;
    const left = Date.parse(end) - now();
    warnings = toldMinutes
      .map((minutes) => minutes * 60_000)
      .filter((ms) => left > ms && left - ms < mostTimer)
      .map((ms) => deps.later(left - ms, () => write(`note: ${spokenTime(ms)} left to answer`)));
  };
  const quiet = (): void => {
    for (const take of warnings) take();
    warnings = [];
  };
  const over = (): void => {
    asked = null;
    quiet();
  };

  /** What became of an answer; a question that could not be answered stays. */
  const settle = async (ask: Ask, answered: Promise<{ readonly ask: Ask; readonly rests: boolean }>): Promise<void> => {
    settled.add(ask.id);
    const { ask: row, rests } = await answered.catch((error: unknown) => {
      settled.delete(ask.id);
      throw error;
    });
    note(row.state === 'cancelled' ? 'changed by you: the new call is judged' : `${row.state} ${shortId(ask.id)}`);
    // Who answers one of a run has come back to it: those that were left with it are put again.
    for (const { id, run_id } of open) if (run_id === ask.run_id && left.delete(id)) settled.delete(id);
    over();
    if (rests) await deps.goOn(ask);
  };
  const send = async (ask: Ask, how: Partial<Answer>): Promise<void> => {
    const given = { feedback: null, text: null, remember: null, outcome: 'approve', ...how } as const;
    await settle(ask, (await deps.client()).answerAsk({ id: ask.id, binding: ask.binding, ...given }));
  };
  const steps = (ask: Ask): StepDeps => ({
    client: deps.client,
    note,
    judgedUnder: deps.judgedUnder,
    send: (how) => send(ask, how),
    sendEdited: async (args) => settle(ask, (await deps.client()).editAsk({ id: ask.id, binding: ask.binding, args })),
  });

  const explain = async ({ ask }: Asked): Promise<void> => {
    const none = { call: null, cwd: null, policy: null, trust: [], allowed_dir: null };
    const why = await (await deps.client()).explainCall({ ...none, ask: ask.id, as_asked: true });
    for (const each of explanationLines(why)) note(each);
  };

  /** The questions behind it are of the same run, which waits for this one: who leaves is not asked them one by one. */
  const leaveOpen = (ask: Ask): void => {
    settled.add(ask.id);
    left.add(ask.id);
    const others = ofRun(ask);
    for (const { id } of others) {
      settled.add(id);
      left.add(id);
    }
    const id = shortId(ask.id);
    note(`it stays open: /asks ${id} here, or reins approvals respond ${id} ${verdictsFor(ask.kind)}`);
    if (others.length > 0) note(`and so do ${others.length} more of its run: /asks lists them`);
    over();
  };

  const putAnew = (ask: Ask): void => {
    settled.delete(ask.id);
    left.delete(ask.id);
    put(ask, false);
  };

  const list = createOpenAsks({ write, note, look, chosen: putAnew });

  const visible = (text: string): string =>
    escapeText(text.trim().slice(0, 20), { mode: 'line', glyphs: look().glyphs });

  /** A line that was typed for the question. */
  const take = async (question: Asked, text: string): Promise<void> => {
    if (now() - question.at < deps.guardMs())
      return write(`note: "${visible(text)}" came before the question was read: it answers nothing`);
    if (question.step !== null) {
      const { step } = question;
      question.step = null;
      question.step = await step.take(text);
      return;
    }
    const line = text.trim();
    const chosen = look().spoken
      ? question.choices[Number(line) - 1]
      : question.choices.find(({ letter }) => letter === line);
    const why = chosen === undefined ? null : whyNotHere(chosen.choice, question);
    if (why !== null) return note(why);
    const { ask } = question;
    const words = (answer: (text: string) => Partial<Answer>): void => {
      question.step = wordsStep(steps(ask), answer);
    };
    switch (chosen?.choice) {
      case 'once':
        return send(ask, {});
      case 'session':
      case 'edits':
        return send(ask, { remember: chosen.choice });
      case 'rule':
        question.step = await ruleStep(steps(ask), ask);
        return;
      case 'edit':
        question.step = editStep(steps(ask), ask);
        return;
      case 'deny':
        return send(ask, { outcome: 'deny' });
      case 'deny_feedback':
        return words((feedback) => ({ outcome: 'deny', feedback }));
      case 'answer':
        return words((given) => ({ outcome: 'answer', text: given }));
      case 'done':
        return words((given) => ({ outcome: 'answer', text: given, treat_as: 'done' }));
      case 'run_again':
      case 'skip':
        return send(ask, { outcome: 'answer', treat_as: chosen.choice });
      case 'full':
        return put(ask, true);
      case 'explain':
        return explain(question);
      case 'later':
        return leaveOpen(ask);
      default:
        if (line !== '') write(`note: "${visible(line)}" is none of the choices`);
    }
  };

  return {
    look(state) {
      open = state.asks;
      if (asked !== null && !state.asks.some(({ id }) => id === asked?.ask.id)) {
        if (!settled.has(asked.ask.id)) {
          // What is being typed was an answer to it, and no message.
          deps.drop();
          note(`${shortId(asked.ask.id)} does not wait for an answer any more`);
        }
        over();
      }
      const runs = runsOf(state);
      const next = state.asks.find(({ run_id, id }) => run_id !== null && runs.includes(run_id) && !settled.has(id));
      if (asked === null && next !== undefined) put(next, false);
    },
    open(state, named) {
      if (named === '') return list.tell(state);
      const ask = namedAsk(state.approvals, named);
      if (typeof ask === 'string') return note(ask);
      putAnew(ask);
    },
    isLeft: (state) =>
      asked === null && state.asks.some((ask) => left.has(ask.id) && runsOf(state).includes(ask.run_id)),
    prompt() {
      if (asked === null) return list.prompt();
      if (asked.step !== null) return asked.step.prompt;
      if (look().spoken) return `Enter a number, 1 to ${asked.choices.length}: `;
      return `${shortId(asked.ask.id)}: ${asked.choices.map(({ letter }) => letter).join(' ')}> `;
    },
    async answer(text) {
      if (asked === null) return list.take(text);
      answering = true;
      await take(asked, text).finally(() => {
        answering = false;
      });
    },
    back() {
      if (asked === null) return list.close();
      // What is on its way is not taken back.
      if (answering) return true;
      if (asked.step === null) leaveOpen(asked.ask);
      else {
        asked.step = null;
        note(nothingAnswered);
      }
      return true;
    },
    close: quiet,
  };
}
