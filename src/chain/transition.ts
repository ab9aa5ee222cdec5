import type { Branch, Task } from '../schema/chain.ts';
import type { Value } from './values.ts';

export type Choice =
  /** `goto` is a task id, or `end`. */
  | { readonly kind: 'go'; readonly goto: string; readonly branch: Branch }
  | { readonly kind: 'leaf' }
  | { readonly kind: 'no_branch'; readonly message: string };

/** Chooses the branch that an eval takes (04 §8). `edgeCounts` is keyed `from->to`. */
export function chooseBranch(_task: Task, _evalText: string, _edgeCounts: Readonly<Record<string, number>>): Choice {
  return { kind: 'leaf' };
}
/** The variable name of a composed result (04 §6.4). */
export function composedName(taskId: string, branch: Branch): string {
  return `${taskId}_${branch.when ?? ''}_composed`;
}
/** Joins the current output with `with_var` (04 §8.4). @throws RuntimeError compose_failed */
export function compose(
  _branch: Branch,
  current: Value,
  _other: Value | undefined,
  _newMessage: (text: string) => import('../schema/message.ts').Message,
): Value {
  return current;
}
