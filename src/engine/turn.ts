import type { ModelFailure, ModelRequest } from '../models/model.ts';
import type { Task } from '../schema/chain.ts';
import { RuntimeError, shownClass } from '../schema/errors.ts';
import type { FinishReason, Message, ToolSpec, Usage } from '../schema/message.ts';
import type { Route, TurnAdmission, TurnRequest } from '../schema/protocol.ts';
import { type Failure, failure, type Stopped, stoppedBy } from './failure.ts';
import { type Reply, readStream, type StreamEnd } from './read-stream.ts';
import { classOf, type RetryPolicy, waitBefore } from './retry.ts';
import { emit, lasted, notice, type Step } from './step.ts';
import { account } from './usage.ts';
import { contextLength, type Fitted, learnContext, limitOf, routeKey } from './window.ts';

/** One model turn that a task wants. */
export type TurnPlan = {
  readonly purpose: TurnRequest['purpose'];
  readonly models: readonly string[];
  readonly providers: readonly string[];
  readonly tools: readonly ToolSpec[];
  readonly needsVision: boolean;
  /** 0 = the host need not check. */
  readonly tokenNeed: number;
  readonly system: string;
  readonly settings: Pick<ModelRequest, 'temperature' | 'max_tokens' | 'think'>;
  readonly retry: RetryPolicy;
  /** Whether text and reasoning go out while they arrive (04 §7.1.5, §7.5). */
  readonly streams: boolean;
  /** The messages for a route; `shrink` is below 1 after a provider refused the request as too long. */
  fit(route: Route, shrink: number): Fitted;
  /** Whether a request refused as too long is tried once more, smaller (04 §12). */
  readonly canShrink: boolean;
  /** Makes room before the first request, with a model call of its own (04 §13.4); `again` asks for admission anew. */
  makeRoom?(route: Route, shrink: number): Promise<'ready' | 'again' | Stopped | LastTurn>;
};

/** A bound that grants one last turn (02 §11). */
export type LastTurn = Extract<TurnAdmission, { kind: 'finish' }>;

export type TurnEnd =
  | {
      readonly kind: 'reply';
      readonly reply: Reply;
      readonly reason: FinishReason;
      readonly route: Route;
      readonly usage: Usage;
    }
  /** `received`: what had gone out before it broke. */
  | { readonly kind: 'failed'; readonly failure: Failure; readonly received: Reply | null }
  | LastTurn
  | { readonly kind: 'suspended' }
  | { readonly kind: 'cancelled'; readonly received: Reply | null };

/** A try at one route. */
type Tried =
  | { readonly kind: 'unsent'; readonly failure: Failure; readonly fitsAsCounted: boolean }
  | { readonly kind: 'finished'; readonly reply: Reply; readonly reason: FinishReason; readonly usage: Usage }
  | Extract<StreamEnd, { kind: 'broken' }>;

/** A request refused as too long is cut to this part of its budget (04 §12). */
export const shrunk = 0.75;

/**
 * One model call with admission, candidates, retries and usage (04 §12, 08 §9). Every failure is in the return value;
 * what the host refuses to answer rejects. On abort it returns at once with what had arrived.
 */
