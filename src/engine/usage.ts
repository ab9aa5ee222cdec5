import { estimateTokens } from '../text/tokens.ts';
import { addUsage, type FinishReason, type Usage } from '../schema/message.ts';
import type { Route } from '../schema/protocol.ts';
import type { Reply } from './read-stream.ts';
import { emit, type Step } from './step.ts';
import { learnRatio, limitOf, ratioOf } from './window.ts';

/** A model call that was accepted. */
export type AcceptedCall = {
  readonly route: Route;
  /** Estimated tokens of the request, uncorrected. */
  readonly estimated: number;
  /** Deltas that went out. */
  readonly chunks: number;
  readonly apiMs: number;
};

/**
 * Reports the tokens of an accepted call, counts them for the run and learns from them (08 §9.1, §9.5). What the
 * provider does not report is estimated, also for a stream that was cut.
 */
export function account(
  step: Step,
  call: AcceptedCall,
  reply: Reply,
  reason: FinishReason | 'cancelled' | null,
): Usage {
  const { run, record } = step;
  const { route } = call;
  const reported = reply.usage !== null && reply.usage.total_tokens > 0 ? reply.usage : null;
  if (reported !== null) learnRatio(run, route.model, reported.input_tokens, call.estimated);
  const usage = reported ?? estimateUsage(reply, Math.ceil(call.estimated * ratioOf(run, route.model)));
  const limit = limitOf(run, route);
  run.state.tokens += usage.total_tokens;
  record.usage = record.usage === null ? usage : addUsage(record.usage, usage);
  emit(step, { kind: 'step_stream_end', chunk_count: call.chunks, finish_reason: reason, usage });
  run.host.emit({ kind: 'turn_usage', usage, api_ms: call.apiMs });
  emit(step, {
    kind: 'token_usage',
    prompt: usage.input_tokens,
    completion: usage.output_tokens,
    total: usage.total_tokens,
    estimated: usage.estimated,
    run_total: run.state.tokens,
    limit: limit === 0 ? null : limit,
  });
  return usage;
}

function estimateUsage(reply: Reply, inputTokens: number): Usage {
  const reasoning = estimateTokens(reply.thinking);
  let output = estimateTokens(reply.content) + reasoning;
  for (const call of reply.calls) output += estimateTokens(call.name) + estimateTokens(call.arguments);
  return {
    input_tokens: inputTokens,
    output_tokens: output,
    reasoning_tokens: reasoning,
    cached_input_tokens: 0,
    total_tokens: inputTokens + output,
    estimated: true,
  };
}
