import { shiftHistory } from '../chain/shift.ts';
import type { Message } from '../schema/message.ts';
import { ownMember } from '../text/own-member.ts';
import type { Route } from '../schema/protocol.ts';
import { type Failure, failure } from './failure.ts';
import { newMessage, type Run } from './run.ts';
import { shorten } from './shorten.ts';
import { emit, type Step } from './step.ts';
import { quote } from '../text/quote.ts';

/** Output that is left room for in `num_ctx` when `max_tokens` is unset (08 §9.1). */
const defaultOutputReserve = 2048;
const contextSizes = [8192, 16_384, 32_768, 65_536, 131_072, 262_144] as const;
/** Types whose server takes the context length with each request (08 §9.1). */
const sizedTypes: ReadonlySet<string> = new Set(['ollama', 'local']);

/** The context that a route can be given, in tokens; null = unknown. */
function contextOf(route: Route): number | null {
  if (!sizedTypes.has(route.type)) return route.context;
  const { fixed, cap } = route.num_ctx;
  return Math.min(fixed ?? cap, route.context ?? Number.POSITIVE_INFINITY);
}

/** The limit in force (04 §13.1): the smallest positive of chain, invocation and model; 0 = none is known. */
export function limitOf(run: Run, route: Route | null): number {
  const known = [
    run.chain.token_limit ?? 0,
    run.job.defaults.context,
    ...(route === null ? [] : [contextOf(route) ?? 0, run.state.contexts[routeKey(route)] ?? 0]),
  ];
  const positive = known.filter((limit) => limit > 0);
  return positive.length === 0 ? 0 : Math.min(...positive);
}

/** A model as one backend serves it. */
export const routeKey = ({ backend, model }: Route): string => `${backend}/${model}`;

/** Learns from a refusal: the context length that the server named. */
export function learnContext(run: Run, route: Route, tokens: number): void {
  run.state.contexts = { ...run.state.contexts, [routeKey(route)]: tokens };
}

/** Tokens kept free for the answer (04 §13.3). */
export const reserveOf = (limit: number, maxTokens: number | null): number => maxTokens ?? Math.floor(limit / 8);

/** Reported over estimated tokens of a model so far (08 §9.1). */
export const ratioOf = (run: Run, model: string): number => ownMember(run.state.ratios, model) ?? 1;

/** Learns from a reply: reported input tokens against our estimate of them. */
export function learnRatio(run: Run, model: string, reported: number, estimated: number): void {
  if (reported <= 0 || estimated <= 0) return;
  const ratio = Math.min(3, Math.max(0.5, reported / estimated));
  run.state.ratios = { ...run.state.ratios, [model]: ratio };
}

/** No text is cut below this many bytes (04 §14.7). */
const leastResultBytes = 2048;

/** What a request must fit: its messages, and what else counts. Tokens here are plain estimates. */
export type Load = {
  readonly messages: readonly Message[];
  /** System instruction with the preface, and offered tools. */
  readonly systemTokens: number;
  /** Of the preface alone. */
  readonly prefaceTokens?: number;
  readonly toolTokens: number;
  readonly maxTokens: number | null;
  readonly shift: boolean;
  /** The provider refused these very messages as too long, so what is known of its context is too much. */
  readonly refused?: boolean;
};

export type Fitted =
  | { readonly kind: 'fits'; readonly messages: readonly Message[]; readonly tokens: number }
  /** `fitsAsCounted`: our own numbers would let it through, so only who refused it can say by how much it is too long. */
  | { readonly kind: 'failed'; readonly failure: Failure; readonly fitsAsCounted: boolean };

/**
 * Keeps a request inside the context of a route (04 §13.3): as it is, shifted, or refused with the numbers. Affects
 * the request only.
 * @param shrink 1, or the part of the budget that is left after a provider refused the request as too long
 */
export function fitRequest(step: Step, load: Load, route: Route, shrink: number): Fitted {
  const { run } = step;
  const limit = limitOf(run, route);
  const overhead = load.systemTokens + load.toolTokens;
  const tokens = run.ledger.tokens(load.messages);
  if (limit === 0 && shrink === 1) return { kind: 'fits', messages: load.messages, tokens: tokens + overhead };

  const reserve = reserveOf(limit, load.maxTokens);
  const ratio = ratioOf(run, route.model);
  const whole = limit === 0 ? tokens : Math.floor((limit - reserve) / ratio) - overhead;
  const budget = Math.floor((load.refused === true ? Math.min(whole, tokens) : whole) * shrink);
  if (tokens <= budget) return { kind: 'fits', messages: load.messages, tokens: tokens + overhead };
  const overflow = { load, tokens, ratio, limit, reserve, raise: whatRaises(run, route, limit) };
  const fitsAsCounted = tokens <= whole;
  if (!load.shift) return { kind: 'failed', failure: tooLong(overflow), fitsAsCounted };

  const shifted = shiftHistory(load.messages, budget, {
    gap: (text) => newMessage(run, { role: 'user', content: text }),
    shorten,
  });
  if (shifted.kind === 'too_large') return { kind: 'failed', failure: tooLong(overflow), fitsAsCounted };
  if (shifted.kind === 'shifted') {
    emit(step, {
      kind: 'context_shifted',
      dropped_messages: shifted.dropped_messages,
      kept_messages: shifted.kept_messages,
      before_tokens: shifted.before_tokens,
      after_tokens: shifted.after_tokens,
    });
  }
  return { kind: 'fits', messages: shifted.messages, tokens: run.ledger.tokens(shifted.messages) + overhead };
}

