import { isAllowed, isHidden } from '../chain/allowlist.ts';
import type { Fresh } from '../chain/read-history.ts';
import { narrow, type Value } from '../chain/values.ts';
import type { Model } from '../models/model.ts';
import type { Chain, Task } from '../schema/chain.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { EngineEvent } from '../schema/event.ts';
import type { History, Message, ToolSpec } from '../schema/message.ts';
import type { CheckpointRequest, Route, RunJob } from '../schema/protocol.ts';
import type { RunHost } from './host.ts';
import { createLedger, type Ledger } from './ledger.ts';
import type { EngineDeps } from './deps.ts';
import { decodeState, encodeState, historyOf, historyValue, newState, type RunState } from './run-state.ts';

/** The members that every event inside a task carries. */
export type At = { readonly task_id: string; readonly task_handler: string; readonly attempt: number };

/** One execution of a chain in memory: what stays the same, and the state that a checkpoint stores. */
export type Run = {
  readonly job: RunJob;
  readonly chain: Chain;
  readonly tasks: ReadonlyMap<string, Task>;
  readonly host: RunHost;
  readonly deps: EngineDeps;
  readonly signal: AbortSignal;
  readonly ledger: Ledger;
  readonly state: RunState;
  readonly fresh: Fresh;
  /** The history that was repaired last: every call in it has its result. */
  orderly: History;
  /** The adapter of a route, made once and kept for the run. @throws RuntimeError of the adapter's making */
  modelOf(route: Route): Promise<Model>;
  /** All tools of the run, as it was last told of them. */
  readonly tools: readonly ToolSpec[];
  /** The tools are others from now on. */
  retool(tools: readonly ToolSpec[]): void;
  /** Tools that an allowlist and a hide list leave, sorted by `<provider>.<tool>` (04 §7.1.3). */
  offered(allow: readonly string[] | null, hide: readonly string[]): readonly ToolSpec[];
  /** Notes that the stored state is no longer the present one. */
  changed(): void;
  /** Makes the present state durable; nothing is sent when it is already. Ahead of a model it does not wait: see `durable`. */
  checkpoint(aheadOf: CheckpointRequest['ahead_of']): Promise<void>;
  /** Resolves when the last checkpoint ahead of a model is on the disk. */
  readonly durable: Promise<void>;
  /** True once per key and run, for things that are said once. */
  once(key: string): boolean;
  /** The message that a task has sent ahead of its history; one object for one text, so that it is encoded once. Null for none. */
  preface(text: string): Message | null;
  /** Closes the connections of the run. */
  close(): void;
};

/**
 * Reads a job. @throws RuntimeError `chain_invalid` for a chain without tasks, `task_error` for an input that is none;
 * SyntaxError and RangeError for texts that main did not write.
 */
export function openRun(job: RunJob, host: RunHost, deps: EngineDeps, signal: AbortSignal): Run {
  // Main vetted and normalised this text before it started the run (04 §2.5).
  const chain = JSON.parse(job.chain_text) as Chain;
  // Main wrote both texts from its own rows, message by message checked when they came in.
  const base = JSON.parse(job.base_messages) as Message[];
  const own = job.resume === null ? [] : (JSON.parse(job.resume.messages) as Message[]);
  const first = chain.tasks[0];
  if (first === undefined) throw new RuntimeError('chain_invalid', `chain ${job.chain_id} has no tasks.`);
  const ledger = createLedger(base, own);
  const fresh: Fresh = {
    messageId: () => deps.newId('message'),
    callId: () => deps.newId('call'),
    get timestamp() {
      return timestamp(deps);
    },
  };
  const state =
    job.resume === null ? newState(first.id, inputOf(job, ledger, fresh)) : decodeState(job.resume.state, ledger);
  const models = createModels(deps);
  const said = new Set<string>();
  let stored = job.resume !== null;
  let durable = Promise.resolve();
  let tools: readonly ToolSpec[] = job.tools;
  let offered = createOffers(tools);
  let preface: Message | null = null;
  return {
    job,
    chain,
    tasks: new Map(chain.tasks.map((task) => [task.id, task])),
    host,
    deps,
    signal,
    ledger,
    state,
    fresh,
    orderly: { messages: [] },
    modelOf: models.of,
    get tools() {
      return tools;
    },
    retool(changed) {
      tools = changed;
      offered = createOffers(tools);
    },
    offered: (allow, hide) => offered(allow, hide),
    changed: () => {
      stored = false;
    },
    async checkpoint(aheadOf) {
      if (stored) return;
      stored = true;
      const written = host.checkpoint({ state: encodeState(state, ledger), ahead_of: aheadOf });
      if (aheadOf !== 'model') return written;
      durable = written;
      // Heard by who sends a request, if anybody does.
      durable.catch(() => {});
    },
    get durable() {
      return durable;
    },
    once(key) {
      if (said.has(key)) return false;
      said.add(key);
      return true;
    },
    preface(text) {
      if (text === '') return null;
      if (preface?.content !== text) preface = { id: 'preface', role: 'user', content: text, timestamp: '' };
      return preface;
    },
    close: models.close,
  };
}

