import type {
  Action,
  ConditionTrace,
  Evaluation,
  PolicyCall,
  PolicyFinding,
  PolicyIdentity,
  Reason,
} from './policy.ts';

/** Policies as the policy commands show them (02 §14). */

export type PolicyRow = {
  readonly name: string;
  readonly source: PolicyIdentity['source'];
  /** `shadowed`: a stronger layer has a file of that name. */
  readonly state: 'ok' | 'invalid' | 'untrusted' | 'shadowed';
  /** Null for a document that was not read as a policy. */
  readonly rules: number | null;
  readonly default: Action | null;
  readonly sha256: string | null;
  readonly path: string | null;
  /** It would govern a run that is started here. */
  readonly governs: boolean;
};

/** A document as it is stored; nothing of it is evaluated. */
export type PolicyText = Pick<PolicyRow, 'name' | 'source' | 'path' | 'sha256'> & {
  readonly state: 'ok' | 'invalid' | 'untrusted';
  /** Whether it lets an agent answer asks in the operator's place (02 §12). */
  readonly agent_answers: boolean;
  readonly text: string;
};

export type PolicyVetFile = {
  /** Of the file; the name of a preset. */
  readonly path: string;
  readonly worst: 'ok' | 'warn' | 'error';
  readonly findings: readonly (Omit<PolicyFinding, 'severity'> & { readonly severity: 'error' | 'warn' })[];
};

/** One rule that was tried; `rule` counts from 0. */
export type TriedRule = {
  readonly rule: number;
  readonly outcome: string;
  readonly note: string | null;
  /** Each with the operand of the document. */
  readonly conditions: readonly (ConditionTrace & { readonly value: string })[];
};

/** One command of a shell call as `analysis.segments` of a traced record tells it. */
export type CommandSegment = {
  readonly words: readonly string[];
  /** Real path of the program; null when it does not resolve. */
  readonly program: string | null;
  /** It stands in the words of another command, which starts it. */
  readonly revealed: boolean;
  /** The entry of an allowlist that grants it by itself. */
  readonly covered_by: string | null;
  /** Why none does; null when one does, or when the policy has none. */
  readonly why: string | null;
};

/** What would happen to a call and why (02 §14.2). */
export type PolicyExplanation = {
  readonly call: PolicyCall & { readonly cwd: string };
  /** With trace and analysis. */
  readonly record: Evaluation;
  readonly tried: readonly TriedRule[];
  /** How long an ask of it waits until it counts as denied, in seconds; null where nothing is asked. */
  readonly wait_s: number | 'never' | null;
  readonly would_change_with: string | null;
  /** Why such a call is refused before anybody decides. */
  readonly refused: string | null;
  readonly notes: readonly string[];
};

/** What a case of a policy test expects (02 §14.3). */
export type ExpectedVerdict = {
  readonly action: Action;
  /** Index from 0, or the default action; null = whatever decides. */
  readonly rule: number | 'default' | null;
  readonly detail_contains: string | null;
};

/** One file of cases (02 §14.3). With findings it was not run. */
export type PolicyTestFile = {
  readonly path: string;
  readonly findings: readonly PolicyFinding[];
  readonly cases: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly expected: ExpectedVerdict;
    readonly got: {
      readonly action: Action;
      /** Null where neither a rule nor the default decided. */
      readonly rule: number | 'default' | null;
      readonly detail: string | null;
    };
  }[];
};

export type PolicyTestReport = {
  readonly files: readonly PolicyTestFile[];
  readonly passed: number;
  readonly failed: number;
  /** Of each policy that was tested: the rules that no case matched, counted from 0. */
  readonly coverage: readonly {
    readonly policy: string;
    readonly rules: number;
    readonly uncovered: readonly number[];
  }[];
};

/** A recorded call that another policy decides differently (02 §14.4). */
export type VerdictChange = {
  readonly run_id: string;
  readonly call_id: string;
  readonly at: string;
  readonly tools: string;
  readonly tool: string;
  readonly args: unknown;
  readonly was: Action;
  /** What became of the question, where one was asked. */
  readonly outcome: { readonly state: string; readonly by: string | null } | null;
  readonly change: 'widened' | 'tightened';
  readonly now: Action;
  /** Counts from 0. */
  readonly rule: number | null;
  readonly detail: string | null;
};

export type ReplayReport = {
  readonly policy: PolicyIdentity;
  readonly checked: number;
  readonly tightened: number;
  readonly widened: number;
  readonly unchanged: number;
  readonly not_comparable: number;
  readonly changes: readonly VerdictChange[];
};

/** A rule as a document writes it; what is absent is left out. */
export type WrittenRule = {
  readonly '//'?: string;
  readonly tools?: string;
  readonly tool?: string;
  readonly when?: readonly { readonly key: string; readonly op: string; readonly value: string }[];
  readonly action: Action;
  readonly timeout_s?: number;
  readonly on_timeout?: string;
};

