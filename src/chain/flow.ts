import { placeOf, type Findings } from './findings.ts';
import type { FlowGraph, FlowTask } from './edges.ts';
import { reads } from './readers.ts';
import { accepted, type Entry, inputTypes, settleTypes, typeNames, type VariableBits } from './flow-types.ts';

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
  const { entries, variables, bits } = settleTypes(tasks, graph);
  tasks.forEach((task, index) => {
    const entry = entries[index];
    if (!graph.reachable.has(index) || entry === undefined) {
      if (!graph.uncertain) findings.warning('unreachable_task', placeOf(task.node), unreachable);
      return;
    }
    checkInputVar(task, entry, bits, names, graph, findings);
    const input = inputTypes(task, entry, variables);
    if (task.handler === null || input === 0 || (input & accepted[task.handler]) !== 0) return;
    const message = `the handler ${task.handler} takes ${typeNames(accepted[task.handler])}, but only ${typeNames(input)} can reach it; set input_var${reads(task.handler, 'prompt_template') ? ' or a prompt_template' : ''}`;
    findings.error('input_type_mismatch', placeOf(task.inputNode ?? task.node), message);
  });
}

const unreachable =
  'no path leads to this task: name it in the goto of a branch or in on_failure; a task without branches ends the run';

/** Names whose value does not depend on the path. */
const always: ReadonlySet<string> = new Set(['input', 'previous_output', 'vars']);

function checkInputVar(
  task: FlowTask,
  entry: Entry,
  bits: VariableBits,
  settable: ReadonlySet<string>,
  graph: FlowGraph,
  findings: Findings,
): void {
  const { inputVar: name, inputNode: node } = task;
  if (name === null || node === null || always.has(name)) return;
  const bit = bits.get(name) ?? 0n;
  if ((entry.may & bit) === 0n) {
    // A name that nothing in this chain sets was reported as `input_var_unknown`.
    if (settable.has(name)) {
      findings.error('input_var_not_ready', placeOf(node), `${name} is not set on any path to this task`);
    }
  } else if (((entry.must ?? 0n) & bit) === 0n && !graph.uncertain) {
    findings.warning('input_var_maybe', placeOf(node), `${name} is set on some paths to this task only`);
  }
}
