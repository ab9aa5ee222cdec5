import type { Handler } from '../schema/chain.ts';
import { composedName } from './compose.ts';
import type { Edge, FlowGraph, FlowTask } from './edges.ts';
import { placeOf, type Findings } from './findings.ts';

/** Sets of data types as bits: what can reach a task is a union over all paths. */
const types = { string: 1, bool: 2, int: 4, float: 8, json: 16, chat_history: 32, nil: 64 } as const;
const anyType = 127;
const promptTypes = anyType & ~types.nil;

/** What a handler takes (04 §7). */
const accepted: Readonly<Record<Handler, number>> = {
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

/** What holds when a task begins, over all paths to it. */
type Entry = {
  /** Types of the previous output. */
  types: number;
  /** Variables that some path has set. */
  may: Set<string>;
  /** Variables that every path has set; null before the first path is known. */
  must: Set<string> | null;
};

/**
 * Data-flow analysis over all edges (04 §16): types that reach a task, variables that are set before it.
 * @param names every name that can hold a value in this chain
 */
export function analyseFlow(
  tasks: readonly FlowTask[],
  graph: FlowGraph,
  names: ReadonlySet<string>,
  findings: Findings,
): void {
  const { entries, variables } = settle(tasks, graph);
  tasks.forEach((task, index) => {
    const entry = entries[index];
    if (!graph.reachable.has(index) || entry === undefined) {
      if (!graph.uncertain) findings.warning('unreachable_task', placeOf(task.node), 'no path leads to this task');
      return;
    }
    checkInputVar(task, entry, names, graph, findings);
    const input = inputTypes(task, entry, variables);
    if (task.handler === null || input === 0 || (input & accepted[task.handler]) !== 0) return;
    const message = `the handler ${task.handler} takes ${namesOf(accepted[task.handler])}, but only ${namesOf(input)} can reach it`;
    findings.error('input_type_mismatch', placeOf(task.inputNode ?? task.node), message);
  });
}

const namesOf = (set: number): string =>
  Object.entries(types)
    .filter(([, bit]) => (set & bit) !== 0)
    .map(([name]) => name)
    .join(', ');

/** Names whose value does not depend on the path. */
const always: ReadonlySet<string> = new Set(['input', 'previous_output', 'vars']);

function checkInputVar(
  task: FlowTask,
  entry: Entry,
  settable: ReadonlySet<string>,
  graph: FlowGraph,
  findings: Findings,
): void {
  const { inputVar: name, inputNode: node } = task;
  if (name === null || node === null || always.has(name)) return;
  if (!entry.may.has(name)) {
    // A name that nothing in this chain sets was reported as `input_var_unknown`.
    if (settable.has(name)) {
      findings.error('input_var_not_ready', placeOf(node), `${name} is not set on any path to this task`);
    }
  } else if (entry.must?.has(name) !== true && !graph.uncertain) {
    findings.warning('input_var_maybe', placeOf(node), `${name} is set on some paths to this task only`);
  }
}

/** Goes round until nothing changes. Sets only grow (`must` only shrinks), so it ends. */
function settle(
  tasks: readonly FlowTask[],
  graph: FlowGraph,
): { entries: readonly Entry[]; variables: ReadonlyMap<string, number> } {
  const wanted = new Set(tasks.flatMap(({ inputVar }) => (inputVar === null ? [] : [inputVar])));
  const entries = tasks.map((_, index): Entry => {
    const first = index === 0;
    return { types: first ? anyType : 0, may: new Set(), must: first ? new Set() : null };
  });
  const variables = new Map<string, number>([
    ['input', anyType],
    ['vars', types.json],
  ]);
  let changed = true;
  while (changed) {
    changed = false;
    for (const edge of graph.edges) {
      if (!graph.reachable.has(edge.from)) continue;
      const source = entries[edge.from];
      const target = entries[edge.to];
      const task = tasks[edge.from];
      if (source === undefined || target === undefined || task === undefined || source.must === null) continue;
      const moved = move(task, edge, source, variables);
      changed = enter(target, moved, wanted) || changed;
      for (const [name, set] of moved.set) {
        const before = variables.get(name) ?? 0;
        if ((before | set) === before) continue;
        variables.set(name, before | set);
        changed = true;
      }
    }
  }
  return { entries, variables };
}

type Moved = {
  /** Types of the previous output behind the edge. */
  readonly types: number;
  /** Variables that this move has set, with their types. */
  readonly set: readonly (readonly [string, number])[];
  readonly source: Entry;
};

function move(task: FlowTask, { branch }: Edge, source: Entry, variables: ReadonlyMap<string, number>): Moved {
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
      source,
    };
  }
  if (branch.compose === null || branch.compose === undefined) return { types: output, set: [[id, output]], source };
  const { strategy, with_var } = branch.compose;
  const other = variables.get(with_var) ?? anyType;
  const merges = strategy === 'merge_chat_histories' || strategy === 'append_string_to_chat_history';
  const free = strategy === undefined ? types.chat_history : 0;
  const joined = merges ? types.chat_history : output | other | types.json | free;
  const when = branch.when === null ? {} : { when: branch.when };
  const name = composedName(id, { operator: branch.operator ?? 'default', ...when });
  return {
    types: joined,
    set: [
      [id, output],
      [name, joined],
    ],
    source,
  };
}

/** Types of what a task is given: its template's text, its variable, or the previous output. */
function inputTypes(task: FlowTask, entry: Entry, variables: ReadonlyMap<string, number>): number {
  if (task.templated && task.handler !== 'tools' && task.handler !== 'execute_tool_calls') return types.string;
  if (task.inputVar === null || task.inputVar === 'previous_output') return entry.types;
  return variables.get(task.inputVar) ?? 0;
}

/** Adds one path to what is known at its target; true when that changed something. */
function enter(target: Entry, moved: Moved, wanted: ReadonlySet<string>): boolean {
  const names = new Set(moved.set.map(([name]) => name));
  let changed = (target.types | moved.types) !== target.types;
  target.types |= moved.types;
  for (const name of [...moved.source.may, ...names]) {
    if (!wanted.has(name) || target.may.has(name)) continue;
    target.may.add(name);
    changed = true;
  }
  const sure = new Set([...(moved.source.must ?? []), ...names].filter((name) => wanted.has(name)));
  if (target.must === null) {
    target.must = sure;
    return true;
  }
  for (const name of target.must) {
    if (sure.has(name)) continue;
    target.must.delete(name);
    changed = true;
  }
  return changed;
}
