import type { RuntimeClient } from '../client/operations.ts';
import type { Ask } from '../schema/ask.ts';
import { RuntimeError } from '../schema/errors.ts';
import { escapeText } from '../view/escape.ts';
import { verdictLine, whyLines } from '../view/explanation.ts';
import type { Context } from './context.ts';

/** Verdict, reading and rules of an ask under the policy that it was asked under; made visible. */
export async function explainAsk(context: Context, client: RuntimeClient, shown: Ask): Promise<readonly string[]> {
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
