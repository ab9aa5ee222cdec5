import type { Asks } from '../asks/asks.ts';
import type { AgentOffer } from '../gate/offer.ts';
import type { RunService } from '../runs/runs.ts';

export type AttentionInput = {
  /** The chain that config names; null or empty = nobody answers in the operator's place. */
  readonly chain: () => string | null;
  readonly asks: Asks;
  readonly runs: () => Pick<RunService, 'startAgent'>;
  readonly now: () => number;
};

/** Lets the answering chain look at asks (03 §7); it is loaded when a policy first lets it. */
export function attendWith({ chain, asks, runs, now }: AttentionInput): (offer: AgentOffer) => () => void {
  return (offer) => {
    if ((chain() || null) === null || !asks.agentsMayAnswer(offer.ask, offer.cap)) return () => {};
    let withdrawn = false;
    let end = (): void => {};
    import('../asks/adjudicate.ts').then(
      ({ adjudicate }) => {
        if (withdrawn) return;
        end = adjudicate({ asks, now }, { ...offer, start: (wanted) => runs().startAgent(offer.run_id, wanted) });
      },
      () => {
        // An installation that cannot load it has no agent: people answer.
      },
    );
    return () => {
      withdrawn = true;
      end();
    };
  };
}