export const timestamp = (deps: Pick<EngineDeps, 'now'>): string => new Date(deps.now()).toISOString();

/** A message of this run, with a fresh id. */
export const newMessage = (run: Run, body: Omit<Message, 'id' | 'timestamp'>): Message => ({
  id: run.deps.newId('message'),
  timestamp: timestamp(run.deps),
  ...body,
});

/** Where the run stands, for events outside an attempt. */
export const positionOf = (run: Run): At => ({
  task_id: run.state.taskId,
  task_handler: run.tasks.get(run.state.taskId)?.handler ?? '',
  attempt: run.state.attempt,
});

/** Numbers a message and reports it. `working`: part of the working history only. */
export function recordMessage(run: Run, at: At, message: Message, working = false): void {
  const number = run.ledger.add(message);
  const event: EngineEvent = { kind: 'message', ...at, number, message };
  run.host.emit(working ? { ...event, working: true } : event);
  run.changed();
}

/** Numbers and reports every message that the run does not know yet; a message is reported once. */
export function adopt(run: Run, at: At, value: Value, working = false): void {
  const history = historyOf(value);
  if (history === null) return;
  for (const message of run.ledger.unknown(history.messages)) recordMessage(run, at, message, working);
}

/** The chain input (04 §6.2): text of type `chat` is a history of one user message. */
function inputOf(job: RunJob, ledger: Ledger, fresh: Fresh): Value {
  const { type, value } = job.input;
  if (type === 'chat_history' && value === undefined) return historyValue(ledger.base);
  if (type === 'chat' && typeof value === 'string') {
    const message: Message = { id: fresh.messageId(), role: 'user', content: value, timestamp: fresh.timestamp };
    return historyValue({ messages: [message] });
  }
  if (type === 'float' && typeof value === 'number') return { type: 'float', value };
  return narrow(value, fresh);
}

function createModels(deps: EngineDeps): { of: Run['modelOf']; close(): void } {
  const open = new Map<string, Promise<Model>>();
  return {
    of(route) {
      const key = JSON.stringify(route);
      const known = open.get(key);
      if (known !== undefined) return known;
      const model = deps.createModel(route);
      open.set(key, model);
      // A route whose adapter could not be made is tried anew the next time.
      model.catch(() => open.delete(key));
      return model;
    },
    close() {
      for (const model of open.values()) {
        model.then(
          (made) => made.close(),
          () => {},
        );
      }
      open.clear();
    },
  };
}

function createOffers(tools: readonly ToolSpec[]): Run['offered'] {
  const known = new Map<string, readonly ToolSpec[]>();
  const nameOf = (tool: ToolSpec): string => `${tool.tools}.${tool.tool}`;
  const sorted = [...tools].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  return (allow, hide) => {
    const key = JSON.stringify([allow, hide]);
    const before = known.get(key);
    if (before !== undefined) return before;
    const offered = sorted.filter(
      ({ tools: provider, tool }) => isAllowed(allow, provider, tool) && !isHidden(hide, provider, tool),
    );
    known.set(key, offered);
    return offered;
  };
}
