import { array, boolean, define, enums, nullable, number, object, record, string, unknown } from 'superstruct';
import type {
  AddedRule,
  PolicyComparison,
  PolicyExplanation,
  PolicyImport,
  PolicyRow,
  PolicyTestReport,
  PolicyText,
  PolicyVetFile,
  ReplayReport,
  SuggestReport,
  WrittenRule,
} from '../../schema/policy-views.ts';
import { operation, returns } from '../operation.ts';

/** A rule as a document writes it; whoever writes it down validates it as one. */
const anyRule = define<WrittenRule>('WrittenRule', (value) => typeof value === 'object' && value !== null);

/** Policies: what there is, what is wrong with it, what it would decide. Nothing here executes or asks. */
export const policies = {
  /** Every document of the overlay. `policy` is what `--policy` says: it decides which one is marked. */
  listPolicies: operation(
    'reads',
    object({ policy: nullable(string()) }),
    returns<{ readonly policies: readonly PolicyRow[]; readonly notes: readonly string[] }>(),
  ),
  /** By name or path; null = the one that would govern here. */
  showPolicy: operation('reads', object({ policy: nullable(string()) }), returns<PolicyText>()),
  /** By path or name; without any, every file of the overlay. */
  vetPolicies: operation('reads', object({ policies: array(string()) }), returns<readonly PolicyVetFile[]>()),
  /** What would happen to a call, or to that of a recorded ask. */
  explainCall: operation(
    'reads',
    object({
      call: nullable(object({ tools: string(), tool: string(), args: record(string(), unknown()) })),
      ask: nullable(string()),
      /** The policy that governed when it was asked, not the one that governs now. */
      as_asked: boolean(),
      cwd: nullable(string()),
      policy: nullable(string()),
      trust: array(string()),
      allowed_dir: nullable(string()),
    }),
    returns<PolicyExplanation>(),
  ),
  /** Without paths: every test file of the overlay and the project tree. */
  testPolicies: operation(
    'reads',
    object({ paths: array(string()), policy: nullable(string()), trust: array(string()) }),
    returns<PolicyTestReport>(),
  ),
  /** Recorded calls, newest first, under another policy. `since` in milliseconds since the epoch. */
  replayCalls: operation(
    'reads',
    object({
      policy: nullable(string()),
      trust: array(string()),
      since: number(),
      session: nullable(string()),
      tools: nullable(string()),
      limit: number(),
    }),
    returns<ReplayReport>(),
  ),
  /** How `b` differs from `a`. */
  comparePolicies: operation(
    'reads',
    object({ a: string(), b: string(), trust: array(string()) }),
    returns<PolicyComparison>(),
  ),
  /** Rules that would have answered what was approved again and again. */
  suggestRules: operation(
    'reads',
    object({ policy: nullable(string()), trust: array(string()), since: number() }),
    returns<SuggestReport>(),
  ),
  /** The file of the user that a rule would be written to; `copy` is the name of one that would be made. */
  ruleTarget: operation(
    'reads',
    object({ policy: nullable(string()), trust: array(string()) }),
    returns<{ readonly path: string; readonly copy: string | null }>(),
  ),
  /** `sha256` is that of the policy that was looked at: another one refuses the rule. */
  addRule: operation(
    'acts',
    object({
      policy: nullable(string()),
      trust: array(string()),
      rule: anyRule,
      index: number(),
      sha256: string(),
    }),
    returns<AddedRule>(),
  ),
  /** Settings of another program as a policy; without a path those in their usual places. */
  importPolicy: operation(
    'reads',
    object({ from: enums(['claude', 'codex', 'opencode', 'gemini']), path: nullable(string()) }),
    returns<PolicyImport>(),
  ),
} as const;
