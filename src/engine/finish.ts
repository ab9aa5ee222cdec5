import { estimateTokens } from '../text/tokens.ts';
import type { History } from '../schema/message.ts';
import { boundFailure, failed, type Handled } from './failure.ts';
import { append, assistantMessage } from './messages.ts';
import type { Prepared } from './expand.ts';
import { prefaceTokens, withPreface } from './preface.ts';
import { historyValue } from './run-state.ts';
import { adopt, newMessage } from './run.ts';
import { hasImages, takeTurn } from './turn.ts';
import { fitRequest } from './window.ts';

/** A bound that grants a last report (02 §11). */
export type Bound = { readonly bound: string; readonly used: number; readonly limit: number };

const instruction =
  'The budget of this run is used up and no tools are available any more. Report now: what was asked, what was done, ' +
  'with files and results, and what is missing. Say plainly that the work is not finished if it is not.';

/**
 * The last model call of a run whose bound is used up: without tools, its text is the run's output. Fails with the
 * bound's own error when there is no report.
 */
export async function lastReport(step: Prepared, history: History, bound: Bound): Promise<Handled> {
  const { run, config } = step;
  adopt(run, step.at, historyValue(history), true);
  const spoken = history.messages.filter((message) => message.role !== 'system');
  const messages =
    spoken.length > 0 ? spoken : [newMessage(run, { role: 'user', content: 'Report on the state of the work.' })];
  const system = step.system === '' ? instruction : `${step.system}\n\n${instruction}`;
  const load = {
    messages,
    systemTokens: estimateTokens(system) + prefaceTokens(step),
    toolTokens: 0,
    maxTokens: config.maxTokens,
    shift: true,
  };
  const end = await takeTurn(step, {
    purpose: 'finish',
    models: config.models,
    providers: config.providers,
    tools: [],
    needsVision: hasImages(messages),
    tokenNeed: 0,
    system,
    settings: { think: config.think, ...(config.maxTokens === null ? {} : { max_tokens: config.maxTokens }) },
    retry: config.retry,
    streams: true,
    canShrink: true,
    fit: (route, shrink) => withPreface(step, fitRequest(step, load, route, shrink)),
  });
  if (end.kind === 'suspended' || end.kind === 'cancelled') return { kind: end.kind };
  if (end.kind !== 'reply') return failed(boundFailure(bound), historyValue(history));
  // Nothing may be called any more, so a call in the report would never be answered.
  const report = assistantMessage(run, { ...end.reply, calls: [] });
  const { messages: kept } = append(step, history, report);
  const output = historyValue({
    messages: kept,
    model: end.route.model,
    input_tokens: end.usage.input_tokens,
    output_tokens: end.usage.output_tokens,
    finish_reason: end.reason,
  });
  return { kind: 'done', output, evalText: 'executed', exhausted: true };
}
