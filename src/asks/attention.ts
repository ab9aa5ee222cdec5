import { enums, is, optional, string, type } from 'superstruct';
import type { Ask } from '../schema/ask.ts';
import { readStrictJson } from '../text/strict-json.ts';

/** What the answering chain says (03 §7.3). Members that it adds are of no use and do no harm. */
const Adjudication = type({
  ask_id: string(),
  outcome: enums(['approve', 'deny', 'answer', 'wait']),
  text: optional(string()),
  feedback: optional(string()),
});

/** The words that an ask can be answered with. */
const outcomesOf = (ask: Ask) =>
  ask.kind === 'question' ? (['answer', 'wait'] as const) : (['approve', 'deny', 'wait'] as const);

export type AgentAnswer = {
  readonly outcome: 'approve' | 'deny' | 'answer';
  readonly text?: string;
  readonly feedback?: string;
};
export type ReadAnswer =
  | { readonly kind: 'answer'; readonly answer: AgentAnswer }
  | { readonly kind: 'wait' }
  /** Nothing that can be used: said to the chain once. */
  | { readonly kind: 'unclear'; readonly fault: string };

const maxDepth = 8;

/** Reads the result of the answering chain: exactly one JSON object about this very ask (03 §7.3). */
export function readAnswer(text: string, ask: Ask): ReadAnswer {
  const read = readStrictJson(text.trim(), maxDepth);
  if (!read.ok) return { kind: 'unclear', fault: `no single JSON object: ${read.message}` };
  const { value } = read;
  if (read.duplicates.length > 0) return { kind: 'unclear', fault: `${read.duplicates[0]} occurs twice` };
  if (!is(value, Adjudication))
    return { kind: 'unclear', fault: 'not of the form {ask_id, outcome, text?, feedback?}' };
  if (value.ask_id !== ask.id) return { kind: 'unclear', fault: `ask_id is not ${ask.id}` };
  const allowed: readonly string[] = outcomesOf(ask);
  if (!allowed.includes(value.outcome)) return { kind: 'unclear', fault: `outcome is none of ${allowed.join(', ')}` };
  switch (value.outcome) {
    case 'wait':
      return { kind: 'wait' };
    case 'answer':
      if (value.text === undefined || value.text.trim() === '') return { kind: 'unclear', fault: 'text is missing' };
      return { kind: 'answer', answer: { outcome: 'answer', text: value.text } };
    case 'approve':
      return { kind: 'answer', answer: { outcome: 'approve' } };
    case 'deny':
      return {
        kind: 'answer',
        answer: { outcome: 'deny', ...(value.feedback === undefined ? {} : { feedback: value.feedback }) },
      };
  }
}

/**
 * What the answering chain is given: one JSON object (03 §7.2). Everything that a model, a tool or a file had a hand in
 * stands in members named `untrusted_*`.
 */
export function requestText(ask: Ask, goal: string | null, fault: string | null): string {
  return JSON.stringify({
    ask_id: ask.id,
    kind: ask.kind,
    tools: ask.tools,
    tool: ask.tool,
    cwd: ask.cwd,
    policy: ask.policy.name,
    matched_rule: ask.record.matched_rule,
    note: ask.record.note,
    outcomes: outcomesOf(ask),
    untrusted_summary: ask.summary,
    untrusted_args: ask.args,
    untrusted_preview: ask.preview,
    untrusted_question: ask.question,
    untrusted_goal: goal,
    ...(fault === null ? {} : { correction: `The answer before could not be used: ${fault}.` }),
  });
}
