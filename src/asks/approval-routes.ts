import type { Ask } from '../schema/ask.ts';
import type { AskCardData, AskHead } from '../schema/ask-views.ts';
import type { AuditRow } from '../schema/audit.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { PolicyExplanation, RuleProposals } from '../schema/policy-views.ts';
import type { AskPageFilter, AskPages, AskPlace } from '../store/ask-pages.ts';
import { keyOfCursor, type Page, pageOf, pageSize, type PageWanted } from '../schema/page.ts';
import type { Answered } from './answer.ts';
import type { AskEdit } from './edit.ts';
import type { AskAnswer } from './respond.ts';

export type ApprovalRouteDeps = {
  readonly pages: AskPages;
  /** Closes what is overdue. */
  readonly sweep: () => unknown;
  /** @throws RuntimeError not_found, ambiguous_id */
  readonly show: (id: string) => Ask;
  readonly answer: (input: AskAnswer) => Promise<Answered>;
  readonly edit: (input: AskEdit) => Promise<Answered>;
  readonly propose: (id: string) => Promise<RuleProposals>;
  readonly forget: (session: string) => { readonly removed: number };
  readonly explain: (id: string, asAsked: boolean) => Promise<PolicyExplanation>;
  readonly card: (ask: Ask, segments: unknown) => AskCardData;
  /** Audit rows of an ask, oldest first. */
  readonly history: (askId: string) => readonly AuditRow[];
  /** Id of a session by its name. */
  readonly sessionId: (name: string) => string;
  /** Whole id of a run. @throws RuntimeError not_found, ambiguous_id */
  readonly runId: (part: string) => string;
  /** Goes on with a run that rests; never rejects. */
  readonly goOn: (runId: string, acceptChangedChain: boolean) => Promise<void>;
};

type ApprovalAnswer = {
  readonly id: string;
  readonly outcome: 'approve' | 'deny' | 'answer' | 'cancel';
  readonly binding: string;
  readonly text?: string | undefined;
  readonly feedback?: string | undefined;
  readonly remember?: 'session' | 'edits' | 'rule' | undefined;
  readonly rule?: number | undefined;
  readonly rule_sha256?: string | undefined;
  readonly edited_args?: Readonly<Record<string, unknown>> | undefined;
  readonly treat_as?: 'run_again' | 'done' | 'skip' | undefined;
  readonly accept_changed_chain?: boolean | undefined;
};

type Id = { readonly id: string };

