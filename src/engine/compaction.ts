import { cutBefore } from '../chain/history.ts';
import { frameSummary, summaryInstruction as instruction } from '../chain/summary-frame.ts';
import { estimateTokens } from '../text/tokens.ts';
import { transcriptWithin } from '../chain/transcript.ts';
import type { History, Message } from '../schema/message.ts';
import type { Route } from '../schema/protocol.ts';
import type { Prepared } from './expand.ts';
import type { Stopped } from './failure.ts';
import { newMessage, recordMessage } from './run.ts';
import { emit } from './step.ts';
import { type LastTurn, shrunk, takeTurn, type TurnEnd } from './turn.ts';
import { fitRequest, limitOf, ratioOf, roomFor } from './window.ts';

export type Compacted =
  | { readonly kind: 'compacted'; readonly history: History }
  /** Nothing to do, or, with its fault, the summariser failed: the run goes on with what it has. */
  | { readonly kind: 'unchanged'; readonly fault?: string }
  | LastTurn
  | Stopped;

/**
 * Replaces the older part of a working history by a summary, when it has outgrown its share of the context (04 §13.4).
 * A failure never fails the task. The stored session keeps the original messages.
 * @param overhead tokens of the system instruction and the tools
 * @param forced a provider refused the request as too long: the share does not matter
 */
export async function compact(
  step: Prepared,
  history: History,
  route: Route,
  overhead: number,
  forced: boolean,
): Promise<Compacted> {
  const { run, config } = step;
  const policy = config.compact;
  const limit = limitOf(run, route);
  if (policy === null || limit === 0) return { kind: 'unchanged' };
  const failures = run.state.compactionFailures;
  if (failures >= (policy.max_failures ?? 3)) {
    return { kind: 'unchanged', fault: `it is off for this run after ${failures} failures` };
  }
  const before = run.ledger.tokens(history.messages);
  const used = (before + overhead) * ratioOf(run, route.model);
  if (!forced && used < limit * (policy.trigger_fraction ?? 0.85)) return { kind: 'unchanged' };

  const { messages } = history;
  const cut = cutBefore(messages, policy.keep_recent ?? 10);
  const lead = messages.findIndex((message) => message.role !== 'system');
  const replaced = lead < 0 ? [] : messages.slice(lead, cut);
  if (replaced.length < Math.max(1, policy.min_replaced_messages ?? 4)) return { kind: 'unchanged' };

  const models = policy.model === undefined || policy.model.trim() === '' ? config.models : [policy.model];
  const providers =
    policy.provider === undefined || policy.provider.trim() === '' ? config.providers : [policy.provider];
  const systemTokens = estimateTokens(instruction);
  const end = await takeTurn(step, {
    purpose: 'compaction',
    models,
    providers,
    tools: [],
    needsVision: false,
    tokenNeed: 0,
    system: instruction,
    settings: { temperature: 0.2, think: 'auto' },
    retry: config.retry,
    streams: false,
    canShrink: false,
    fit(candidate, shrink) {
      const known = roomFor(run, candidate, systemTokens, null) * shrink;
      // A context that refused all of it takes no summary of all of it either.
      const room = forced ? Math.min(known, before * shrunk) : known;
      const prompt = newMessage(run, { role: 'user', content: story(replaced, room) });
      const load = { messages: [prompt], systemTokens, toolTokens: 0, maxTokens: null, shift: false };
      return fitRequest(step, load, candidate, shrink);
    },
  });
  if (end.kind === 'suspended' || end.kind === 'cancelled') return { kind: end.kind };
  if (end.kind === 'finish') return end;
  const summed = end.kind === 'reply' ? summaryOf(end) : { text: null, fault: end.failure.message };
  const summary = summed.text === null ? null : newMessage(run, { role: 'user', content: frameSummary(summed.text) });
  // What is no shorter makes no room, and the messages themselves say more.
  const isShorter = summary !== null && run.ledger.tokens([summary]) < run.ledger.tokens(replaced);
  if (summary === null || !isShorter) {
    const fault = summed.fault ?? 'the summary is no shorter than what it would replace';
    run.state.compactionFailures += 1;
    run.changed();
    emit(step, {
      kind: 'compaction',
      ok: false,
      replaced_messages: 0,
      before_tokens: before,
      after_tokens: before,
      error: fault,
    });
    return { kind: 'unchanged', fault };
  }

  run.state.compactionFailures = 0;
  recordMessage(run, step.at, summary, true);
  const compacted = { ...history, messages: [...messages.slice(0, lead), summary, ...messages.slice(cut)] };
  emit(step, {
    kind: 'compaction',
    ok: true,
    replaced_messages: replaced.length,
    before_tokens: before,
    after_tokens: run.ledger.tokens(compacted.messages),
  });
  return { kind: 'compacted', history: compacted };
}

type Summed = { readonly text: string; readonly fault?: undefined } | { readonly text: null; readonly fault: string };

/**
 * The text that can stand for what it replaces. A model that calls a tool has not summed anything up, and neither has one
 * that refused to; a summary that the output limit cut says so to whoever goes on from it.
 */
function summaryOf({ reply, reason }: Extract<TurnEnd, { kind: 'reply' }>): Summed {
  if (reply.calls.length > 0) return { text: null, fault: 'the model called a tool where a summary was asked for' };
  if (reason === 'content_filter') return { text: null, fault: "the provider's filter ended the summary" };
  return { text: reason === 'length' ? `${reply.content.trimEnd()}\n${cutLine}` : reply.content };
}

const cutLine = '[cut: the output limit ended this summary]';

/**
 * What is summarised, within `room` tokens: all of it if it fits, else the first message, which holds the goal or the
 * summary so far, and as many of the newest as fit.
 */
function story(messages: readonly Message[], room: number): string {
  const whole = transcriptWithin(messages, Number.POSITIVE_INFINITY);
  if (estimateTokens(whole) <= room) return whole;
  const first = transcriptWithin(messages.slice(0, 1), room / 4);
  return `${first}\n\n[…]\n\n${transcriptWithin(messages.slice(1), room - estimateTokens(first) - gapTokens)}`;
}

/** Tokens of the line that marks the gap. */
const gapTokens = 4;
