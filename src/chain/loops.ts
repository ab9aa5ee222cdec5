import { isModelHandler } from '../schema/chain.ts';
import { type Edge, type FlowGraph, type FlowTask, reachableFrom } from './edges.ts';
import { placeOf, type Findings } from './findings.ts';
import type { BranchDraft } from './vet-branches.ts';

/**
 * Warns of loops that nothing bounds, and of results that no model sees (04 §16). A loop without a model is one, too: it
 * calls a tool until the policy's bound is spent, or moves until the run may not move any more.
 */
export function vetLoops(tasks: readonly FlowTask[], graph: FlowGraph, findings: Findings): void {
  if (graph.uncertain) return;
  const loops = components(graph.from);
  const counted = countedEdges(tasks, loops);
  const open = graph.from.map((edges) => edges.filter((edge) => !isRound(tasks, edge) && !counted.has(keyOf(edge))));
  const unbounded = components(open);
  const unboundedAt = (index: number): number | null => {
    const loop = unbounded[index] ?? -1;
    const goesRound = graph.reachable.has(index) && open[index]?.some(({ to }) => unbounded[to] === loop);
    return goesRound === true ? loop : null;
  };
  const ofModels = new Set(tasks.map((task, index) => (isModel(task) ? unboundedAt(index) : null)));
  const reported = new Set<number>();
  const uses = usersOf(tasks, graph.from);
  tasks.forEach((task, index) => {
    if (!graph.reachable.has(index)) return;
    const loop = unboundedAt(index);
    if (loop !== null && !reported.has(loop) && (isModel(task) || !ofModels.has(loop))) {
      reported.add(loop);
      findings.warning(
        'unbounded_loop',
        placeOf(task.node),
        'nothing bounds the loop through this task; add an edge_traversed_at_least branch',
      );
    }
    if (task.handler === 'execute_tool_calls' && !resultsAreRead(index, tasks, uses, graph.from)) {
      findings.warning('loop_drops_results', placeOf(task.node), 'its results never reach a chat_completion task');
    }
  });
}

const isModel = (task: FlowTask): boolean => task.handler !== null && isModelHandler(task.handler);

const keyOf = ({ from, to }: Edge): string => `${from}->${to}`;

/**
 * The loop each task belongs to, as a number: two tasks with the same number lie on a common loop. A task without a
 * loop has a number of its own.
 */
function components(from: readonly (readonly Edge[])[]): readonly number[] {
  const found: number[] = from.map(() => -1);
  const order: number[] = from.map(() => -1);
  const stack: number[] = [];
  let count = 0;
  // Tarjan's algorithm; at most 500 tasks, so it may call itself.
  const visit = (index: number): number => {
    const own = count;
    count += 1;
    order[index] = own;
    let low = own;
    stack.push(index);
    for (const { to } of from[index] ?? []) {
      if (order[to] === -1) low = Math.min(low, visit(to));
      else if (found[to] === -1) low = Math.min(low, order[to] ?? low);
    }
    if (low === own) {
      for (let member = stack.pop(); member !== undefined; member = stack.pop()) {
        found[member] = own;
        if (member === index) break;
      }
    }
    return low;
  };
  from.forEach((_, index) => {
    if (order[index] === -1) visit(index);
  });
  return found;
}

/** Edges that a branch of the same loop counts: after so many passages it leads elsewhere. */
function countedEdges(tasks: readonly FlowTask[], loops: readonly number[]): ReadonlySet<string> {
  const index = new Map(tasks.map(({ id }, at) => [id, at]));
  const counted = new Set<string>();
  tasks.forEach((task, at) => {
    for (const { operator, edge } of task.branches) {
      if (operator !== 'edge_traversed_at_least' || edge === null) continue;
      const [from, to] = edge.split('->').map((id) => index.get(id));
      if (from === undefined || to === undefined) continue;
      if (loops[from] === loops[at] && loops[to] === loops[at]) counted.add(`${from}->${to}`);
    }
  });
  return counted;
}

/**
 * An edge that is taken only with calls to run: each passage is a round, and `max-rounds` bounds those of every run
 * (04 §14.8).
 */
function isRound(tasks: readonly FlowTask[], { from, to, branch }: Edge): boolean {
  const source = tasks[from];
  const target = tasks[to];
  if (source?.handler !== 'chat_completion' || target?.handler !== 'execute_tool_calls' || branch === null)
    return false;
  const reads = target.inputVar === null || target.inputVar === 'previous_output' || target.inputVar === source.id;
  return reads && !takenBy('executed', source.branches).includes(branch);
}

/** The branches that an eval may take: edge counters are not known here. */
function takenBy(word: string, branches: readonly BranchDraft[]): BranchDraft[] {
  const possible: BranchDraft[] = [];
  for (const branch of branches) {
    const when = branch.when ?? '';
    if (branch.operator === 'edge_traversed_at_least') possible.push(branch);
    const matches =
      (branch.operator === 'equals' && when === word) ||
      (branch.operator === 'contains' && word.includes(when)) ||
      (branch.operator === 'starts_with' && word.startsWith(when)) ||
      (branch.operator === 'ends_with' && word.endsWith(when));
    if (matches) return [...possible, branch];
  }
  return [...possible, ...branches.filter((branch) => branch.operator === 'default').slice(0, 1)];
}

/** Follows results from task to task, until a chat_completion takes something that was made of them. */
function resultsAreRead(
  start: number,
  tasks: readonly FlowTask[],
  uses: readonly ReadonlySet<number>[],
  from: readonly (readonly Edge[])[],
): boolean {
  const later = reachableFrom(start, from);
  const carriers = new Set([start]);
  // A set hands out also what is added while it is gone through.
  for (const index of carriers) {
    for (const user of uses[index] ?? []) {
      if (!later.has(user)) continue;
      if (tasks[user]?.handler === 'chat_completion') return true;
      carriers.add(user);
    }
  }
  return false;
}

/** For each task those that use its output, if they come after it. */
function usersOf(tasks: readonly FlowTask[], from: readonly (readonly Edge[])[]): readonly ReadonlySet<number>[] {
  const users = tasks.map(() => new Set<number>());
  const index = new Map(tasks.map(({ id }, at) => [id, at]));
  tasks.forEach((task, user) => {
    const { mentions, branches, inputVar } = task;
    const readsAny = mentions.includes('vars') || (!task.templated && takesAny(inputVar));
    if (readsAny) for (const each of users) each.add(user);
    const own = task.templated ? [] : [inputVar];
    for (const name of new Set([...mentions, ...branches.map(({ compose }) => compose?.with_var ?? null), ...own])) {
      const used = index.get(name);
      if (used !== undefined) users[used]?.add(user);
    }
  });
  from.forEach((edges, used) => {
    for (const { to } of edges) {
      const task = tasks[to];
      if (task !== undefined && takesPrevious(task)) users[used]?.add(to);
    }
  });
  return users;
}

/** A variable that may hold what any task made. */
const takesAny = (inputVar: string | null): boolean =>
  inputVar !== null && (inputVar.endsWith('_composed') || inputVar === 'vars');

/** Whether a task uses the output of the one before. */
const takesPrevious = ({ templated, mentions, inputVar }: FlowTask): boolean =>
  templated ? mentions.includes('previous_output') : inputVar === null || inputVar === 'previous_output';
