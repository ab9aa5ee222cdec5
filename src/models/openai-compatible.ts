import type { ProviderType } from '../schema/registry.ts';
import type { Route } from '../schema/protocol.ts';
import { bearer } from './connection.ts';
import { systemText } from './history.ts';
import type { Model, ModelRequest } from './model.ts';
import { functionTools, wireNames } from './names.ts';
import { createHistoryWriter, isSilent } from './openai-messages.ts';
import { createReplyDecoder } from './openai-reply.ts';
import { interfaceOf, toResponses, toResponsesAlone } from './openai-route.ts';
import { canThink, isReasoningName, reasoningEffort, samplingNotices, thinkNotices, wantsThinking } from './think.ts';
import {
  createWireModel,
  levelRefused,
  type Prepared,
  type Repair,
  streamRepair,
  temperatureRepair,
  type Wire,
  type WireDeps,
} from './wire-model.ts';

type Dialect = {
  readonly maxTokens: 'max_tokens' | 'max_completion_tokens';
  /** How a level is said: an effort word for reasoning models, or a switch of the chat template. */
  readonly think: 'effort' | 'template';
  /** Reasoning models of this service refuse `temperature` and `top_p`. */
  readonly fixedSampling: boolean;
  /** How a server says that a model is to be asked over the other interface. */
  readonly toResponses: Repair;
  /** Fields that a server of this type may not know (08 §5.3). */
  readonly repairs: readonly Repair[];
};

const compatibilityRepairs: readonly Repair[] = [
  { field: 'stream_options', named: /stream_options/ },
  { field: 'max_tokens', named: /max_tokens|max_completion_tokens/ },
  { field: 'seed', named: /\bseed\b/ },
];
const effortRepair: Repair = { field: 'think', named: /reasoning_effort|reasoning\.effort/, told: levelRefused };
const templateRepair: Repair = { field: 'think', named: /chat_template_kwargs|enable_thinking/, told: levelRefused };

/** Reasoning models of OpenAI take none. */
const stopRepair: Repair = {
  field: 'stop',
  named: /'stop'|\(stop\)/,
  told: { code: 'parameter_ignored', what: 'stop' },
};

/** What a server of any of these types may turn out to want of a request that others take (decision 143). */
const formRepairs: readonly Repair[] = [
  {
    field: 'tools_effort',
    named: /tools with reasoning_effort/i,
    told: { code: 'think_unsupported', what: 'reasoning together with tools' },
  },
  temperatureRepair,
  streamRepair,
  { field: 'short_ids', named: /tool.?call.?id|tool_calls\[\d+\]\.id/i, at500: true },
  {
    field: 'null_content',
    named: /(?<!\w)content\b.{0,80}(valid string|a string|null|none)|null, expected a string|nonetype/i,
    at500: true,
  },
  { field: 'descriptions', named: /function\.description/ },
  { field: 'reasoning', named: /reasoning_content/ },
  { field: 'alternate', named: /roles? must alternate|unexpected role|expected last role/i, at500: true },
  { field: 'without_system', named: /roles? must alternate|system role|only user.{0,30}roles/i, at500: true },
];

const dialects = {
  openai: {
    maxTokens: 'max_completion_tokens',
    think: 'effort',
    fixedSampling: true,
    toResponses,
    repairs: [stopRepair],
  },
  vllm: {
    maxTokens: 'max_tokens',
    think: 'template',
    fixedSampling: false,
    toResponses: toResponsesAlone,
    repairs: compatibilityRepairs,
  },
  'openai-compatible': {
    maxTokens: 'max_tokens',
    think: 'effort',
    fixedSampling: false,
    toResponses: toResponsesAlone,
    repairs: compatibilityRepairs,
  },
} as const satisfies Partial<Record<ProviderType, Dialect>>;

/** A model of type `openai`, `vllm` or `openai-compatible` (08 §5.2, §5.3). */
export async function createOpenAiCompatible(route: Route, deps: WireDeps): Promise<Model> {
  const dialect: Dialect = Object.hasOwn(dialects, route.type)
    ? // True: the line above looked the name up in the table.
      dialects[route.type as keyof typeof dialects]
    : dialects['openai-compatible'];
  const write = createHistoryWriter(route);
  let responses: ReturnType<typeof import('./openai-responses.ts').createResponses> | null = null;
  const wire: Wire = {
    framing: 'sse',
    auth: bearer,
    loadingNote: null,
    async prepare(request, refused) {
      if (interfaceOf(route, request, refused) === 'chat') return prepare({ route, dialect, write }, request, refused);
      responses ??= import('./openai-responses.ts').then((loaded) => loaded.createResponses(route));
      return (await responses)(request, refused);
    },
  };
  return createWireModel(route, wire, deps);
}

