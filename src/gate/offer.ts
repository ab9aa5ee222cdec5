import { agentCap } from '../policy/attention.ts';
import { searchesDirectories } from '../policy/search.ts';
import type { Ask } from '../schema/ask.ts';
import { shareOf } from './bounds.ts';
import type { LedgerDeps } from './entries.ts';
import { reservedCall } from './recall.ts';
import type { AskedCall, Judged } from './stages.ts';

/** An ask that an agent may look at, and what it may spend on it (03 §7). */
export type AgentOffer = {
  readonly run_id: string;
  readonly ask: Ask;
  /** What the operator asked of the run, if that is a text. */
  readonly goal: string | null;
  /** Verdicts that agents may give in the mission. */
  readonly cap: number;
  readonly tokens: number;
  /** Charges the asking run. */
  spent(tokens: number): void;
  /** Whether the policy is still the one that the ask was made under. Never rejects. */
  unchanged(): Promise<boolean>;
};

export type OfferDeps = Pick<LedgerDeps, 'asks' | 'feed' | 'runs'> & {
  /** Lets the answering chain look at it, if the operator has named one. Never throws. @returns ends that */
  readonly attend: (offer: AgentOffer) => () => void;
};

/** 03 §7: tokens of one adjudication. */
const maxTokens = 20_000;
const nobody = (): void => {};

/**
 * Offers an ask that has been written down to the agent that may answer in the operator's place: only where the policy
 * of the run lets it, nothing of the runtime's own reserves the call for people, and somebody else may still answer.
 * @returns withdraws the offer
 */
export function offerToAgent(deps: OfferDeps, { run, planned }: AskedCall, judged: Judged): () => void {
  const { policy, identity } = run.policy();
  const ask = deps.asks.show(planned.ask_id);
  const cap = agentCap(policy.attention, ask.kind);
  const waits = run.onAsk === 'ask' || run.onAsk === 'wait';
  if (cap === null || !waits || reservedCall(run, judged) !== null) return nobody;
  // Unlike one that a rule grants, an approved search leaves nothing out: it reads what agents may not let be read.
  const { site, cwd } = judged.prepared;
  if (searchesDirectories(site.command, run.host(cwd))) return nobody;
  // Once for each ask (03 §7.1): a run that was resumed does not ask again what was left to people.
  const { adjudicator } = ask.preview;
  if (adjudicator !== undefined) {
    // Whoever looked ended with the process of then.
    if (adjudicator.state === 'looking') deps.asks.showAdjudicator(ask, { ...adjudicator, state: 'waited' });
    return nobody;
  }
  const limit = shareOf(policy.compute, run.tighten, 'maxTokens');
  return deps.attend({
    run_id: run.ref.run_id,
    ask,
    goal: run.goal,
    cap,
    tokens: limit === 0 ? maxTokens : Math.min(maxTokens, limit - run.counters.tokens),
    spent(tokens) {
      run.counters = { ...run.counters, tokens: run.counters.tokens + tokens };
      deps.feed.commit('normal', () => deps.runs.setCounters(run.ref.run_id, run.counters));
    },
    async unchanged() {
      await run.refresh();
      return run.policy().identity.sha256 === identity.sha256;
    },
  });
}
