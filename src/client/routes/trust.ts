import { array, boolean, enums, nullable, number, object, optional, size, string } from 'superstruct';
import type { AuditRow } from '../../schema/audit.ts';
import { whole } from '../../schema/shape.ts';
import { page, time } from '../fields.ts';
import { returns, route, shown } from '../operation.ts';
import { Attachment } from './sessions.ts';

const TrustItem = object({
  id: string(),
  root: string(),
  kind: enums(['chain', 'policy', 'agent', 'database']),
  path: string(),
  sha256: string(),
  trusted_at: string(),
  by: enums(['init', 'prompt', 'command', 'web']),
  /** The file has exactly this content now. */
  current: boolean(),
});

/** Heads of the audit log that were noted outside the database and are not in it. */
const loss = {
  heads: number(),
  from_seq: number(),
  to_seq: number(),
  old_head: string(),
  noted_until: number(),
};

/** The audit log, and what is trusted (09 §6.11). */
export const trustRoutes = {
  /** Newest first. */
  pageAudit: route(
    'GET',
    '/api/audit',
    'any',
    object({
      type: optional(string()),
      run: optional(string()),
      tools: optional(string()),
      since: optional(time()),
      until: optional(time()),
      ...page,
    }),
    shown(object({ items: array(whole<AuditRow>()), next_cursor: nullable(string()) })),
  ),
  checkAudit: route(
    'GET',
    '/api/audit/verify',
    'any',
    object({ head: optional(string()) }),
    shown(
      object({
        ok: boolean(),
        follows: boolean(),
        entries: number(),
        first_seq: nullable(number()),
        last_seq: nullable(number()),
        head: string(),
        noted: number(),
        copies: array(string()),
        break: nullable(object({ seq: number(), reason: string() })),
        lost: nullable(object(loss)),
        restored: array(object({ ...loss, seq: number(), at: number(), hash: string() })),
      }),
    ),
    { heavy: true },
  ),
  /** One row a line in order, and the head of the chain as the last. */
  downloadAudit: route(
    'GET',
    '/api/audit/export',
    'operator',
    object({ since: optional(time()), until: optional(time()) }),
    shown(Attachment),
    { form: 'attachment', heavy: true },
  ),
  pageTrust: route('GET', '/api/trust', 'any', object({}), shown(array(TrustItem)), { form: 'items' }),
  /** Trusts exactly this content. */
  addTrust: route(
    'POST',
    '/api/trust',
    'recent',
    object({ kind: enums(['chain', 'policy', 'agent']), path: string(), sha256: size(string(), 64, 64) }),
    shown(TrustItem),
    { status: 201, repeatable: true },
  ),
  deleteTrust: route('DELETE', '/api/trust/{id}', 'operator', object({ id: string() }), returns<null>(), {
    status: 204,
  }),
} as const;
