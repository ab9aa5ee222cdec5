import type { RuntimeClient } from '../../src/client/operations.ts';
import { toWire } from '../../src/schema/errors.ts';
import type { JudgedUnder } from '../judged-under.ts';

export type EditVerdict = { readonly action: 'allow' | 'approve' | 'deny'; readonly why: string };

/** What the policy would say to a call with other arguments (10 §7.5 `e`). What cannot be judged is denied; never throws. */
export async function judgeEdit(
  client: RuntimeClient,
  id: string,
  args: Record<string, unknown>,
  under: JudgedUnder,
): Promise<EditVerdict> {
  try {
    const { tools, tool, cwd } = await client.showAsk({ id });
    const call = { tools, tool, args };
    const judged = await client.explainCall({
      call,
      ask: null,
      as_asked: false,
      cwd,
      ...under,
      trust: [...under.trust],
    });
    if (judged.refused !== null) return { action: 'deny', why: judged.refused };
    const { record } = judged;
    const told = record.matched_rule === null ? '' : `rule ${record.matched_rule + 1}: `;
    return {
      action: record.action,
      why: `${told}${record.detail ?? record.reason}${record.note === null ? '' : ` (${record.note})`}`,
    };
  } catch (error) {
    return { action: 'deny', why: toWire(error).message };
  }
}