export async function takeTurn(step: Step, plan: TurnPlan): Promise<TurnEnd> {
  const { run, record } = step;
  const unavailable = new Set<string>();
  let { models } = plan;
  let failures = 0;
  let fallen = false;
  let shrink = 1;
  let lastFailure: Failure | null = null;
  for (;;) {
    const admission = await step.clock.outside(() => run.host.openTurn(requestFor(step, plan, models)));
    const admitted = run.deps.now();
    if (admission.kind === 'refused') {
      const { code, message } = admission.error;
      // Why another model was wanted at all is what needs to be mended first.
      const before = lastFailure === null ? '' : `; before that: ${lastFailure.message}`;
      return { kind: 'failed', failure: failure(code, message + before), received: null };
    }
    if (admission.kind !== 'go') return admission;
    if (admission.tools !== undefined) run.retool(admission.tools);
    const routes = admission.routes.filter((route) => !unavailable.has(routeKey(route)));
    const [first] = routes;
    if (first === undefined) {
      const none = failure('model_unavailable', `no candidate is left for ${models.join(', ')}`);
      return { kind: 'failed', failure: lastFailure ?? none, received: null };
    }
    if (plan.makeRoom !== undefined) {
      const room = await plan.makeRoom(first, shrink);
      if (room === 'again') continue;
      if (room !== 'ready') return room.kind === 'cancelled' ? { ...room, received: null } : room;
    }

    const { route, tried } = await tryCandidates(step, plan, routes, failures + 1, shrink, unavailable);
    if (tried.kind === 'unsent') {
      // Nothing can be left out, and what we know of the limit is not what the provider found: its own words stand.
      const unlearned = run.state.contexts[routeKey(route)] === undefined;
      const refusal = shrink < 1 && (unlearned || tried.fitsAsCounted) ? lastFailure : null;
      return { kind: 'failed', failure: refusal ?? tried.failure, received: null };
    }
    if (tried.kind === 'finished') {
      record.finishReason = tried.reason;
      return { ...tried, kind: 'reply', route };
    }

    const { error } = tried;
    const received = plan.streams && hasArrived(tried.received) ? tried.received : null;
    if (step.clock.expired) return { kind: 'failed', failure: timedOut(step, lastFailure), received };
    if (run.signal.aborted) return stoppedTurn(step, received);
    lastFailure = failureOf(error, route);
    const { code, retried } = classOf(error);
    if (error.context_tokens !== undefined) learnContext(run, route, error.context_tokens);
    if (code === 'capacity' && plan.canShrink && shrink === 1) {
      shrink = shrunk;
      continue;
    }
    failures += 1;
    const { fallbackModelId: fallback, fallbackAfter } = plan.retry;
    // What would end the same way each time leads to another model at once, or to none.
    const futile = error.futile === true;
    const isTime = failures === fallbackAfter || (futile && failures < fallbackAfter);
    const falls = fallback !== null && !fallen && isTime;
    if (speaks(received) || !retried || (futile && !falls) || failures >= plan.retry.maxAttempts) {
      const asked = retried ? (error.retry_after_ms ?? 0) : 0;
      const message = asked > 0 ? `${lastFailure.message}; ${laterIn(asked)}` : lastFailure.message;
      return { kind: 'failed', failure: failure(code, message), received };
    }
    const runLeft = (admission.time_left_ms ?? Number.POSITIVE_INFINITY) - (run.deps.now() - admitted);
    const left = Math.min(step.clock.leftMs(), runLeft);
    // What a server asks to wait is for the model that it refused, not for another.
    const asked = falls && fallback !== route.model ? { ...error, retry_after_ms: 0 } : error;
    const wait = waitBefore(plan.retry, failures, asked, run.deps.random(), left);
    // A wait that the run's limit would end helps nobody, and its end would not tell what the server had answered.
    if (wait.kind === 'too_long' || wait.ms >= runLeft) {
      const when =
        wait.kind === 'too_long'
          ? laterIn(wait.ms)
          : `the next attempt, in ${seconds(wait.ms)}, would be after the time limit (--timeout)`;
      const message = `${lastFailure.message}; ${when}`;
      return { kind: 'failed', failure: failure(code, message), received };
    }
    if (falls) {
      fallen = true;
      models = [fallback];
      unavailable.clear();
      const times = failures === 1 ? 'one failure' : `${failures} failures`;
      notice(step, 'fallback_model', `After ${times} the model is ${fallback}.`);
    }
    record.retries += 1;
    emit(step, {
      kind: 'model_retry',
      class: shownClass(code),
      message: lastFailure.message,
      wait_ms: wait.ms,
      next_attempt: failures + 1,
      model: models[0] ?? route.model,
    });
    await run.deps.sleep(wait.ms, step.clock.signal);
    if (step.clock.expired) return { kind: 'failed', failure: timedOut(step, lastFailure), received: null };
    if (run.signal.aborted) return stoppedTurn(step, null);
  }
}

function requestFor(step: Step, plan: TurnPlan, models: readonly string[]): TurnRequest {
  return {
    task_id: step.task.id,
    purpose: plan.purpose,
    models: [...models],
    providers: [...plan.providers],
    needs_tools: plan.tools.length > 0,
    needs_vision: plan.needsVision,
    token_need: plan.tokenNeed,
  };
}

/** Blanks say nothing: a reply of them alone is as empty as none, and is asked for again. */
const hasArrived = (reply: Reply): boolean =>
  reply.content.trim() !== '' || reply.thinking.trim() !== '' || reply.calls.length > 0;

/**
 * Whether something of an answer was shown. Reasoning is none: a model that reasons would never be asked again. Calls are
 * shown when they are whole.
 */
const speaks = (reply: Reply | null): boolean => reply !== null && reply.content.trim() !== '';

function stoppedTurn(step: Step, received: Reply | null): TurnEnd {
  const stopped = stoppedBy(step.run.signal);
  return stopped.kind === 'cancelled' ? { kind: 'cancelled', received } : stopped;
}

/** As it was written; a bare number counts nanoseconds. */
const limitText = (timeout: Task['timeout']): string =>
  typeof timeout === 'number' ? `${timeout}ns` : (timeout ?? '');

/**
 * The failure of an attempt whose `timeout` is over (04 §15.5); unlike the run's own, `on_failure` sees it.
 * @param before why the time went by, where a server had answered
 */
export const timedOut = (step: Step, before: Failure | null = null): Failure => ({
  code: 'timeout',
  message:
    `the time limit of the task (${limitText(step.task.timeout)}) is over` +
    (before === null ? '' : `; before that: ${before.message}`),
  final: false,
  retriable: true,
});

/** With what whoever runs the server is asked about it by, where it has said that (08 §9). */
function failureOf(error: ModelFailure, { model, backend }: Route): Failure {
  const request = error.request_id === undefined ? '' : `, request ${error.request_id}`;
  return failure(classOf(error).code, `${error.message} (model ${model}, backend ${backend}${request})`);
}

