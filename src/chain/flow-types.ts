import type { Handler } from '../schema/chain.ts';
import { composedName } from './compose.ts';
import type { Edge, FlowGraph, FlowTask } from './edges.ts';
import type { BranchDraft } from './vet-branches.ts';

/** Sets of data types as bits: what can reach a task is a union over all paths. */
const types = { string: 1, bool: 2, int: 4, float: 8, json: 16, chat_history: 32, nil: 64 } as const;
const anyType = 127;
const promptTypes = anyType & ~types.nil;

/** What a handler takes (04 §7). */
export const accepted: Readonly<Record<Handler, number>> = {
  chat_completion: types.chat_history | types.string,
  execute_tool_calls: types.chat_history,
  tools: anyType,
  route: types.string | types.int | types.chat_history,
  prompt_to_string: promptTypes,
  prompt_to_int: promptTypes,
  prompt_to_float: promptTypes,
  prompt_to_range: promptTypes,
  prompt_to_condition: promptTypes,
  noop: anyType,
  raise_error: promptTypes,
};

export const typeNames = (set: number): string =>
  Object.entries(types)
    .filter(([, bit]) => (set & bit) !== 0)
    .map(([name]) => name)
    .join(', ');

/** What it yields for an input of some types. */
function yielded(task: FlowTask, input: number): number {
  switch (task.handler) {
    case null:
      return anyType;
    case 'chat_completion':
    case 'execute_tool_calls':
      return types.chat_history;
    case 'tools':
      return task.hasOutputTemplate ? types.string : anyType;
    case 'route':
      return input & accepted.route;
    case 'prompt_to_string':
    case 'prompt_to_range':
      return types.string;
    case 'prompt_to_int':
      return types.int;
    case 'prompt_to_float':
      return types.float;
    case 'prompt_to_condition':
      return types.bool;
    case 'noop':
      return input;
    case 'raise_error':
      return 0;
  }
}

/** Names as bits of one number: sets are joined for each way between hundreds of tasks. */
type Names = bigint;

/** What holds when a task begins, over all paths to it. Of variables only those count that some task takes as its input. */
export type Entry = {
  /** Types of the previous output. */
  types: number;
  /** Variables that some path has set. */
  may: Names;
  /** Variables that every path has set; null before the first path is known. */
  must: Names | null;
};

/** The bit of each variable that a task takes as its input. */
export type VariableBits = ReadonlyMap<string, Names>;

function wantedBits(tasks: readonly FlowTask[]): VariableBits {
  const names = new Set(tasks.flatMap(({ inputVar }) => (inputVar === null ? [] : [inputVar])));
  return new Map([...names].map((name, index) => [name, 1n << BigInt(index)]));
}

/**
 * What reaches each task, over all paths: a task is looked at again when its entry or a variable that it reads has
 * changed, until nothing changes. Sets only grow (`must` only shrinks), so it ends.
 */
export function settleTypes(
  tasks: readonly FlowTask[],
  graph: FlowGraph,
): { entries: readonly Entry[]; variables: ReadonlyMap<string, number>; bits: VariableBits } {
  const bits = wantedBits(tasks);
  const ways = tasks.map((task, index) => waysOf(task, graph.from[index] ?? [], bits));
  const readers = readersOf(tasks);
  const entries = tasks.map((_, index): Entry => {
    const first = index === 0;
    return { types: first ? anyType : 0, may: 0n, must: first ? 0n : null };
  });
  const variables = new Map<string, number>([
    ['input', anyType],
    ['vars', types.json],
  ]);
  // A set hands its members out in order, and takes a new one behind them.
  const waiting = new Set(tasks.length === 0 ? [] : [0]);
  for (const index of waiting) {
    waiting.delete(index);
    const source = entries[index];
    const task = tasks[index];
    if (source === undefined || task === undefined || source.must === null) continue;
    for (const way of ways[index] ?? []) {
      const moved = move(task, way, source, variables);
      const target = entries[way.to];
      if (target !== undefined && enter(target, moved.types, source, way.sets)) waiting.add(way.to);
      for (const [name, set] of moved.set) {
        const before = variables.get(name) ?? 0;
        if ((before | set) === before) continue;
        variables.set(name, before | set);
        for (const reader of readers.get(name) ?? []) waiting.add(reader);
      }
    }
  }
  return { entries, variables, bits };
}

