import type { RuntimeClient } from '../client/operations.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { Ask } from '../schema/ask.ts';
import { type AskCard, askCard, type CardChoice, cardLines, idsOf } from '../view/ask-card.ts';
import { escapeText } from '../view/escape.ts';
import { verdictLine, whyLines } from '../view/explanation.ts';
import { measure } from '../view/format.ts';
import type { Context } from './context.ts';
import { shownIds } from './ids.ts';
import { type Keys, openKeys } from './keys.ts';
import { chooseRule } from './rule-prompt.ts';

/** Keys in this time after a question was painted answer nothing (06 §9). */
const guardMs = 400;
const shownLines = 40;

const keyOf: Readonly<Record<string, CardChoice>> = {
  y: 'once',
  s: 'session',
  r: 'rule',
  n: 'deny',
  f: 'deny_feedback',
  a: 'answer',
  x: 'explain',
  v: 'full',
};
const words: Readonly<Record<CardChoice, string>> = {
  once: '[y] once',
  session: '[s] this session',
  rule: '[r] add a rule',
  deny: '[n] deny',
  deny_feedback: '[f] deny with words',
  answer: '[a] answer',
  explain: '[x] explain',
  full: '[v] view all',
};

/** `settled`: a verdict stands, from here or elsewhere; `interrupt`: Ctrl-C; `gone`: the terminal is. */
export type Prompted = 'settled' | 'interrupt' | 'gone';

/**
 * Puts one ask on the terminal until it is answered, here or elsewhere (03 §10). Nothing but `y`, `s` and `r` approves;
 * Enter and anything unknown repeats the question.
 * @param withdrawn aborts when a verdict from elsewhere was seen; its reason is who answered
 */
export async function promptAsk(
  context: Context,
  client: RuntimeClient,
  askId: string,
  withdrawn: AbortSignal,
): Promise<Prompted> {
  const keys = openKeys(context.process.stdin());
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
  const { terminal, process } = context;
  let full = false;
  let seen = false;
  let painted = 0;
  let current: Ask = await client.showAsk({ id: askId });
  const shown = await shownIds(context, client, 'err', idsOf(current));
  let card: AskCard = askCard(current, process.now(), shown);
  const paint = async () => {
    const width = await measure(cardLines(card, Number.POSITIVE_INFINITY).lines);
    const screen = { columns: terminal.columns, width };
    const { lines, hidden } = cardLines(card, full ? Number.POSITIVE_INFINITY : shownLines, screen);
    seen = hidden === 0;
    const [title = '', ...rest] = lines;
    terminal.err(`\n${terminal.style('err', 'bold', title)}\n${rest.join('\n')}\n`);
    question();
    painted = process.now();
  };
  const question = () => {
    terminal.err(`${card.choices.map((choice) => words[choice]).join('  ')}\n`);
  };
  const verdict = async (
    answer: Partial<Parameters<RuntimeClient['answerAsk']>[0]>,
    told?: string,
  ): Promise<boolean> => {
    try {
      const recorded = await client.answerAsk({
        id: current.id,
        outcome: 'deny',
        feedback: null,
        text: null,
        remember: null,
        binding: current.binding,
        ...answer,
      });
      terminal.err(`${recorded.ask.state} ${shown(current.id)}\n`);
      if (told !== undefined) terminal.err(`${context.safe(told)}\n`);
      return true;
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      terminal.err(`${context.safe(error.message)}\n`);
      if (error.code === 'already_answered' || error.code === 'expired') return true;
      current = await client.showAsk({ id: askId });
      card = askCard(current, process.now(), shown);
      full = false;
      await paint();
      return false;
    }
  };

  await paint();
  for (;;) {
    const key = await keys.next(withdrawn);
    if (withdrawn.aborted) {
      terminal.err(`${context.safe(`${shown(current.id)} was ${String(withdrawn.reason)}`)}\n`);
      return 'settled';
    }
    if (key === null) return 'gone';
    if (key === '\u0003') return 'interrupt';
    if (process.now() - painted < guardMs) continue;
    const choice = Object.hasOwn(keyOf, key) ? keyOf[key] : undefined;
    if (choice === undefined || !card.choices.includes(choice)) {
      question();
      continue;
    }
    switch (choice) {
      case 'full':
        full = true;
        await paint();
        break;
      case 'explain':
        terminal.err(`${(await explain(context, client, current)).join('\n')}\n`);
        question();
        break;
      case 'deny':
        if (await verdict({ outcome: 'deny' })) return 'settled';
        break;
      case 'deny_feedback': {
        terminal.err('why (Enter alone goes back): ');
        const text = await keys.line(withdrawn);
        if (withdrawn.aborted) break;
        if (text === null || text.trim() === '') question();
        else if (await verdict({ outcome: 'deny', feedback: text.trim().slice(0, 4000) })) return 'settled';
        break;
      }
      case 'answer': {
        terminal.err('answer (Enter alone goes back): ');
        const text = await keys.line(withdrawn);
        if (withdrawn.aborted) break;
        if (text === null || text.trim() === '') question();
        else if (await verdict({ outcome: 'answer', text: text.trim().slice(0, 20_000) })) return 'settled';
        break;
      }
      case 'once':
      case 'session':
      case 'rule': {
        // What was never shown is not approved (03 §8.2).
        if (!seen) {
          terminal.err('some lines were not shown yet: press v first\n');
          question();
          break;
        }
        const remember = choice === 'once' ? null : choice;
        const chosen = choice === 'rule' ? await chooseRule(context, client, current.id, keys, withdrawn) : null;
        if (withdrawn.aborted) break;
        if (choice === 'rule' && chosen === null) question();
        else if (
          await verdict(
            { outcome: 'approve', remember, rule: chosen?.rule ?? null },
            chosen?.told ?? lasts(current, remember),
          )
        )
          return 'settled';
        break;
      }
    }
  }
}

/** What is remembered, said once it is. */
const lasts = (ask: Ask, remember: 'session' | 'rule' | null): string | undefined =>
  remember === 'session'
    ? `the same call passes without a question until ${ask.session_id === null ? 'this run' : 'the session'} ends`
    : undefined;

/** Verdict, reading and rules of an ask under the policy that it was asked under; made visible. */
export async function explain(context: Context, client: RuntimeClient, shown: Ask): Promise<readonly string[]> {
  const safe = (text: string) => `  ${escapeText(text, { mode: 'line' })}`;
  const { record } = shown;
  const told = [verdictLine(record), ...[record.note, record.detail].flatMap((text) => (text === null ? [] : [text]))];
  try {
    const explanation = await client.explainCall({
      call: null,
      ask: shown.id,
      as_asked: true,
      cwd: null,
      policy: context.globals.policy?.value ?? null,
      trust: [...context.globals.trust],
      allowed_dir: null,
    });
    return [...told, ...explanation.notes, ...whyLines(explanation)].map(safe);
  } catch (error) {
    // What was recorded is shown in any case; the rules are not there any more.
    if (!(error instanceof RuntimeError)) throw error;
    return [...told, error.message].map(safe);
  }
}
