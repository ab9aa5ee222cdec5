import type { AskKind } from '../schema/ask.ts';
import type { AttentionBounds } from '../schema/policy.ts';

/** 02 §12: a cap of 0 means these. */
const defaultCaps = { question: 3, permission: 20 } as const;

/**
 * How many verdicts agents may give for asks of a kind in one mission (02 §12).
 * @returns null when the policy leaves asks of this kind to people
 */
export function agentCap(bounds: AttentionBounds, kind: AskKind): number | null {
  if (kind === 'question') return bounds.allowAgentAnswers ? bounds.maxAgentAnswers || defaultCaps.question : null;
  if (kind !== 'permission') return null;
  return bounds.allowAgentApprovals ? bounds.maxAgentApprovals || defaultCaps.permission : null;
}

/** Whether agents may answer asks of any kind. */
export const agentsMayAnswer = (bounds: AttentionBounds): boolean =>
  agentCap(bounds, 'permission') !== null || agentCap(bounds, 'question') !== null;