/** The tasks whose input or composition a variable can be. */
function readersOf(tasks: readonly FlowTask[]): ReadonlyMap<string, ReadonlySet<number>> {
  const readers = new Map<string, Set<number>>();
  tasks.forEach(({ inputVar, branches }, index) => {
    for (const name of [inputVar, ...branches.map(({ compose }) => compose?.with_var ?? null)]) {
      if (name !== null) readers.set(name, (readers.get(name) ?? new Set()).add(index));
    }
  });
  return readers;
}

/** What moves between two tasks come to; those that come to the same are one. */
type Way = {
  readonly to: number;
  /** Null for a failure. */
  readonly branch: BranchDraft | null;
  /** The variable of the composed result; null where nothing is composed. */
  readonly composedAs: string | null;
  /** The wanted variables that it sets. */
  readonly sets: Names;
};

function waysOf(task: FlowTask, edges: readonly Edge[], bits: VariableBits): readonly Way[] {
  const id = task.id ?? '';
  const ways = new Map<string, Way>();
  for (const { to, branch } of edges) {
    const compose = branch?.compose ?? null;
    const when = branch === null || branch.when === null ? {} : { when: branch.when };
    const composedAs = compose === null ? null : composedName(id, { operator: branch?.operator ?? 'default', ...when });
    const kind =
      branch === null ? ['failure'] : compose === null ? [] : [composedAs, compose.with_var, compose.strategy];
    const key = JSON.stringify([to, ...kind]);
    if (ways.has(key)) continue;
    const names =
      branch === null ? [id, 'last_error', `${id}_error`] : [id, ...(composedAs === null ? [] : [composedAs])];
    ways.set(key, { to, branch, composedAs, sets: names.reduce((all, name) => all | (bits.get(name) ?? 0n), 0n) });
  }
  return [...ways.values()];
}

type Moved = {
  /** Types of the previous output behind the way. */
  readonly types: number;
  /** Variables that this move has set, with their types. */
  readonly set: readonly (readonly [string, number])[];
};

function move(
  task: FlowTask,
  { branch, composedAs }: Way,
  source: Entry,
  variables: ReadonlyMap<string, number>,
): Moved {
  const input = inputTypes(task, source, variables);
  const output = yielded(task, input);
  const id = task.id ?? '';
  if (branch === null) {
    const left = output | input;
    return {
      types: left,
      set: [
        [id, left],
        ['last_error', types.string],
        [`${id}_error`, types.string],
      ],
    };
  }
  if (branch.compose === null || branch.compose === undefined || composedAs === null) {
    return { types: output, set: [[id, output]] };
  }
  const { strategy, with_var } = branch.compose;
  const other = variables.get(with_var) ?? anyType;
  const merges = strategy === 'merge_chat_histories' || strategy === 'append_string_to_chat_history';
  const free = strategy === undefined ? types.chat_history : 0;
  const joined = merges ? types.chat_history : output | other | types.json | free;
  return {
    types: joined,
    set: [
      [id, output],
      [composedAs, joined],
    ],
  };
}

/** Types of what a task is given: its template's text, its variable, or the previous output. */
export function inputTypes(task: FlowTask, entry: Entry, variables: ReadonlyMap<string, number>): number {
  if (task.templated) return types.string;
  if (task.inputVar === null || task.inputVar === 'previous_output') return entry.types;
  return variables.get(task.inputVar) ?? 0;
}

/** Adds one path to what is known at its target; true when that changed something. */
function enter(target: Entry, moved: number, source: Entry, sets: Names): boolean {
  const { types: typesBefore, may, must } = target;
  const sure = (source.must ?? 0n) | sets;
  target.types |= moved;
  target.may |= source.may | sets;
  target.must = must === null ? sure : must & sure;
  return target.types !== typesBefore || target.may !== may || target.must !== must;
}
