import type { Handler } from '../schema/chain.ts';
import type { JsonNode } from './json.ts';
import type { BranchDraft } from './vet-branches.ts';

/** What the analysis of a chain's flow needs of a task. Null stands for what could not be understood. */
export type FlowTask = {
  readonly node: JsonNode;
  readonly inputNode: JsonNode | null;
  readonly id: string | null;
  readonly handler: Handler | null;
  readonly inputVar: string | null;
  /** A prompt template replaces the input. */
  readonly templated: boolean;
  readonly hasOutputTemplate: boolean;
  readonly branches: readonly BranchDraft[];
  readonly onFailure: string | null;
  /** Names that its templates read. */
  readonly mentions: readonly string[];
};

/** A possible move between two tasks, by their indexes. `branch` is null for a move by `on_failure`. */
export type Edge = { readonly from: number; readonly to: number; readonly branch: BranchDraft | null };

export type FlowGraph = {
  readonly edges: readonly Edge[];
  readonly from: readonly (readonly Edge[])[];
  readonly reachable: ReadonlySet<number>;
  /**
   * True when a part of the chain could not be understood: a broken target may mean any task, and what depends on the
   * absence of a path is not reported.
   */
  readonly uncertain: boolean;
};

export function flowGraph(tasks: readonly FlowTask[]): FlowGraph {
  const index = new Map<string, number>();
  tasks.forEach(({ id }, at) => {
    if (id !== null && !index.has(id)) index.set(id, at);
  });
  let uncertain = index.size < tasks.length;
  const edges: Edge[] = [];
  const anywhere = new Set<number>();
  const connect = (from: number, goto: string | null, branch: BranchDraft | null): void => {
    if (goto === 'end' && branch !== null) return;
    const to = goto === null ? undefined : index.get(goto);
    if (to !== undefined) {
      edges.push({ from, to, branch });
      return;
    }
    uncertain = true;
    if (anywhere.has(from)) return;
    anywhere.add(from);
    tasks.forEach((_, target) => {
      edges.push({ from, to: target, branch: null });
    });
  };
  tasks.forEach((task, from) => {
    if (task.handler === null) uncertain = true;
    for (const branch of task.handler === 'raise_error' ? [] : task.branches) {
      if (branch.operator === null) uncertain = true;
      connect(from, branch.goto, branch);
    }
    if (task.onFailure !== null) connect(from, task.onFailure, null);
  });
  const grouped: Edge[][] = tasks.map(() => []);
  for (const edge of edges) grouped[edge.from]?.push(edge);
  return { edges, from: grouped, reachable: reachableFrom(0, grouped), uncertain };
}

/** All tasks on paths that begin here, itself included. */
export function reachableFrom(start: number, from: readonly (readonly Edge[])[]): ReadonlySet<number> {
  const seen = new Set<number>();
  const waiting = start < from.length ? [start] : [];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    for (const { to } of from[next] ?? []) waiting.push(to);
  }
  return seen;
}
