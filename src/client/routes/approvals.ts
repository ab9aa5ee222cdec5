import {
  array,
  boolean,
  define,
  enums,
  nullable,
  number,
  object,
  optional,
  record,
  size,
  string,
  unknown,
} from 'superstruct';
import { askKinds } from '../../schema/ask.ts';
import { Ask, type AskCardData, AskHead } from '../../schema/ask-views.ts';
import type { AuditRow } from '../../schema/audit.ts';
import type { PolicyExplanation, RecordedCallView, WrittenRule } from '../../schema/policy-views.ts';
import { whole } from '../../schema/shape.ts';
import { count, page } from '../fields.ts';
import { route, shown } from '../operation.ts';

const ask = { id: string() };
const states = ['pending', 'approved', 'denied', 'answered', 'expired', 'cancelled', 'all'] as const;
const hex = define<string>('hex', (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value));

/** Asks, by the operator's word for them (09 §6.6). */
export const approvalRoutes = {
  /** Pending ones by deadline, resolved ones newest first. Overdue ones are closed before. */
  pageApprovals: route(
    'GET',
    '/api/approvals',
    'any',
    object({
      state: optional(enums(states)),
      kind: optional(enums(askKinds)),
      run: optional(string()),
      session: optional(string()),
      mission: optional(string()),
      by: optional(enums(['operator', 'agent', 'system'])),
      ...page,
    }),
    shown(object({ items: array(AskHead), next_cursor: nullable(string()) })),
  ),
  getApproval: route(
    'GET',
    '/api/approvals/{id}',
    'any',
    object(ask),
    shown(object({ ...Ask.schema, card: whole<AskCardData>(), history: array(whole<AuditRow>()) })),
  ),
  /** The first answer wins; a run that rests goes on when it is in. */
  answerApproval: route(
    'POST',
    '/api/approvals/{id}/answer',
    'operator',
    object({
      ...ask,
      outcome: enums(['approve', 'deny', 'answer', 'cancel']),
      binding: hex,
      text: optional(size(string(), 1, 20_000)),
      feedback: optional(size(string(), 0, 4_000)),
      remember: optional(enums(['session', 'edits', 'rule'])),
      rule: optional(count(0, 2)),
      rule_sha256: optional(hex),
      edited_args: optional(record(string(), unknown())),
      treat_as: optional(enums(['run_again', 'done', 'skip'])),
      accept_changed_chain: optional(boolean()),
    }),
    shown(Ask),
    { accessFor: ({ remember }) => (remember === 'rule' ? 'recent' : null) },
  ),
  /** As it would be decided now, beside what was recorded. */
  explainApproval: route(
    'POST',
    '/api/approvals/{id}/explain',
    'any',
    object(ask),
    shown(object({ now: whole<PolicyExplanation>(), recorded: unknown() })),
  ),
  previewRules: route(
    'POST',
    '/api/approvals/{id}/rule-preview',
    'operator',
    object(ask),
    shown(
      object({
        candidates: array(
          object({
            rule: whole<WrittenRule>(),
            /** An answer names it, with its place in this list. */
            sha256: string(),
            file: string(),
            position: number(),
            creates_file: boolean(),
            would_have_allowed: object({ count: number(), of: number(), examples: array(whole<RecordedCallView>()) }),
          }),
        ),
        /** Why there is none. */
        none: nullable(string()),
      }),
    ),
  ),
  /** Forgets what was approved for a session, by name or id. */
  forgetApprovals: route(
    'DELETE',
    '/api/approvals/remembered',
    'operator',
    object({ session: string() }),
    shown(object({ removed: number() })),
  ),
} as const;
