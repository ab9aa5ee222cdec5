import type { RuntimeClient } from '../../src/client/operations.ts';
import { type Ask, verdictsFor } from '../../src/schema/ask.ts';
import { explanationLines } from '../../src/view/explanation.ts';
import { escapeText } from '../../src/view/escape.ts';
import { formatSpan } from '../../src/view/format.ts';
import { restingRun, type State } from '../state.ts';
import { askLines, choicesOf, type PlainChoice } from './ask-lines.ts';

export type PlainAskDeps = {
  readonly client: () => Promise<RuntimeClient>;
  readonly write: (line: string) => void;
  /** Choices are numbered, and times are said in words (10 §10.2). */
  readonly reader: boolean;
  readonly columns: () => number;
  readonly bell: () => void;
  readonly now: () => number;
  /** Goes on with the resting run of an ask that was answered here. */
  readonly goOn: (ask: Ask) => Promise<void>;
};

/** Questions among lines: one at a time, answered by the next line (10 §10.1). */
export type PlainAsks = {
  /** Puts the next open ask of the run in view, and says what became of one that is gone. */
  look(state: State): void;
  /** What the next line answers; null = it is no answer. */
  prompt(): string | null;
  /** @throws what the runtime answers to it */
  answer(text: string): Promise<void>;
};

/** The question that the next line answers. */
type Asked = { readonly ask: Ask; readonly choices: readonly PlainChoice[]; hidden: number; words: boolean };

const shortId = ({ id }: Ask): string => `ask_${id.slice(-6)}`;

export function createPlainAsks(deps: PlainAskDeps): PlainAsks {
  const { write, reader, now } = deps;
  let asked: Asked | null = null;
  /** Answered here, or left for later. */
  const settled = new Set<string>();

  const put = (ask: Ask, whole: boolean): void => {
    const shown = askLines(ask, now(), deps.columns(), whole);
    for (const each of shown.lines) write(each);
    asked = { ask, choices: choicesOf(ask, now()), hidden: shown.hidden, words: false };
    if (shown.hidden > 0) write(`note: ${shown.hidden} lines are hidden: v shows all, and nothing unseen is approved`);
    if (reader) {
      for (const [index, { words }] of asked.choices.entries()) write(`${index + 1}. ${words}`);
      if (ask.expires_at !== null)
        write(`note: it can be answered for ${formatSpan(Date.parse(ask.expires_at) - now())}`);
    }
    deps.bell();
  };

  const send = async ({ ask }: Asked, over: Partial<Parameters<RuntimeClient['answerAsk']>[0]> = {}): Promise<void> => {
    settled.add(ask.id);
    const given = { id: ask.id, feedback: null, text: null, remember: null, binding: ask.binding } as const;
    const { ask: row, rests } = await (await deps.client()).answerAsk({ ...given, outcome: 'approve', ...over });
    write(`note: ${row.state} ${shortId(ask)}`);
    asked = null;
    if (rests) await deps.goOn(ask);
  };

  const sendWords = (question: Asked, text: string): Promise<void> => {
    const { kind } = question.ask;
    if (kind !== 'question' && kind !== 'unknown_outcome') return send(question, { outcome: 'deny', feedback: text });
    return send(question, { outcome: 'answer', text, ...(kind === 'question' ? {} : { treat_as: 'done' }) });
  };

  const explain = async ({ ask }: Asked): Promise<void> => {
    const none = { call: null, cwd: null, policy: null, trust: [], allowed_dir: null };
    const why = await (await deps.client()).explainCall({ ...none, ask: ask.id, as_asked: true });
    for (const each of explanationLines(why)) write(`note: ${escapeText(each, { mode: 'line' })}`);
  };

  return {
    look(state) {
      if (asked !== null && !state.asks.some(({ id }) => id === asked?.ask.id)) {
        if (!settled.has(asked.ask.id)) write('note: it was answered elsewhere');
        asked = null;
      }
      const runs = [state.turn?.run_id, state.plan.driving?.run_id, restingRun(state)];
      const next = state.asks.find(({ run_id, id }) => run_id !== null && runs.includes(run_id) && !settled.has(id));
      if (asked === null && next !== undefined) put(next, false);
    },
    prompt() {
      if (asked === null) return null;
      if (asked.words) return 'words: ';
      if (reader) return `Enter a number, 1 to ${asked.choices.length}: `;
      return `${shortId(asked.ask)}: ${asked.choices.map(({ letter }) => letter).join(' ')}> `;
    },
    async answer(text) {
      const question = asked;
      if (question === null) return;
      if (question.words) return sendWords(question, text);
      const line = text.trim();
      const chosen = reader
        ? question.choices[Number(line) - 1]
        : question.choices.find(({ letter }) => letter === line);
      const approves = chosen !== undefined && ['once', 'session', 'run_again'].includes(chosen.choice);
      if (approves && question.hidden > 0) return write('note: not everything was shown: v shows all');
      switch (chosen?.choice) {
        case 'once':
          return send(question);
        case 'session':
          return send(question, { remember: 'session' });
        case 'deny':
          return send(question, { outcome: 'deny' });
        case 'deny_feedback':
        case 'answer':
        case 'done':
          question.words = true;
          return;
        case 'run_again':
        case 'skip':
          return send(question, { outcome: 'answer', treat_as: chosen.choice });
        case 'full':
          return put(question.ask, true);
        case 'explain':
          return explain(question);
        case 'later':
          settled.add(question.ask.id);
          write(
            `note: it stays open: reins approvals respond ${shortId(question.ask)} ${verdictsFor(question.ask.kind)}`,
          );
          asked = null;
          return;
        default:
          if (line !== '') write(`note: "${escapeText(line.slice(0, 20), { mode: 'line' })}" is none of the choices`);
      }
    },
  };
}
