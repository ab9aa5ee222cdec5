import { endNode } from './layout.ts';

/** What the newest run of a chain has done in it. */
export type Taken = {
  readonly run: string;
  /** How often each edge was passed, by `edgeKey`. */
  readonly edges: ReadonlyMap<string, number>;
  readonly tasks: ReadonlyMap<string, number>;
  /** The task that it is at, while it goes on. */
  readonly current: string | null;
};
export const edgeKey = (from: string, to: string): string => JSON.stringify([from, to]);

/** Edges and tasks of steps in their order. */
export function passed(
  steps: readonly { readonly task_id: string; readonly next: string | null }[],
  completed: boolean,
  live: boolean,
): Omit<Taken, 'run'> {
  const edges = new Map<string, number>();
  const tasks = new Map<string, number>();
  const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);
  for (const [index, { task_id, next }] of steps.entries()) {
    count(tasks, task_id);
    const to = next ?? steps[index + 1]?.task_id ?? (completed ? endNode : null);
    if (to !== null) count(edges, edgeKey(task_id, to));
  }
  const last = steps.at(-1);
  return { edges, tasks, current: live ? (last?.next ?? last?.task_id ?? null) : null };
}
