import type { Ask, Verdict } from '../schema/ask.ts';
import type { Asks } from './asks.ts';
import { type AgentAnswer, readAnswer, requestText } from './attention.ts';

/** One run of the answering chain to its end. */
export type AgentRun = {
  readonly chain_id: string;
  /** Resolves with its text, null when it did not complete, and the tokens that it used. */
  finished(): Promise<{ readonly text: string | null; readonly turns: number; readonly tokens: number }>;
  stop(): void;
};

export type Offer = {
  readonly ask: Ask;
  /** What the operator asked of the run, if that is a text. */
  readonly goal: string | null;
  /** Verdicts that agents may give in the mission. */
  readonly cap: number;
  /** Tokens that the asking run can still spend, at most those of one adjudication. */
  readonly tokens: number;
  /** Starts the chain without tools. Rejects when it cannot start. */
  start(input: { readonly text: string; readonly turns: number; readonly tokens: number }): Promise<AgentRun>;
  /** Charges the asking run (03 §7). */
  spent(tokens: number): void;
  /** Whether the policy is still the one that the ask was made under. Never rejects. */
  unchanged(): Promise<boolean>;
};

export type AdjudicateDeps = {
  readonly asks: Pick<Asks, 'adjudicate' | 'showAdjudicator'>;
  readonly now: () => number;
};

/** 03 §7: model calls and time of one adjudication. */
const maxTurns = 3;
const maxMs = 60_000;
const maxFeedback = 4_000;

/**
 * Lets the answering chain look at an ask that people can answer all the while: it can be faster than they are, never
 * stand in their way. Whatever fails leaves the ask as it was.
 * @returns ends it, when the ask is over or the run is
 */
export function adjudicate({ asks, now }: AdjudicateDeps, offer: Offer): () => void {
  const { ask } = offer;
  const show = ({ chain_id: chain }: AgentRun, state: 'looking' | 'waited'): void =>
    asks.showAdjudicator(ask, { chain, state, cap: offer.cap });
  let running: AgentRun | null = null;
  let ended = false;
  const end = (): void => {
    ended = true;
    clearTimeout(timer);
    running?.stop();
  };
  const timer = setTimeout(end, maxMs);
  timer.unref();
  void look()
    .then(() => {
      if (running !== null) show(running, 'waited');
    })
    .catch(() => {
      // A chain that is missing, untrusted or fails, a database that is busy: an agent that has nothing to say.
    })
    .finally(() => clearTimeout(timer));
  return end;

  async function look(): Promise<void> {
    let turns = maxTurns;
    let { tokens } = offer;
    let fault: string | null = null;
    for (let round = 0; round < 2; round += 1) {
      if (ended || turns <= 0 || tokens <= 0) return;
      running = await offer.start({ text: requestText(ask, offer.goal, fault), turns, tokens });
      if (ended) running.stop();
      else if (round === 0) show(running, 'looking');
      const result = await running.finished();
      offer.spent(result.tokens);
      if (ended || result.text === null) return;
      turns -= result.turns;
      tokens -= result.tokens;
      const read = readAnswer(result.text, ask);
      if (read.kind === 'wait') return;
      if (read.kind === 'answer') {
        if (await offer.unchanged()) give(read.answer, running.chain_id);
        return;
      }
      fault = read.fault;
    }
  }

  function give({ outcome, text, feedback }: AgentAnswer, chain: string): void {
    if (ended) return;
    const verdict: Verdict = {
      outcome,
      by: `agent:${chain}`,
      ...(text === undefined ? {} : { text: text.toWellFormed() }),
      ...(feedback === undefined || feedback === '' ? {} : { feedback: feedback.slice(0, maxFeedback).toWellFormed() }),
      at: new Date(now()).toISOString(),
      binding: ask.binding,
    };
    asks.adjudicate(ask, verdict, offer.cap);
  }
}
