import { runChain } from '../../src/engine/run-chain.ts';
import type { RunHost } from '../../src/engine/host.ts';
import type { Model, ModelPart, ModelRequest } from '../../src/models/model.ts';
import type { Chain } from '../../src/schema/chain.ts';
import type { EngineEvent } from '../../src/schema/event.ts';
import type { Message, ToolSpec } from '../../src/schema/message.ts';
import type {
  CallRequest,
  CheckpointState,
  Route,
  RunEnd,
  RunJob,
  ToolOutcome,
  TurnAdmission,
  TurnRequest,
} from '../../src/schema/protocol.ts';
import { withinTime } from '../../workers/within-time.ts';
import { type VirtualClock, virtualClock } from './virtual-clock.ts';

/** One reply of the model in a test: its parts, or a function that makes them of the request and its signal. */
export type Script = readonly ModelPart[] | ((request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelPart>);

export const route: Route = {
  backend: 'b1',
  type: 'openai',
  base_url: 'http://127.0.0.1:1',
  key: null,
  headers: {},
  proxy: null,
  timeouts: { connect_ms: 1000, first_byte_ms: 1000, idle_ms: 1000 },
  model: 'm1',
  context: null,
  max_output: null,
  capabilities: { tools: true },
  num_ctx: { fixed: null, cap: 32_768 },
  keep_alive: '5m',
  workspace: '/work',
};

export const says = (text: string): ModelPart[] => [
  { kind: 'text', text },
  { kind: 'finish', reason: 'stop' },
];

type Call = { readonly id?: string; readonly name: string; readonly args?: unknown };

/** A reply that asks for calls; `args` text is sent as it is. */
export const calls = (...wanted: readonly Call[]): ModelPart[] => [
  ...wanted.map(
    (call, index): ModelPart => ({
      kind: 'tool_call',
      index,
      ...(call.id === undefined ? {} : { id: call.id }),
      name: call.name,
      arguments_delta: typeof call.args === 'string' ? call.args : JSON.stringify(call.args ?? {}),
    }),
  ),
  { kind: 'finish', reason: 'tool_calls' },
];

export const fails = (
  error: Omit<Extract<ModelPart, { kind: 'error' }>['error'], 'message'> & { message?: string },
): ModelPart[] => [{ kind: 'error', error: { message: 'no luck', ...error } }];

export const tool = (tools: string, name: string, readOnly = false): ToolSpec => ({
  tools,
  tool: name,
  description: `${name} of ${tools}`,
  input_schema: { type: 'object', properties: {} },
  read_only: readOnly,
});

export const fileTools = [tool('local_fs', 'read_file', true), tool('local_fs', 'write_file')];

export const ok = (content: string): ToolOutcome => ({ kind: 'result', ok: true, content });

export type Setup = {
  readonly chain: Omit<Chain, 'id'> & { readonly id?: string };
  readonly script?: readonly Script[];
  readonly job?: Partial<Omit<RunJob, 'defaults'>> & { readonly defaults?: Partial<RunJob['defaults']> };
  readonly openTurn?: (request: TurnRequest, index: number) => TurnAdmission | Promise<TurnAdmission>;
  readonly callTool?: (call: CallRequest, index: number) => ToolOutcome | Promise<ToolOutcome>;
  readonly onCheckpoint?: (state: CheckpointState, index: number) => void;
  readonly clock?: VirtualClock;
  readonly signal?: AbortSignal;
  readonly random?: () => number;
};

export type Played = {
  readonly end: RunEnd;
  readonly events: readonly EngineEvent[];
  /** Events and requests in the order in which they reached the host, by their short names. */
  readonly log: readonly string[];
  readonly requests: readonly ModelRequest[];
  readonly turns: readonly TurnRequest[];
  readonly calls: readonly CallRequest[];
  readonly checkpoints: readonly CheckpointState[];
  /** New messages in order, as the host would store them. */
  readonly messages: readonly Message[];
  readonly closed: number;
  readonly waits: readonly number[];
};

/**
 * Runs a chain in this thread against a host that records everything. The model plays `script`, one entry per call; the
 * clock is virtual. Ids are `m1`, `m2`, … and `call_1`, `call_2`, ….
 */
export async function play(setup: Setup): Promise<Played> {
  const clock = setup.clock ?? virtualClock();
  const events: EngineEvent[] = [];
  const log: string[] = [];
  const requests: ModelRequest[] = [];
  const turns: TurnRequest[] = [];
  const made: CallRequest[] = [];
  const checkpoints: CheckpointState[] = [];
  const messages: Message[] = [];
  const signal = setup.signal ?? new AbortController().signal;
  let closed = 0;
  let ids = 0;

  const host: RunHost = {
    emit(event) {
      events.push(event);
      log.push(event.kind);
      if (event.kind === 'message') messages.push(event.message);
    },
    async openTurn(request) {
      turns.push(request);
      log.push(`openTurn ${request.purpose}`);
      signal.throwIfAborted();
      return setup.openTurn?.(request, turns.length - 1) ?? { kind: 'go', routes: [route] };
    },
    async openRequest() {
      signal.throwIfAborted();
    },
    async callTool(call) {
      made.push(call);
      log.push(`callTool ${call.name}`);
      signal.throwIfAborted();
      return setup.callTool?.(call, made.length - 1) ?? ok('done');
    },
    async checkpoint({ state }) {
      log.push('checkpoint');
      signal.throwIfAborted();
      // Across the port it is a copy.
      checkpoints.push(structuredClone(state));
      setup.onCheckpoint?.(state, checkpoints.length - 1);
    },
  };

  let turn = 0;
  const model: Model = {
    async *stream(request, callSignal) {
      requests.push(request);
      const reply = setup.script?.[turn];
      turn += 1;
      if (reply === undefined) throw new Error(`the script has no reply ${turn}`);
      if (typeof reply === 'function') yield* reply(request, callSignal);
      else yield* reply;
    },
    close: () => {
      closed += 1;
    },
  };

  const { defaults, ...job } = setup.job ?? {};
  const end = await runChain(
    {
      run_id: 'run_1',
      session_id: null,
      chain_text: JSON.stringify({ id: 'c', ...setup.chain }),
      chain_id: setup.chain.id ?? 'c',
      variables: {},
      base_messages: '[]',
      input: { type: 'string', value: 'hello' },
      resume: null,
      tools: fileTools,
      host: { os: 'linux', arch: 'amd64', timezone: 'UTC' },
      ...job,
      defaults: {
        model: 'm1',
        provider: '',
        think: 'auto',
        context: 0,
        max_rounds: 200,
        max_tool_result_bytes: 65_536,
        tool_parallelism: 8,
        ...defaults,
      },
    },
    host,
    {
      createModel: async () => model,
      now: clock.now,
      newId: (kind) => {
        ids += 1;
        return kind === 'call' ? `call_${ids}` : `m${ids}`;
      },
      sleep: clock.sleep,
      within: withinTime,
      random: setup.random ?? (() => 0),
    },
    signal,
  );
  await Promise.resolve();
  return { end, events, log, requests, turns, calls: made, checkpoints, messages, closed, waits: clock.waits };
}

/** The content of every new message, with its role. */
export const spoken = (played: Played): string[] =>
  played.messages.map((message) => `${message.role}: ${message.content}`);

export const ofKind = <K extends EngineEvent['kind']>(played: Played, kind: K): Extract<EngineEvent, { kind: K }>[] =>
  played.events.filter((event): event is Extract<EngineEvent, { kind: K }> => event.kind === kind);

/** A two-task agent loop: model, tools, model. */
export const agent = (chat: Partial<Chain['tasks'][number]> = {}): Pick<Chain, 'tasks'> => ({
  tasks: [
    {
      id: 'chat',
      handler: 'chat_completion',
      execute_config: { tools: ['*'] },
      transition: {
        branches: [
          { operator: 'equals', when: 'executed', goto: 'end' },
          { operator: 'default', goto: 'tools' },
        ],
      },
      ...chat,
    },
    {
      id: 'tools',
      handler: 'execute_tool_calls',
      input_var: 'chat',
      transition: { branches: [{ operator: 'default', goto: 'chat' }] },
    },
  ],
});
