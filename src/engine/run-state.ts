import type { Value } from '../chain/values.ts';
import type { History, Message } from '../schema/message.ts';
import type { CheckpointState, HistoryRanges } from '../schema/protocol.ts';
import type { Ledger } from './ledger.ts';
import { noRepetition, type Repetition } from './repetition.ts';

/** The context of the last chat turn, for the cap of tool results (04 §14.7). */
export type Window = { readonly limit: number; readonly reserve: number; readonly overhead: number };

/** Everything that a run must know to go on, in memory and, encoded, in its checkpoint (03 §11). */
export type RunState = {
  taskId: string;
  attempt: number;
  /** Variables of 04 §6.4 but `input` and `previous_output`. */
  variables: Readonly<Record<string, Value>>;
  input: Value;
  previous: Value;
  edgeCounts: Readonly<Record<string, number>>;
  moves: number;
  rounds: number;
  stepIndex: number;
  /** What this visit of the task has made of its history so far: repaired, compacted, or with some results. */
  working: History | null;
  /** The failed task and its message, when this task was entered through `on_failure`. */
  entered: { readonly task_id: string; readonly message: string } | null;
  /** The first error that went through `on_failure`, and where it went (04 §15.4). */
  root: { readonly message: string; readonly target: string } | null;
  /** Assistant message id -> the task that produced its calls, while they may be executed. */
  producers: Readonly<Record<string, string>>;
  /** Calls of this visit's `tools` task that certainly did not run. */
  callTries: number;
  /** The assistant message whose round is counted already. */
  roundOf: string | null;
  repetition: Repetition;
  /** Consecutive failures of compaction. */
  compactionFailures: number;
  /** Reported over estimated tokens, per model (08 §9.1). */
  ratios: Readonly<Record<string, number>>;
  /** Context asked for so far, per backend and model; it never shrinks. */
  numCtx: Readonly<Record<string, number>>;
  /** Context lengths that servers named when they refused a request as too long, per backend and model. */
  contexts: Readonly<Record<string, number>>;
  /** Tokens of all model calls of the run. */
  tokens: number;
  window: Window | null;
  textCallNoted: boolean;
};

export function newState(firstTask: string, input: Value): RunState {
  return {
    taskId: firstTask,
    attempt: 1,
    variables: {},
    input,
    previous: input,
    edgeCounts: {},
    moves: 0,
    rounds: 0,
    stepIndex: 0,
    working: null,
    entered: null,
    root: null,
    producers: {},
    callTries: 0,
    roundOf: null,
    repetition: noRepetition,
    compactionFailures: 0,
    ratios: {},
    numCtx: {},
    contexts: {},
    tokens: 0,
    window: null,
    textCallNoted: false,
  };
}

/** The history of a value, or null. */
export const historyOf = (value: Value): History | null =>
  // A value of type chat_history is made by readHistory or by a handler, both of which yield a History.
  value.type === 'chat_history' ? (value.value as History) : null;

export const historyValue = (history: History): Value => ({ type: 'chat_history', value: history });

/** A history as its ranges: what leaves the engine's thread instead of a copy. */
function historyRanges(history: History, ledger: Ledger): HistoryRanges {
  const { messages, ...rest } = history;
  return { $history: ledger.ranges(messages), ...rest };
}

/** The value as events and the run's end show it. */
export function shownValue(value: Value, ledger: Ledger): unknown {
  const history = historyOf(value);
  return history === null ? value.value : historyRanges(history, ledger);
}

type EncodedValue = HistoryRanges | Value;

function encodeValue(value: Value, ledger: Ledger): EncodedValue {
  const history = historyOf(value);
  return history === null ? value : historyRanges(history, ledger);
}

function decodeValue(encoded: EncodedValue, ledger: Ledger): Value {
  return '$history' in encoded ? historyValue(decodeHistory(encoded, ledger)) : encoded;
}

function decodeHistory(encoded: HistoryRanges, ledger: Ledger): History {
  const { $history, ...rest } = encoded;
  const messages: Message[] = ledger.read($history);
  return { ...rest, messages };
}

/** Position and small state; the messages are rows of their own (amendment 8). */
export function encodeState(state: RunState, ledger: Ledger): CheckpointState {
  const variables: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(state.variables)) variables[name] = encodeValue(value, ledger);
  const { taskId, attempt, input, previous, edgeCounts, moves, rounds, stepIndex, working, ...engine } = state;
  const { variables: _encoded, ...small } = engine;
  return {
    schema_version: 1,
    task_id: taskId,
    attempt,
    variables,
    previous: encodeValue(previous, ledger),
    edge_counts: edgeCounts,
    moves,
    rounds,
    next_message: ledger.next,
    step_index: stepIndex,
    engine: {
      ...small,
      input: encodeValue(input, ledger),
      working: working === null ? null : historyRanges(working, ledger),
    },
  };
}

/** The state that `encodeState` wrote. @throws RangeError when the messages it names are not there. */
export function decodeState(checkpoint: CheckpointState, ledger: Ledger): RunState {
  // Written by encodeState; main keeps it as it is and checks its digest before a resume (03 §11.3).
  const engine = checkpoint.engine as Omit<RunState, 'input' | 'working'> & {
    readonly input: EncodedValue;
    readonly working: HistoryRanges | null;
  };
  const variables: Record<string, Value> = {};
  for (const [name, value] of Object.entries(checkpoint.variables)) {
    variables[name] = decodeValue(value as EncodedValue, ledger);
  }
  const input = decodeValue(engine.input, ledger);
  return {
    ...newState(checkpoint.task_id, input),
    ...engine,
    input,
    taskId: checkpoint.task_id,
    attempt: checkpoint.attempt,
    variables,
    previous: decodeValue(checkpoint.previous as EncodedValue, ledger),
    edgeCounts: checkpoint.edge_counts,
    moves: checkpoint.moves,
    rounds: checkpoint.rounds,
    stepIndex: checkpoint.step_index,
    working: engine.working === null ? null : decodeHistory(engine.working, ledger),
  };
}