/** The operations of `client/routes/approvals.ts`. */
export function createApprovalRoutes(deps: ApprovalRouteDeps) {
  return {
    async pageApprovals({
      state,
      kind,
      run,
      session,
      mission,
      by,
      ...wanted
    }: PageWanted & {
      readonly state?: AskPageFilter['state'] | undefined;
      readonly kind?: string | undefined;
      readonly run?: string | undefined;
      readonly session?: string | undefined;
      readonly mission?: string | undefined;
      readonly by?: string | undefined;
    }): Promise<Page<AskHead>> {
      deps.sweep();
      const [rank, key, id] = keyOfCursor(wanted.cursor, ['number', 'number', 'string']) ?? [];
      const behind: AskPlace | null = id === undefined ? null : [Number(rank), Number(key), String(id)];
      const filter: AskPageFilter = {
        state: state ?? 'pending',
        kind: kind ?? null,
        run_id: run === undefined ? null : deps.runId(run),
        session_id: session === undefined ? null : deps.sessionId(session),
        mission_id: mission ?? null,
        by: by ?? null,
      };
      const rows = deps.pages.list(filter, behind, pageSize(wanted) + 1);
      return pageOf(
        rows,
        wanted,
        ({ place }) => place,
        ({ ask }) => ask,
      );
    },

    async getApproval({ id }: Id) {
      const ask = deps.show(id);
      return { ...ask, card: deps.card(ask, await segmentsOf(ask)), history: deps.history(ask.id) };
    },

    /** @throws RuntimeError as `respond` and `editAsk`; invalid_parameter for members that do not go together */
    async answerApproval(wanted: ApprovalAnswer): Promise<Ask> {
      const misfit = misfitOf(wanted);
      if (misfit !== null) {
        throw new RuntimeError('invalid_parameter', misfit.message, { data: { param: misfit.param } });
      }
      const accept_changed_chain = wanted.accept_changed_chain === true;
      if (wanted.edited_args !== undefined) return edited(wanted, wanted.edited_args, accept_changed_chain);
      const { id, outcome, binding, text, feedback, remember, rule, rule_sha256, treat_as } = wanted;
      const { ask, rests } = await deps.answer({
        id,
        outcome,
        binding,
        text: text ?? null,
        feedback: feedback ?? null,
        remember: remember ?? null,
        ...(rule === undefined || rule_sha256 === undefined ? {} : { rule: { candidate: rule, sha256: rule_sha256 } }),
        treat_as,
        accept_changed_chain,
      });
      if (rests && ask.run_id !== null) await deps.goOn(ask.run_id, accept_changed_chain);
      return ask;
    },

    async explainApproval({ id }: Id) {
      return { now: await deps.explain(id, false), recorded: deps.show(id).record };
    },

    async previewRules({ id }: Id) {
      const { path, copy, candidates, looked_at, none } = await deps.propose(id);
      return {
        candidates: candidates.map(({ rule, sha256, index, also_allowed, also }) => ({
          rule,
          sha256,
          file: path,
          position: index,
          creates_file: copy !== null,
          would_have_allowed: { count: also_allowed, of: looked_at, examples: also },
        })),
        none,
      };
    },

    forgetApprovals: async ({ session }: { readonly session: string }) => deps.forget(session),
  };

  /** The ask that took the place of the old one, as soon as it is there; else the old one. */
  async function edited(wanted: ApprovalAnswer, args: Readonly<Record<string, unknown>>, accept: boolean) {
    const { id, binding } = wanted;
    const { ask, rests } = await deps.edit({ id, args, binding, accept_changed_chain: accept });
    if (rests && ask.run_id !== null) await deps.goOn(ask.run_id, accept);
    for (let waited = 0; waited < mostWaitMs; waited += lookEveryMs) {
      const { superseded_by } = deps.show(ask.id);
      if (superseded_by !== null) return deps.show(superseded_by);
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
    return deps.show(ask.id);
  }

  /** How the command line of an ask was read; null for another tool, and where it cannot be told any more. */
  async function segmentsOf(ask: Ask): Promise<unknown> {
    if (ask.tools !== 'local_shell') return null;
    try {
      const { analysis } = (await deps.explain(ask.id, true)).record;
      return typeof analysis === 'object' && analysis !== null ? (Reflect.get(analysis, 'segments') ?? null) : null;
    } catch (error) {
      if (error instanceof RuntimeError) return null;
      throw error;
    }
  }
}

/** Whoever drives the run makes a new ask of edited arguments at once, or runs them. */
const mostWaitMs = 2_000;
const lookEveryMs = 25;

type Misfit = { readonly param: string; readonly message: string };

/** Members of an answer that do not go together (09 §6.6). */
function misfitOf(wanted: ApprovalAnswer): Misfit | null {
  const { outcome, text, feedback, remember, rule, rule_sha256, edited_args, treat_as } = wanted;
  const rules: readonly (readonly [wrong: boolean, param: string, message: string])[] = [
    [feedback !== undefined && outcome !== 'deny', 'feedback', 'feedback goes with deny.'],
    [remember !== undefined && outcome !== 'approve', 'remember', 'remember goes with approve.'],
    [
      (remember === 'rule') !== (rule !== undefined) || (rule === undefined) !== (rule_sha256 === undefined),
      'rule',
      'rule and rule_sha256 go with remember "rule", and only with it.',
    ],
    [
      edited_args !== undefined && (outcome !== 'approve' || remember !== undefined),
      'edited_args',
      'edited_args goes with approve, without remember.',
    ],
    [treat_as !== undefined && outcome !== 'answer', 'treat_as', 'treat_as goes with answer.'],
    [text !== undefined && outcome !== 'answer', 'text', 'text goes with answer.'],
    [
      outcome === 'answer' && text === undefined && (treat_as === undefined || treat_as === 'done'),
      'text',
      'This answer needs a text.',
    ],
    [
      text !== undefined && treat_as !== undefined && treat_as !== 'done',
      'text',
      'text goes with treat_as "done", and with no other.',
    ],
  ];
  const found = rules.find(([wrong]) => wrong);
  return found === undefined ? null : { param: found[1], message: found[2] };
}
