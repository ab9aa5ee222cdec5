import type { Branch, Task } from '../schema/chain.ts';
import { extractNumber, parseRange, strictNumber } from './values.ts';

export type Choice =
  /** `goto` is a task id, or `end`. */
  | { readonly kind: 'go'; readonly goto: string; readonly branch: Branch }
  | { readonly kind: 'leaf' }
  /** The message of the task error, which names the eval. */
  | { readonly kind: 'no_branch'; readonly message: string };

/**
 * Chooses the branch that an eval takes (04 §8.1): the first that matches, wherever `default` stands; else the first
 * `default`. `edgeCounts` is keyed `from->to`. Never throws.
 */
export function chooseBranch(task: Task, evalText: string, edgeCounts: Readonly<Record<string, number>>): Choice {
  const branches = task.transition?.branches ?? [];
  if (branches.length === 0) return { kind: 'leaf' };
  const branch =
    branches.find((each) => each.operator !== 'default' && matches(each, evalText, edgeCounts)) ??
    branches.find((each) => each.operator === 'default');
  if (branch === undefined) {
    const shown = [...evalText.slice(0, 400)].slice(0, 200).join('');
    return {
      kind: 'no_branch',
      message: `no branch of task ${task.id} matches the eval ${JSON.stringify(shown)}, and there is no default branch`,
    };
  }
  return { kind: 'go', goto: target(branch), branch };
}

/** Where a branch leads: a task id, or `end` (04 §8.1.4). */
const target = (branch: Branch): string => (branch.goto === undefined || branch.goto === '' ? 'end' : branch.goto);

/** Operators of 04 §8.2. A comparison that cannot be made does not match. */
function matches(branch: Branch, evalText: string, edgeCounts: Readonly<Record<string, number>>): boolean {
  const when = branch.when ?? '';
  switch (branch.operator) {
    case 'equals':
      return evalText === when;
    case 'contains':
      return when !== '' && evalText.includes(when);
    case 'starts_with':
      return evalText.startsWith(when);
    case 'ends_with':
      return evalText.endsWith(when);
    case 'gt':
      return compare(evalText, when, (left, right) => left > right);
    case 'lt':
      return compare(evalText, when, (left, right) => left < right);
    case 'in_range': {
      const value = extractNumber(evalText);
      const range = parseRange(when);
      return value !== null && range !== null && value >= range[0] && value <= range[1];
    }
    case 'edge_traversed_at_least': {
      const least = strictNumber(when);
      return least !== null && edgeCount(edgeCounts, branch.edge ?? '') >= least;
    }
    case 'default':
      return false;
  }
}

function compare(evalText: string, when: string, test: (left: number, right: number) => boolean): boolean {
  const left = extractNumber(evalText);
  const right = strictNumber(when);
  return left !== null && right !== null && test(left, right);
}

/** How often an edge was taken in this run; 0 if never. Blanks around the two names do not count. */
export function edgeCount(edgeCounts: Readonly<Record<string, number>>, edge: string): number {
  const key = edgeKey(edge);
  return key !== null && Object.hasOwn(edgeCounts, key) ? (edgeCounts[key] ?? 0) : 0;
}

/** The counter's key of an edge as written, `from->to`; null when it is none. */
export function edgeKey(edge: string): string | null {
  const ends = edge.split('->').map((end) => end.trim());
  return ends.length === 2 && ends.every((end) => end !== '') ? ends.join('->') : null;
}
