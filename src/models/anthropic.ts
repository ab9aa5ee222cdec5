import type { Route } from '../schema/protocol.ts';
import { blocksOf, wireMessages, wireTools } from './anthropic-messages.ts';
import { createDecoder } from './anthropic-reply.ts';
import { conversation, systemText, toolLoop } from './history.ts';
import type { Model, ModelRequest } from './model.ts';
import { wireNames } from './names.ts';
import { anthropicBudget, anthropicEffort, canThink, thinkNotices } from './think.ts';
import {
  createWireModel,
  levelRefused,
  type Prepared,
  type Repair,
  temperatureRepair,
  type Wire,
  type WireDeps,
} from './wire-model.ts';

/** From Claude Opus 4.7 on a model takes no budget: it chooses its own, by an effort. */
const budgetRepair: Repair = { field: 'budget', named: /adaptive/i };
const effortRepair: Repair = { field: 'effort', named: /effort/i, told: levelRefused };
const thinkRepair: Repair = { field: 'think', named: /thinking|budget_tokens/i, told: levelRefused };

/** Sent when neither the task nor the model says how long a reply may be (08 §5.5.1). */
const defaultMaxTokens = 8192;

/** A model of the Anthropic Messages API (08 §5.5). */
export function createAnthropic(route: Route, deps: WireDeps): Promise<Model> {
  // The version is a header like a registered one, which may replace it.
  const versioned = { ...route, headers: { 'anthropic-version': '2023-06-01', ...route.headers } };
  const wire: Wire = {
    framing: 'sse',
    auth: (key) => ({ name: 'x-api-key', value: key }),
    loadingNote: null,
    prepare: (request, refused) => prepare(route, request, refused),
  };
  return createWireModel(versioned, wire, deps);
}

async function prepare(route: Route, request: ModelRequest, refused: (field: string) => boolean): Promise<Prepared> {
  const names = await wireNames(request.tools);
  const system = systemText(request);
  const messages = conversation(request.messages);
  const maxTokens = request.max_tokens ?? route.max_output ?? defaultMaxTokens;
  const loop = toolLoop(messages);
  const isWhole = loop.every((message) => message.role !== 'assistant' || blocksOf(message).length > 0);
  const thinking = refused('think') || !canThink(route) ? null : thinkingOf(request.think, maxTokens, isWhole, refused);
  const thinks = thinking !== null;
  // Some think unasked; what they thought goes back no less.
  const handsBack = thinks || (request.think === 'auto' && !refused('think'));
  const temperature = thinks || refused('temperature') ? undefined : request.temperature;
  return {
    path: '/v1/messages',
    body: {
      model: request.model,
      stream: true,
      max_tokens: maxTokens,
      ...(system === '' ? {} : { system }),
      messages: wireMessages(messages, new Set(handsBack ? loop : []), names),
      ...(request.tools.length === 0 ? {} : { tools: wireTools(request, names) }),
      ...(temperature === undefined ? {} : { temperature }),
      ...(request.top_p === undefined ? {} : { top_p: request.top_p }),
      ...(request.stop === undefined || request.stop.length === 0 ? {} : { stop_sequences: request.stop }),
      ...thinking?.fields,
    },
    notices: canThink(route) ? [] : thinkNotices(route, request.model, request.think),
    decoder: createDecoder(route, names),
    repairs: [...(thinking?.repairs ?? []), ...(temperature === undefined ? [] : [temperatureRepair])],
  };
}

type Thinking = { readonly fields: Readonly<Record<string, unknown>>; readonly repairs: readonly Repair[] };

/**
 * How a level is said; null where it is not.
 * @param isWhole whether all of the open loop holds its thinking: the service demands it with a budget, and a loop that
 *   another model began has none
 */
function thinkingOf(
  level: ModelRequest['think'],
  maxTokens: number,
  isWhole: boolean,
  refused: (field: string) => boolean,
): Thinking | null {
  if (level === 'auto' || level === 'off') return null;
  if (!refused('budget')) {
    const budget = anthropicBudget(level, maxTokens);
    if (budget === null || !isWhole) return null;
    return { fields: { thinking: { type: 'enabled', budget_tokens: budget } }, repairs: [budgetRepair, thinkRepair] };
  }
  const thinking = { type: 'adaptive', display: 'summarized' };
  if (refused('effort')) return { fields: { thinking }, repairs: [thinkRepair] };
  const fields = { thinking, output_config: { effort: anthropicEffort(level) } };
  return { fields, repairs: [effortRepair, thinkRepair] };
}
