import { array, boolean, enums, nullable, number, object, optional, record, string, unknown } from 'superstruct';
import type {
  ImportLine,
  PolicyComparison,
  PolicyExplanation,
  PolicyTestFile,
  RecordedCallView,
  VerdictChange,
  WrittenRule,
} from '../../schema/policy-views.ts';
import { DocumentFinding, PolicyDocument, PolicyListed } from '../../schema/document-views.ts';
import { whole } from '../../schema/shape.ts';
import { count, time } from '../fields.ts';
import { route, shown } from '../operation.ts';

const layer = optional(enums(['user', 'project']));
const file = { file: string() };
/** One of both: a document of the overlay, or a text that is not written anywhere. */
const either = { file: optional(string()), text: optional(string()) };
const ifMatch = { if_match: optional(string()) };
const tagged = { headers: ({ sha256 }: { readonly sha256: string }) => ({ etag: `"${sha256}"` }) };

/** Policies: what there is, what a text would decide, and writing one (09 §6.7). Nothing here executes or asks. */
export const policyRoutes = {
  pagePolicies: route('GET', '/api/policies', 'any', object({}), shown(array(PolicyListed)), { form: 'items' }),
  getPolicy: route(
    'GET',
    '/api/policies/{file}',
    'any',
    object({ ...file, source: optional(enums(['project', 'user', 'builtin'])) }),
    shown(PolicyDocument),
    tagged,
  ),
  /** Written atomically, and trusted by this act. */
  putPolicy: route(
    'PUT',
    '/api/policies/{file}',
    'recent',
    object({ ...file, text: string(), source: layer, ...ifMatch, if_none_match: optional(string()) }),
    shown(object({ ...PolicyDocument.schema, created: boolean() })),
    {
      ...tagged,
      precondition: 'if-match-or-none',
      body: 'document',
      status: { among: [200, 201], of: ({ created }) => (created ? 201 : 200) },
    },
  ),
  /** `applies` is what governs under that name from now on. */
  deletePolicy: route(
    'DELETE',
    '/api/policies/{file}',
    'recent',
    object({ ...file, source: layer, ...ifMatch }),
    shown(object({ applies: string() })),
    {
      status: 204,
      precondition: 'if-match',
      headers: ({ applies }) => ({ 'x-reins-policy': applies }),
      fromHeaders: (get) => ({ applies: get('x-reins-policy') ?? 'none' }),
    },
  ),
  vetPolicyText: route(
    'POST',
    '/api/policies/vet',
    'any',
    object({ text: string() }),
    shown(object({ valid: boolean(), findings: array(DocumentFinding) })),
    { body: 'document' },
  ),
  explainPolicy: route(
    'POST',
    '/api/policies/explain',
    'any',
    object({
      ...either,
      tools: string(),
      tool: string(),
      args: record(string(), unknown()),
      cwd: optional(string()),
    }),
    shown(whole<PolicyExplanation>()),
    { body: 'document' },
  ),
  replayPolicy: route(
    'POST',
    '/api/policies/replay',
    'any',
    object({ ...either, since: optional(time()), run: optional(string()), limit: optional(count(1, 100_000)) }),
    shown(
      object({
        evaluated: number(),
        widened: number(),
        narrowed: number(),
        not_comparable: number(),
        changed: array(
          object({
            call_id: string(),
            run_id: string(),
            before: enums(['allow', 'approve', 'deny']),
            after: enums(['allow', 'approve', 'deny']),
            rule: nullable(number()),
            call: whole<VerdictChange>(),
          }),
        ),
      }),
    ),
    { body: 'document', heavy: true },
  ),
  testPolicy: route(
    'POST',
    '/api/policies/test',
    'any',
    object({ ...either, cases: array(unknown()) }),
    shown(object({ passed: number(), failed: number(), results: whole<PolicyTestFile['cases']>() })),
    { body: 'document', heavy: true },
  ),
  diffPolicies: route(
    'POST',
    '/api/policies/diff',
    'any',
    object({ a: object(either), b: object(either) }),
    shown(whole<PolicyComparison>()),
    { body: 'document', heavy: true },
  ),
  suggestPolicy: route(
    'POST',
    '/api/policies/suggest',
    'any',
    object({ since: optional(time()), min_count: optional(count(1, 1000)) }),
    shown(
      object({
        suggestions: array(
          object({
            rule: whole<WrittenRule>(),
            position: number(),
            approvals: number(),
            would_have_answered: number(),
            also_allowed: number(),
            examples: array(whole<RecordedCallView>()),
          }),
        ),
      }),
    ),
    { heavy: true },
  ),
  /** Nothing is written. */
  translatePolicy: route(
    'POST',
    '/api/policies/import',
    'any',
    object({ from: enums(['claude', 'codex', 'opencode', 'gemini']), text: string() }),
    shown(object({ text: nullable(string()), report: whole<readonly ImportLine[]>() })),
    { body: 'document' },
  ),
} as const;