/** How two documents differ as they are written. Indexes count from 0. */
export type PolicyStructure = {
  readonly blocks: readonly { readonly block: string; readonly a: unknown; readonly b: unknown }[];
  readonly removed: readonly { readonly index: number; readonly rule: WrittenRule }[];
  readonly added: readonly { readonly index: number; readonly rule: WrittenRule }[];
  readonly moved: readonly { readonly from: number; readonly to: number }[];
};

/** A call that the second of two policies decides in another way. */
export type PolicyDifference = PolicyCall & {
  /** A built-in case, one made from a rule, or one that was recorded. */
  readonly from: 'example' | 'rule' | 'recorded';
  readonly change: 'widened' | 'tightened';
  readonly a: { readonly action: Action; readonly rule: number | null; readonly reason: Reason };
  readonly b: { readonly action: Action; readonly rule: number | null; readonly reason: Reason };
};

export type PolicyComparison = {
  readonly a: PolicyIdentity;
  readonly b: PolicyIdentity;
  readonly structure: PolicyStructure;
  /** How many calls both were asked about. */
  readonly calls: number;
  /** Widened ones first. */
  readonly differences: readonly PolicyDifference[];
};

/** A rule that would have answered what was approved again and again (02 §14.6). */
export type RuleSuggestion = {
  readonly rule: WrittenRule;
  /** Where it would stand, counted from 0. */
  readonly index: number;
  /** Approvals that it was made from, and their asks. */
  readonly approvals: number;
  readonly asks: readonly string[];
  /** Asks of the time looked at that it would have answered. */
  readonly answers: number;
  /** Other recorded calls that it would have allowed; the newest of them are named. */
  readonly also_allowed: number;
  readonly also: readonly RecordedCallView[];
};

/** A call of the past, and what became of it. */
export type RecordedCallView = PolicyCall & {
  readonly at: string;
  readonly was: Action;
  readonly outcome: VerdictChange['outcome'];
};

/** A rule that would let the call of an ask through (03 §9). */
export type RuleCandidate = {
  readonly kind: 'exact' | 'directory' | 'host' | 'prefix';
  /** As it would be written, but for its note. */
  readonly rule: WrittenRule;
  /** Where it would stand, counted from 0. */
  readonly index: number;
  /** Digest of what is shown here, by which an answer names the rule. */
  readonly sha256: string;
  /** How many of the last recorded calls it would also have allowed; the newest of them are named. */
  readonly also_allowed: number;
  readonly also: readonly RecordedCallView[];
};

/** Rules that may be added instead of a single approval, narrowest first, at most three. */
export type RuleProposals = {
  /** The file of the user that one would be written to. */
  readonly path: string;
  /** Name of the copy that would be made there and govern from then on; null = the file governs already. */
  readonly copy: string | null;
  /** The policy that it would be added to. */
  readonly policy: PolicyIdentity;
  /** Recorded calls that were looked at. */
  readonly looked_at: number;
  readonly candidates: readonly RuleCandidate[];
  /** Why there is none. */
  readonly none: string | null;
};

export type SuggestReport = {
  readonly policy: PolicyIdentity;
  /** Approvals that were looked at. */
  readonly approvals: number;
  readonly suggestions: readonly RuleSuggestion[];
};

/** What became of a rule that was written. */
export type AddedRule = {
  readonly path: string;
  readonly sha256: string;
  /** Name of the copy that governs from now on; null when the governing file was the user's own. */
  readonly copy: string | null;
};

export type ImportFormat = 'claude' | 'codex' | 'opencode' | 'gemini';

/** One rule or setting of another program, and what it became (02 §15). */
export type ImportLine = {
  /** `file:line`. */
  readonly source: string;
  /** Whose file it is; `path` = one that the operator named. */
  readonly level: 'managed' | 'user' | 'project' | 'path';
  readonly text: string;
  readonly outcome: 'exact' | 'narrowed' | 'dropped' | 'inert';
  /** Rules of the document that it became, counted from 0. */
  readonly rules: readonly number[];
  readonly why: string;
};

export type PolicyImport = {
  /** The document; null when nothing could be read. */
  readonly text: string | null;
  /** Calls that the source gives as examples, as a file of `policy test` has them. */
  readonly cases: readonly {
    readonly name: string;
    readonly call: { readonly tools: string; readonly tool: string; readonly args: { readonly command: string } };
    readonly expect: { readonly action: Action };
  }[];
  readonly report: readonly ImportLine[];
  readonly unread: readonly { readonly path: string; readonly message: string }[];
  /** Sentences on what to do next. */
  readonly notes: readonly string[];
  readonly vet: PolicyVetFile['worst'];
  readonly findings: PolicyVetFile['findings'];
};
