import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { isCommandOperator } from '../policy/compile.ts';
import { tableOf } from '../policy/option-tables.ts';
import { parsePolicy } from '../policy/validate.ts';
import type { Ask } from '../schema/ask.ts';
import type { FoundCommand } from '../schema/command.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { LoadedPolicy } from '../schema/policy.ts';
import type { RuleCandidate, RuleProposals, WrittenRule } from '../schema/policy-views.ts';
import { baseName } from '../shell/programs.ts';
import type { RecordedCalls } from '../store/recorded-calls.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { candidatesOf, hostRules, prefixRules } from './candidates.ts';
import { createJudge, type Judge } from './judge.ts';
import { createRetrials, type Retrial } from './recorded.ts';
import type { AskedCall, Review } from './review.ts';
import type { TrialDeps } from './trial.ts';
import { inserted, touchesCatalogue, tryRule, viewOf, wasDenied } from './try-rule.ts';

export type ProposeDeps = Pick<TrialDeps, 'hosts' | 'workspace'> & {
  readonly review: Review;
  readonly policyNow: (identity: Ask['policy']) => Promise<LoadedPolicy>;
  readonly recorded: RecordedCalls;
  /** Every argument that a tool takes; null for one that is not known. */
  readonly argumentNames: (tools: string, tool: string) => readonly string[] | null;
  /** Where a rule for this policy is written. */
  readonly targetOf: (loaded: LoadedPolicy) => { readonly path: string; readonly copy: string | null };
};

type Drafted = Pick<RuleCandidate, 'kind' | 'rule'> & { readonly directory: string | null };

const mostCandidates = 3;
/** Characters of a rule that is offered: nobody reads a longer one. */
const maxRuleText = 16_384;
/** Recorded calls that a rule is held against (10 §7.6). */
const mostRecent = 500;
/** Of them, those that a proposal names; the rest is counted. */
const maxNamed = 20;

/** The rules that an operator may add in place of a single approval (03 §9). */
export function createPropose(deps: ProposeDeps) {
  /** Every denied call there is, and the last calls; the ask's own among neither. */
  const history = async (ask: Ask, loaded: LoadedPolicy) => {
    const retry = createRetrials(deps, loaded);
    const denied: Retrial[] = [];
    const recent: Retrial[] = [];
    for (const page of deps.recorded.pages({ since: 0, session_id: null, tools: null }, Number.POSITIVE_INFINITY)) {
      for (const recorded of page) {
        if (recorded.ask?.id === ask.id) continue;
        const retrial = retry(recorded);
        if (wasDenied(recorded)) denied.push(retrial);
        if (recent.length < mostRecent && retrial.fault === null) recent.push(retrial);
      }
      await turn();
    }
    return { denied, recent };
  };

  /** Why no rule is written for this call, whichever. */
  const barredBy = async (trial: Judge, ask: Ask, asked: AskedCall): Promise<string | null> => {
    if (asked.loaded.identity.state !== 'ok') return 'the policy is invalid';
    if (JSON.stringify(ask.args).includes('•••(')) return 'a secret in its arguments is masked';
    const reserved = await deps.review.reserved(ask);
    if (reserved !== null) return reserved;
    return touchesCatalogue(trial, asked) ? 'it concerns files that are guarded, or that run code later' : null;
  };

  /**
   * Whether it is a rule about commands that asks, such as the one for `rm`: then whoever wrote it wants to see each, and
   * no entry of a list says of what the call is about more than its first words.
   */
  const asksByCommand = (trial: Judge, { loaded, call, host }: AskedCall): boolean => {
    const { matched_rule } = trial.judge(loaded, call, host);
    const rule = matched_rule === null ? undefined : loaded.policy.rules[matched_rule];
    return rule?.action === 'approve' && rule.when.some(({ op }) => isCommandOperator(op));
  };

  const drafts = (trial: Judge, asked: AskedCall, ask: Ask): readonly Drafted[] => {
    const { call, root, host } = asked;
    const approval = { call, ask: ask.id, at: Date.parse(ask.created_at) };
    const names = deps.argumentNames(call.tools, call.tool);
    const paths = candidatesOf([approval], { names, root, wordsOf: () => null, least: 1 }).map(
      ({ rule, directory }): Drafted => ({ kind: directory === null ? 'exact' : 'directory', rule, directory }),
    );
    const isTabled = (word: string): boolean => tableOf(baseName(word), host.commandTables) !== undefined;
    const plain = (kind: Drafted['kind']) => (rule: WrittenRule) => ({ kind, rule, directory: null });
    // A line of several commands is never allowed as a whole: each of them has to be.
    const reading = trial.read(call);
    const isLine = reading !== null && reading.form !== 'none' && reading.commands.filter(written).length > 1;
    return [
      ...paths.filter(({ kind }) => kind !== 'exact' || !isLine),
      ...hostRules(call).map(plain('host')),
      ...(asksByCommand(trial, asked)
        ? []
        : prefixRules(call, trial.commandsOf(call) ?? [], isTabled).map(plain('prefix'))),
    ];
  };

  return {
    /** @throws RuntimeError not_found, ambiguous_id, wrong_kind */
    async propose(ask: Ask): Promise<RuleProposals> {
      if (ask.kind !== 'permission') throw new RuntimeError('wrong_kind', 'a rule is about the call of a tool');
      const trial = await createJudge();
      const asked = deps.review.asked(ask, await deps.policyNow(ask.policy));
      const { loaded } = asked;
      const target = deps.targetOf(loaded);
      const report = { ...target, policy: loaded.identity };
      const barred = await barredBy(trial, ask, asked);
      if (barred !== null) return { ...report, looked_at: 0, candidates: [], none: barred };
      const { denied, recent } = await history(ask, loaded);
      const candidates: RuleCandidate[] = [];
      for (const drafted of drafts(trial, asked, ask)) {
        if (candidates.length === mostCandidates) break;
        if (!(await isWritable(drafted.rule))) continue;
        await trial.prime(inserted(loaded, drafted.rule, 0), asked.call, asked.host);
        const placed = tryRule({ trial, loaded, denied }, drafted, [asked]);
        if (placed === null) continue;
        const also = recent.filter(placed.allows);
        const { kind, rule } = drafted;
        const { index } = placed;
        candidates.push({
          kind,
          rule,
          index,
          sha256: sha256Of({ rule, index, ...target, policy: loaded.identity.sha256 }),
          also_allowed: also.length,
          also: also.slice(0, maxNamed).map(viewOf),
        });
      }
      const none = candidates.length > 0 ? null : 'none would let this call through and nothing that was denied before';
      return { ...report, looked_at: recent.length, candidates, none };
    },
  };
}

/** Whether a document may hold it, and a person read it. */
async function isWritable(rule: WrittenRule): Promise<boolean> {
  const text = JSON.stringify({ rules: [rule] });
  return text.length <= maxRuleText && (await parsePolicy(text)).policy !== null;
}

/** A command that stands in the line itself, not in the words of another. */
const written = ({ revealed }: FoundCommand): boolean => !revealed;

/** What a person has seen of a proposal: the rule, its place, and the file as it was. */
const sha256Of = (shown: unknown): string => createHash('sha256').update(canonicalJson(shown)).digest('hex');