type Service = {
  readonly route: Route;
  readonly dialect: Dialect;
  readonly write: ReturnType<typeof createHistoryWriter>;
};

async function prepare(
  { route, dialect, write }: Service,
  request: ModelRequest,
  refused: (field: string) => boolean,
): Promise<Prepared> {
  const names = await wireNames(request.tools);
  const notices: { code: string; message: string }[] = [];
  const reasoning = isReasoningName(request.model);
  const sampling = !(dialect.fixedSampling && reasoning);
  if (!sampling) notices.push(...samplingNotices(request));
  const think = refused('think')
    ? {}
    : refused('tools_effort') && request.tools.length > 0
      ? { reasoning_effort: 'none' }
      : thinkFields(route, dialect, request, reasoning);
  if (Object.keys(think).length === 0 && !refused('think') && !takesLevel(route, dialect, reasoning)) {
    notices.push(...thinkNotices(route, request.model, request.think));
  }
  const limit = refused('max_tokens') ? otherSpelling(dialect.maxTokens) : dialect.maxTokens;
  const temperature = sampling && !refused('temperature') ? request.temperature : undefined;
  const streams = !refused('stream');
  const body = {
    model: request.model,
    stream: streams,
    ...(refused('stream_options') || !streams ? {} : { stream_options: { include_usage: true } }),
    messages: await write(request, names, {
      alternate: refused('alternate'),
      withoutSystem: refused('without_system'),
      shortIds: refused('short_ids'),
      reasoning: refused('reasoning'),
      noNull: refused('null_content'),
    }),
    ...(request.tools.length === 0 ? {} : { tools: functionTools(request, names, refused('descriptions')) }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(request.top_p === undefined || !sampling ? {} : { top_p: request.top_p }),
    ...(request.seed === undefined || refused('seed') ? {} : { seed: request.seed }),
    ...(request.max_tokens === undefined ? {} : { [limit]: request.max_tokens }),
    ...(request.stop === undefined || request.stop.length === 0 || refused('stop') ? {} : { stop: request.stop }),
    ...think,
  };
  const { messages } = request;
  const sent: Readonly<Record<string, boolean>> = {
    chat: !refused('responses') && !refused('responses_model'),
    stop: 'stop' in body,
    stream: streams,
    stream_options: 'stream_options' in body,
    max_tokens: request.max_tokens !== undefined,
    seed: 'seed' in body,
    think: Object.keys(think).length > 0,
    tools_effort: dialect.think === 'effort' && request.tools.length > 0,
    temperature: temperature !== undefined,
    short_ids: messages.some((message) => message.role === 'tool'),
    null_content: messages.some(isSilent),
    descriptions: request.tools.length > 0,
    reasoning: messages.some((message) => message.role === 'assistant'),
    alternate: true,
    without_system: systemText(request) !== '',
  };
  const thinkRepair = dialect.think === 'template' ? templateRepair : effortRepair;
  return {
    path: '/chat/completions',
    body,
    notices,
    decoder: createReplyDecoder(route, names),
    repairs: [dialect.toResponses, ...formRepairs, ...dialect.repairs, thinkRepair].filter(
      (repair) => sent[repair.field] === true,
    ),
  };
}

const otherSpelling = (name: Dialect['maxTokens']): Dialect['maxTokens'] =>
  name === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';

/** Nothing is known of the reasoning of a vLLM model; a template without the switch ignores it (08 §8). */
const takesLevel = (route: Route, dialect: Dialect, reasoning: boolean): boolean =>
  dialect.think === 'template' || reasoning || canThink(route);

function thinkFields(
  route: Route,
  dialect: Dialect,
  request: ModelRequest,
  reasoning: boolean,
): Readonly<Record<string, unknown>> {
  if (request.think === 'auto' || !takesLevel(route, dialect, reasoning)) return {};
  if (dialect.think === 'template') return { chat_template_kwargs: { enable_thinking: wantsThinking(request.think) } };
  const effort = reasoningEffort(request.model, request.think);
  return effort === null ? {} : { reasoning_effort: effort };
}