/** A server may name any number, such as one that stands for "never". */
const seconds = (ms: number): string => (ms > 366 * 86_400_000 ? 'more than a year' : `${Math.ceil(ms / 1000)} s`);
const laterIn = (ms: number): string => `a retry makes sense in ${seconds(ms)}.`;

/** The candidates in order: the next one at once for the classes of 08 §3.7, which costs no attempt. */
async function tryCandidates(
  step: Step,
  plan: TurnPlan,
  routes: readonly Route[],
  attempt: number,
  shrink: number,
  unavailable: Set<string>,
): Promise<{ readonly route: Route; readonly tried: Tried }> {
  const last = routes.length - 1;
  for (const [index, route] of routes.entries()) {
    const tried = await tryRoute(step, plan, route, attempt, shrink);
    if (tried.kind !== 'broken' || !classOf(tried.error).nextCandidate) return { route, tried };
    const { error } = tried;
    // A lost connection may be back at the next attempt; what a backend does not serve it will not serve then.
    if (error.class !== 'connect') unavailable.add(routeKey(route));
    const next = routes[index + 1];
    if (index === last || next === undefined) return { route, tried };
    const message = `${route.model} on ${route.backend} failed (${error.message}); going on with ${next.model} on ${next.backend}.`;
    notice(step, 'backend_fallback', message);
  }
  throw new RangeError('a turn without candidates');
}

async function tryRoute(step: Step, plan: TurnPlan, route: Route, attempt: number, shrink: number): Promise<Tried> {
  const { run, clock } = step;
  const fitted = plan.fit(route, shrink);
  if (fitted.kind === 'failed') return { ...fitted, kind: 'unsent' };
  select(step, route);
  const numCtx = contextLength(run, route, fitted.tokens, plan.settings.max_tokens ?? null);
  // Asked for now: the answer comes while the request is made ready. Repeats of one that a server did not take whole keep it.
  const place = run.host.openRequest({ backend: route.backend, type: route.type });
  place.catch(() => undefined);
  const request: ModelRequest = {
    model: route.model,
    system: plan.system,
    messages: fitted.messages,
    tools: plan.tools,
    ...plan.settings,
    ...(numCtx === null ? {} : { num_ctx: numCtx }),
    attempt,
    async leave() {
      await Promise.all([place, run.durable]);
    },
  };
  const startedAt = run.deps.now();
  let chunks = 0;
  const chunk = (body: { content: string } | { thinking: string }): void => {
    if (!plan.streams) return;
    emit(step, { kind: 'step_chunk', ...body, index: chunks });
    chunks += 1;
  };
  let end: StreamEnd;
  try {
    const model = await run.modelOf(route);
    end = await readStream(
      model.stream(request, clock.signal),
      {
        text: (content) => chunk({ content }),
        thinking: (thinking) => chunk({ thinking }),
        notice: (code, message) => {
          if (run.once(`${code} ${message}`)) notice(step, code, message);
        },
      },
      clock.signal,
    );
  } catch (error) {
    // An adapter that cannot be made (an optional package that is not installed) fails the call, not the run.
    if (!(error instanceof RuntimeError)) throw error;
    return { kind: 'unsent', failure: failure(error.code, error.message), fitsAsCounted: false };
  } finally {
    run.host.emit({ kind: 'request_over' });
  }
  end = refuseEmpty(end);
  const call = { route, estimated: fitted.tokens, chunks, apiMs: lasted({ run, startedAt }) };
  if (end.kind === 'finished') return { ...end, usage: account(step, call, end.reply, end.reason) };
  // An attempt counts once a reply or usage came (08 §9.3.5).
  if (end.received.usage !== null || hasArrived(end.received)) {
    account(step, call, end.received, end.error.class === 'cancelled' ? 'cancelled' : null);
  }
  return end;
}

/** Says which candidate is used, when it is another than before in this attempt. */
function select(step: Step, route: Route): void {
  const { run, record } = step;
  const before = record.route;
  record.route = route;
  if (before !== null && routeKey(before) === routeKey(route)) return;
  const limit = limitOf(run, route);
  emit(step, {
    kind: 'model_selected',
    provider: route.type,
    backend: route.backend,
    model: route.model,
    context_length: route.context,
    limit: limit === 0 ? null : limit,
  });
}

/** A reply with neither text nor calls is an error (04 §7.1.7). */
function refuseEmpty(end: StreamEnd): StreamEnd {
  if (end.kind === 'broken' || end.reply.content.trim() !== '' || end.reply.calls.length > 0) return end;
  const error: ModelFailure =
    end.reason === 'content_filter'
      ? { class: 'content_filter', message: 'the provider filtered the whole answer' }
      : end.reason === 'length'
        ? {
            class: 'empty_reply',
            message: 'the output limit was reached before any text; raise max_tokens',
            futile: true,
          }
        : { class: 'empty_reply', message: 'the model answered with neither text nor calls' };
  return { kind: 'broken', received: end.reply, error };
}

/** Whether a request carries images, so that only models with `vision` are candidates (08 §10). */
export const hasImages = (messages: readonly Message[]): boolean =>
  messages.some((message) => (message.images?.length ?? 0) > 0);
