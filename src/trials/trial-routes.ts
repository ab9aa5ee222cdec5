import { RuntimeError } from '../schema/errors.ts';
import type { LoadedPolicy } from '../schema/policy.ts';
import type { PolicyComparison, PolicyExplanation } from '../schema/policy-views.ts';
import { policyOfText } from '../workspace/policies.ts';
import { type CompareDeps, createComparison } from './compare.ts';
import { createExplain, type ExplainDeps } from './explain.ts';
import { createReplay, type ReplayDeps } from './replay.ts';
import { createSuggest, type SuggestDeps } from './suggest.ts';
import { createPolicyTests, type TestDeps } from './test-files.ts';

export type TrialRouteDeps = CompareDeps &
  ExplainDeps &
  ReplayDeps &
  SuggestDeps &
  TestDeps & {
    /** A document of the overlay by its file name. @throws RuntimeError not_found, not_trusted */
    readonly openFile: (file: string) => Promise<LoadedPolicy>;
    /** Whole id of a run. @throws RuntimeError not_found, ambiguous_id */
    readonly runId: (part: string) => string;
    /** Name or path of the policy of the server; null = the configured one. */
    readonly policy: string | null;
  };

/** A document of the overlay, or a text. */
type Either = { readonly file?: string | undefined; readonly text?: string | undefined };

const day = 86_400_000;
const standardSince = 30 * day;
const standardLimit = 1000;

/** Trials of policies that are sent as a text or named by their file (09 §6.7). Nothing is executed, nobody is asked. */
export function createTrialRoutes(deps: TrialRouteDeps) {
  /** @param param the member of the body that holds it; null = the body itself does */
  const open = async ({ file, text }: Either, param: string | null): Promise<LoadedPolicy> => {
    if ((file === undefined) === (text === undefined)) {
      throw new RuntimeError('invalid_parameter', 'Give either file or text.', {
        data: { param: param ?? (file === undefined ? 'text' : 'file') },
      });
    }
    return text === undefined ? deps.openFile(file ?? '') : policyOfText(text, param ?? 'text');
  };
  /** The same machine, for policies that were opened already. */
  const over = <D extends CompareDeps>(policies: Readonly<Record<string, LoadedPolicy>>, among: D): D => ({
    ...among,
    openPolicy: async ({ name }) => {
      const found = policies[name ?? ''];
      if (found === undefined) throw new TypeError('no such policy was opened');
      return { current: () => found, warnings: [] };
    },
  });

  return {
    async explainPolicy({
      tools,
      tool,
      args,
      cwd,
      ...either
    }: Either & {
      readonly tools: string;
      readonly tool: string;
      readonly args: Readonly<Record<string, unknown>>;
      readonly cwd?: string | undefined;
    }): Promise<PolicyExplanation> {
      const policy = await open(either, null);
      return createExplain(over({ it: policy }, deps)).explainCall({
        call: { tools, tool, args },
        ask: null,
        as_asked: false,
        cwd: cwd ?? null,
        policy: 'it',
        trust: [],
        allowed_dir: null,
      });
    },

    async replayPolicy({
      since,
      run,
      limit,
      ...either
    }: Either & {
      readonly since?: number | undefined;
      readonly run?: string | undefined;
      readonly limit?: number | undefined;
    }) {
      const policy = await open(either, null);
      const report = await createReplay(over({ it: policy }, deps)).replayCalls({
        policy: 'it',
        trust: [],
        since: since ?? deps.now() - standardSince,
        session: null,
        tools: null,
        run_id: run === undefined ? undefined : deps.runId(run),
        limit: limit ?? standardLimit,
      });
      // What was widened is what a person has to see first.
      const changes = [...report.changes].sort((one, other) => (one.change < other.change ? 1 : -1));
      return {
        evaluated: report.checked,
        widened: report.widened,
        narrowed: report.tightened,
        not_comparable: report.not_comparable,
        changed: changes.map((call) => ({
          call_id: call.call_id,
          run_id: call.run_id,
          before: call.was,
          after: call.now,
          rule: call.rule,
          call,
        })),
      };
    },

    async testPolicy({ cases, ...either }: Either & { readonly cases: readonly unknown[] }) {
      const policy = await open(either, null);
      const results = await createPolicyTests(over({ it: policy }, deps)).testCases(cases, 'it');
      const passed = results.filter(({ ok }) => ok).length;
      return { passed, failed: results.length - passed, results };
    },

    async diffPolicies({ a, b }: { readonly a: Either; readonly b: Either }): Promise<PolicyComparison> {
      const both = { a: await open(a, 'a'), b: await open(b, 'b') };
      return createComparison(over(both, deps)).comparePolicies({ a: 'a', b: 'b', trust: [] });
    },

    async suggestPolicy({
      since,
      min_count,
    }: {
      readonly since?: number | undefined;
      readonly min_count?: number | undefined;
    }) {
      const { suggestions } = await createSuggest(deps).suggestRules({
        policy: deps.policy,
        trust: [],
        since: since ?? deps.now() - standardSince,
      });
      return {
        suggestions: suggestions
          .filter(({ approvals }) => approvals >= (min_count ?? 1))
          .map(({ rule, index, approvals, answers, also_allowed, also }) => ({
            rule,
            position: index,
            approvals,
            would_have_answered: answers,
            also_allowed,
            examples: also,
          })),
      };
    },
  };
}