/** Tokens that one message may have beside `overhead` tokens in a route's context; Infinity when no limit is known. */
export function roomFor(run: Run, route: Route, overhead: number, maxTokens: number | null): number {
  const limit = limitOf(run, route);
  if (limit === 0) return Number.POSITIVE_INFINITY;
  return Math.max(0, (limit - reserveOf(limit, maxTokens)) / ratioOf(run, route.model) - overhead - messageFrame);
}

/** What a message costs beside its text (04 §13.2). */
const messageFrame = 4;

type Overflow = {
  readonly load: Load;
  /** Estimated tokens of the messages. */
  readonly tokens: number;
  readonly ratio: number;
  readonly limit: number;
  readonly reserve: number;
  readonly raise: string;
};

/** Which of the limits is the smallest, in the words that change it. */
function whatRaises({ chain, job, state }: Run, route: Route, limit: number): string {
  if (job.defaults.context === limit) return 'a larger --context';
  if (chain.token_limit === limit) return 'token_limit of the chain';
  if (state.contexts[routeKey(route)] === limit) return 'take a model with more context';
  return `reins model set-context ${quote(route.model)} --context <n>`;
}

/** The numbers, and what raises the limit that was the smallest (04 §13.3.1, 08 §9.1). */
function tooLong({ load, tokens, ratio, limit, reserve, raise }: Overflow): Failure {
  const ahead = load.prefaceTokens ?? 0;
  const preface = ahead === 0 ? '' : ` preface ${Math.ceil(ahead * ratio)},`;
  const total = Math.ceil((tokens + load.systemTokens + load.toolTokens) * ratio);
  return failure(
    'capacity',
    `the request needs about ${total} tokens and the limit is ${limit}, of which ${reserve} are kept for the answer ` +
      `(messages ${Math.ceil(tokens * ratio)},${preface} tools ${Math.ceil(load.toolTokens * ratio)}); ` +
      `${whatFits(load, limit)}, or raise the limit: ${raise}`,
  );
}

/** What else helps: no history is short enough beside a part that takes more than half of the limit. */
function whatFits(load: Load, limit: number): string {
  const { shift, maxTokens, prefaceTokens = 0, toolTokens, systemTokens } = load;
  const parts: readonly (readonly [tokens: number, advice: string])[] = [
    [maxTokens ?? 0, 'lower max_tokens of the task'],
    [prefaceTokens, 'shorten the preface (that of the shipped chains is AGENTS.md of the workspace)'],
    [toolTokens, 'offer fewer tools (tools and hide_tools of the task)'],
    [systemTokens - prefaceTokens, 'shorten the system_instruction'],
  ];
  const [tokens, advice] = parts.reduce((most, part) => (part[0] > most[0] ? part : most));
  if (tokens > limit / 2) return advice;
  return shift ? 'shorten the input' : 'set shift or compact_policy on the task, shorten the input';
}

/**
 * The context length to ask an `ollama` or `local` server for (08 §9.1), null for other types. It never shrinks within
 * a run, so that the server does not load the model again.
 */
export function contextLength(run: Run, route: Route, tokens: number, maxTokens: number | null): number | null {
  if (!sizedTypes.has(route.type)) return null;
  const allowed = contextOf(route) ?? route.num_ctx.cap;
  if (route.num_ctx.fixed !== null) return allowed;
  const need = Math.ceil(tokens * ratioOf(run, route.model)) + (maxTokens ?? defaultOutputReserve);
  const rounded = contextSizes.find((size) => size >= need) ?? need;
  const key = routeKey(route);
  const chosen = Math.min(Math.max(rounded, run.state.numCtx[key] ?? 0), allowed);
  run.state.numCtx = { ...run.state.numCtx, [key]: chosen };
  return chosen;
}

/** Cap of the next tool result in bytes, from the window of the last chat turn (04 §14.7). */
export function resultCap(run: Run, messages: readonly Message[]): number {
  const configured = run.job.defaults.max_tool_result_bytes;
  const { window } = run.state;
  if (window === null || window.limit === 0) return configured;
  const free = window.limit - window.overhead - run.ledger.tokens(messages) - window.reserve;
  return Math.min(configured, Math.max(Math.floor(free * 3), leastResultBytes));
}
