import { array, boolean, enums, nullable, number, object, optional, record, string, unknown } from 'superstruct';
import type { ChainGraph } from '../../schema/document-views.ts';
import type { Ask, RememberedChoice } from '../../schema/ask.ts';
import type { AuditCheck, AuditLoss, AuditRow } from '../../schema/audit.ts';
import type {
  ForeignDatabase,
  ChainRow,
  ShownChain,
  ChainVetFile,
  DeclaredPrograms,
  ProgramChange,
  TrustRow,
  TrustView,
  UntrustedContent,
} from '../../schema/overlay.ts';
import type { RuleProposals } from '../../schema/policy-views.ts';
import { operation, returns } from '../operation.ts';

/** Asks, chains, trust. */
export const oversight = {
  listAsks: operation(
    'reads',
    object({
      state: string(),
      kind: nullable(string()),
      session: nullable(string()),
      mission: nullable(string()),
      by: nullable(string()),
      limit: number(),
    }),
    returns<{ readonly asks: readonly Ask[]; readonly total: number; readonly expired: number }>(),
  ),
  /** Each id as people are shown it: its kind and the shortest ending that no other has. */
  shortIds: operation('reads', object({ ids: array(string()) }), returns<readonly string[]>()),
  showAsk: operation('reads', object({ id: string() }), returns<Ask>()),
  /** Rows of the audit log that tell of an ask, oldest first. */
  askHistory: operation('reads', object({ id: string() }), returns<readonly AuditRow[]>()),
  /**
   * The first answer wins. `yours` is false when an identical answer had been stored before; `rests` is true when no process
   * drives the run that asked, so that whoever answered may go on with it. Refused where that would be impossible, unless
   * the ask is cancelled or `no_resume` records the verdict and nothing else.
   */
  answerAsk: operation(
    'acts',
    object({
      id: string(),
      outcome: enums(['approve', 'deny', 'answer', 'cancel']),
      feedback: nullable(string()),
      text: nullable(string()),
      /**
       * `session`: identical calls of the session need no answer; `edits`: nor do edits of files below its workspace;
       * `rule`: with `rule`, one of `proposeRules`.
       */
      remember: nullable(enums(['session', 'edits', 'rule'])),
      rule: optional(nullable(object({ candidate: number(), sha256: string() }))),
      binding: nullable(string()),
      no_resume: optional(boolean()),
      treat_as: optional(enums(['run_again', 'done', 'skip'])),
      accept_changed_chain: optional(boolean()),
    }),
    returns<{ readonly ask: Ask; readonly yours: boolean; readonly rests: boolean }>(),
  ),
  /**
   * Puts other arguments in the place of a call's own (03 §3.5). The ask ends as `cancelled`; whoever drives the run judges
   * the new call, and asks about it where the rules say so: that ask is named by `superseded_by`. `rests` as above.
   */
  editAsk: operation(
    'acts',
    object({
      id: string(),
      args: record(string(), unknown()),
      binding: nullable(string()),
      no_resume: optional(boolean()),
      accept_changed_chain: optional(boolean()),
    }),
    returns<{ readonly ask: Ask; readonly yours: boolean; readonly rests: boolean }>(),
  ),
  /** Rules of the operator's own that would let the call of an ask through. */
  proposeRules: operation('acts', object({ id: string() }), returns<RuleProposals>()),
  /** What was approved for a session, by name or id, newest first. */
  listRemembered: operation('reads', object({ session: string() }), returns<readonly RememberedChoice[]>()),
  /** Forgets what was approved for a session, by name or id: one choice of it, or all of them. */
  forgetRemembered: operation(
    'acts',
    object({ session: string(), id: optional(nullable(string())) }),
    returns<{ readonly removed: number }>(),
  ),
  /** Newest first. */
  listAudit: operation(
    'reads',
    object({
      since: nullable(number()),
      run: nullable(string()),
      type: nullable(string()),
      tools: nullable(string()),
      limit: number(),
    }),
    returns<{ readonly rows: readonly AuditRow[]; readonly total: number }>(),
  ),
  /** `head`: a hash that must be in the chain, beside those that were noted outside the database. */
  verifyAudit: operation('reads', object({ head: nullable(string()) }), returns<AuditCheck>()),
  /** Rows in order behind a number, a page at a time, without what an export leaves out (03 §14), and the head of the chain. */
  exportAudit: operation(
    'reads',
    object({ after: number(), since: nullable(number()), limit: number(), with_text: boolean() }),
    returns<{ readonly rows: readonly AuditRow[]; readonly head: { readonly seq: number; readonly hash: string } }>(),
  ),
  /** Removes rows older than a time, in milliseconds since the epoch. */
  pruneAudit: operation('acts', object({ before: number() }), returns<{ readonly removed: number }>()),
  /** Writes down that a backup was put in the place of the database, with the noted heads that are missing; null = none is. */
  recordRestored: operation('acts', object({}), returns<{ readonly recorded: AuditLoss | null }>()),
  listChains: operation('reads', object({}), returns<readonly ChainRow[]>()),
  /** Canonical JSON text of a chain by path or name, and which one it is. */
  showChain: operation('reads', object({ name: string() }), returns<ShownChain>()),
  /** Tasks, the ways between them, and what no way leads to. */
  graphChain: operation('reads', object({ name: string() }), returns<ChainGraph>()),
  /** What keeps the chain that a config key names from being used; null = nothing does, or none is named. */
  configuredChainFault: operation(
    'reads',
    object({ key: enums(['default-chain', 'attention-chain']) }),
    returns<{ readonly fault: string | null }>(),
  ),
  /** Without paths: every chain of the overlay. */
  vetChains: operation('reads', object({ paths: array(string()) }), returns<readonly ChainVetFile[]>()),
  /** What a run with these names would use and is not trusted yet; empty when all is. */
  untrusted: operation(
    'reads',
    object({
      /** Null: the run executes a chain of the program's own. */
      chain: nullable(enums(['run', 'chat', 'planner', 'executor', 'summarizer', 'explorer'])),
      chain_path: nullable(string()),
      policy: nullable(string()),
      trust: array(string()),
      /** Also what no run is refused for: `AGENTS.md`, of a project of which nothing is trusted. */
      review: optional(boolean()),
    }),
    returns<readonly UntrustedContent[]>(),
  ),
  /** Records trust in exactly this content; refused when the file no longer has this hash. */
  trustContent: operation(
    'acts',
    object({ path: string(), sha256: string(), by: enums(['prompt', 'command']) }),
    returns<null>(),
  ),
  /** The database of this project, if another installation made it; null = there is nothing to decide. */
  foreignDatabase: operation('reads', object({}), returns<ForeignDatabase | null>()),
  /** Makes it ours, without what was decided elsewhere; refused when it no longer has this hash. */
  acceptDatabase: operation('acts', object({ sha256: string() }), returns<null>()),
  listTrust: operation('reads', object({}), returns<readonly TrustRow[]>()),
  /** A document of this project: its text, and whether this content is trusted. */
  showTrust: operation('reads', object({ path: string() }), returns<TrustView>()),
  /** `what` is a path or a hash. */
  removeTrust: operation('acts', object({ what: string() }), returns<readonly TrustRow[]>()),
  /** The programs that a policy trusts, and whether they are still what was declared. */
  listPrograms: operation('reads', object({ policy: nullable(string()) }), returns<DeclaredPrograms>()),
  /** Declares programs, reads their digests again, or takes declarations back, in the document that governs. */
  trustPrograms: operation(
    'acts',
    object({ policy: nullable(string()), action: enums(['declare', 'refresh', 'remove']), names: array(string()) }),
    returns<ProgramChange>(),
  ),
  initialise: operation(
    'acts',
    object({ provider: nullable(string()), force: boolean() }),
    returns<{
      readonly dataDir: string;
      readonly files: readonly { readonly path: string; readonly action: 'created' | 'kept' | 'replaced' }[];
      readonly settings: readonly { readonly key: string; readonly value: string }[];
      readonly notes: readonly string[];
    }>(),
  ),
} as const;
