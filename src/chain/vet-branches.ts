import { type Branch, composeStrategies, type Handler, type Operator, operators } from '../schema/chain.ts';
import { placeOf, placeOfMember, type Findings } from './findings.ts';
import type { JsonNode, JsonObject } from './json.ts';
import { readShape, type Shape } from './shape.ts';
import { meantAmong, meantName } from './spelling.ts';
import { edgeKey } from './transition.ts';
import { parseRange, strictNumber } from './values.ts';
import { saysNothing } from './vet-config.ts';

/** A branch as far as it could be read; what is wrong with it was reported. */
export type BranchDraft = {
  readonly node: JsonObject;
  readonly operator: Operator | null;
  readonly when: string | null;
  /** The two tasks of `edge`, joined by `->`. */
  readonly edge: string | null;
  /** A task id, `end`, or null for a target that was not understood. */
  readonly goto: string | null;
  readonly compose: Branch['compose'] | null;
};

export type TransitionDraft = {
  readonly branches: readonly BranchDraft[];
  readonly onFailure: { readonly node: JsonNode; readonly id: string } | null;
};

const maxBranches = 200;

/** Reads `transition` (04 §8). Targets and edges are checked by `vetTargets`, when all ids are known. */
export function readTransition(node: JsonObject | null, findings: Findings): TransitionDraft {
  if (node === null) return { branches: [], onFailure: null };
  const transition = readShape(node, 'a transition', findings);
  const list = transition.array('branches');
  const items = list?.items ?? [];
  if (list !== null && items.length > maxBranches) {
    findings.error('too_large', placeOf(list), `a task may have ${maxBranches} branches, not ${items.length}`);
  }
  const branches: BranchDraft[] = [];
  for (const item of items.slice(0, maxBranches)) {
    if (item.kind === 'object') branches.push(readBranch(item, findings));
    else findings.error('bad_type', placeOf(item), 'a branch must be an object');
  }
  const onFailure = transition.string('on_failure');
  return {
    branches,
    onFailure: onFailure === null || onFailure.value === '' ? null : { node: onFailure, id: onFailure.value },
  };
}

function readBranch(node: JsonObject, findings: Findings): BranchDraft {
  const branch = readShape(node, 'a branch', findings);
  const operator = readOperator(branch, findings);
  const goto = branch.text('goto') || 'end';
  if (operator !== null) checkOperand(operator, branch, findings);
  return {
    node,
    operator,
    when: branch.text('when'),
    edge: operator === 'edge_traversed_at_least' ? edgeKey(branch.text('edge') ?? '') : null,
    goto: branch.has('goto') && branch.text('goto') === null ? null : goto,
    compose: readCompose(branch.object('compose'), findings),
  };
}

function readOperator(branch: Shape, findings: Findings): Operator | null {
  const node = branch.string('operator');
  if (node === null) {
    if (!branch.has('operator')) findings.error('missing_member', placeOf(branch.node), 'a branch needs an operator');
    return null;
  }
  const operator = operators.find((known) => known === node.value);
  if (operator !== undefined) return operator;
  const near = meantName(node.value, operators);
  const advice = near === null ? `one of ${operators.join(', ')}` : near;
  findings.error(
    'unknown_operator',
    placeOf(node),
    `there is no operator ${JSON.stringify(node.value)}; use ${advice}`,
  );
  return null;
}

/** Checks `when` and `edge` of one operator (04 §8.2). */
function checkOperand(operator: Operator, branch: Shape, findings: Findings): void {
  const when = branch.string('when');
  for (const name of ['when', 'edge']) {
    const member = branch.member(name);
    const used = name === 'when' ? operator !== 'default' : operator === 'edge_traversed_at_least';
    if (member === null || used || saysNothing(member.value)) continue;
    findings.warning('member_unused', placeOfMember(member), `the operator ${operator} does not read ${name}`);
  }
  if (operator === 'default') return;
  if (operator === 'edge_traversed_at_least') checkEdge(branch, findings);
  if (when === null) {
    if (!branch.has('when'))
      findings.error('bad_operand', placeOf(branch.node), `the operator ${operator} needs a when`);
    return;
  }
  const wrong = operandDefect(operator, when.value);
  if (wrong !== null) findings.error('bad_operand', placeOf(when), `when of ${operator} must be ${wrong}`);
}

function operandDefect(operator: Operator, when: string): string | null {
  switch (operator) {
    case 'contains':
      return when === '' ? 'a text that is not empty' : null;
    case 'gt':
    case 'lt':
      return strictNumber(when) === null ? 'a number' : null;
    case 'in_range': {
      const range = parseRange(when);
      return range === null || range[0] > range[1] ? 'a range min-max with min not above max, such as 1-5' : null;
    }
    case 'edge_traversed_at_least': {
      const least = strictNumber(when);
      return least === null || !Number.isSafeInteger(least) || least < 1 ? 'a whole number of at least 1' : null;
    }
    default:
      return null;
  }
}

function checkEdge(branch: Shape, findings: Findings): void {
  const edge = branch.string('edge');
  if (edge !== null) {
    if (edgeKey(edge.value) === null) {
      findings.error('bad_edge', placeOf(edge), `${JSON.stringify(edge.value)} is no edge; write from->to`);
    }
  } else if (!branch.has('edge')) {
    findings.error('missing_member', placeOf(branch.node), 'the operator edge_traversed_at_least needs an edge');
  }
}

function readCompose(node: JsonObject | null, findings: Findings): BranchDraft['compose'] {
  if (node === null) return null;
  const compose = readShape(node, 'compose', findings);
  const withVar = compose.text('with_var');
  if (withVar === null && !compose.has('with_var')) {
    findings.error('missing_member', placeOf(node), 'compose needs with_var');
  }
  const given = compose.string('strategy');
  const strategy = composeStrategies.find((known) => known === given?.value);
  if (given !== null && strategy === undefined) {
    findings.error('bad_strategy', placeOf(given), `there is no such strategy; use ${composeStrategies.join(', ')}`);
  }
  if (withVar === null) return null;
  return { with_var: withVar, ...(strategy === undefined ? {} : { strategy }) };
}

/** Checks where a transition leads, once all task ids are known. */
export function vetTargets(transition: TransitionDraft, ids: ReadonlySet<string>, findings: Findings): void {
  for (const { node, goto, edge } of transition.branches) {
    const member = (name: string): JsonNode => node.members.find((each) => each.name === name)?.value ?? node;
    if (goto !== null && goto !== 'end' && !ids.has(goto)) reportTarget(member('goto'), goto, ids, findings);
    const missing = edge?.split('->').find((id) => !ids.has(id));
    if (missing !== undefined) {
      findings.error(
        'bad_edge',
        placeOf(member('edge')),
        `there is no task ${JSON.stringify(missing)} for this edge${meantAmong(missing, ids)}`,
      );
    }
  }
  const { onFailure } = transition;
  if (onFailure === null || ids.has(onFailure.id)) return;
  if (onFailure.id !== 'end') reportTarget(onFailure.node, onFailure.id, ids, findings);
  else findings.error('unknown_target', placeOf(onFailure.node), onFailureToEnd);
}

const onFailureToEnd = 'on_failure leads to a task, not to end; without on_failure a failure ends the run';

function reportTarget(node: JsonNode, id: string, ids: ReadonlySet<string>, findings: Findings): void {
  const advice = meantAmong(id, new Set([...ids, 'end']));
  findings.error('unknown_target', placeOf(node), `there is no task ${JSON.stringify(id)}${advice}`);
}

/** The evals that a handler can yield; null when they are open (04 §16). */
export function vocabulary(handler: Handler, hasOutputTemplate: boolean): readonly string[] | null {
  switch (handler) {
    case 'chat_completion':
      return ['tool_call', 'executed'];
    case 'execute_tool_calls':
      return ['tools_executed', 'no_calls_found', 'noop'];
    case 'tools':
      return hasOutputTemplate ? null : ['tools_executed'];
    case 'noop':
      return ['noop'];
    case 'prompt_to_condition':
      return ['true', 'false'];
    default:
      return null;
  }
}

/** Branches that cannot be taken, and evals that no branch takes. */
export function vetReach(transition: TransitionDraft, words: readonly string[] | null, findings: Findings): void {
  const { branches } = transition;
  const before: BranchDraft[] = [];
  for (const branch of branches) {
    const { node, operator, when } = branch;
    if (operator === 'equals' && when !== null && words !== null && !words.includes(when)) {
      const place = node.members.find((member) => member.name === 'when')?.value ?? node;
      findings.error(
        'branch_never',
        placeOf(place),
        `the handler never yields ${JSON.stringify(when)}; it yields ${words.join(', ')}`,
      );
    }
    if (operator === 'default') {
      if (before.some((earlier) => earlier.operator === 'default')) {
        findings.warning('duplicate_default', placeOf(node), 'only the first default branch is ever taken');
      }
    } else if (before.some((earlier) => shadows(earlier, branch))) {
      findings.warning('shadowed_branch', placeOf(node), 'an earlier branch always matches first');
    }
    before.push(branch);
  }
  const first = branches[0];
  if (words === null && first !== undefined && !branches.some((branch) => branch.operator === 'default')) {
    const list = first.node.parent ?? first.node;
    findings.warning(
      'no_default',
      placeOf(list),
      'the eval of this task can be anything, and there is no default branch',
    );
  }
}

/** Whether everything that matches `later` matches `earlier` too. */
function shadows(earlier: BranchDraft, later: BranchDraft): boolean {
  if (earlier.operator === null || earlier.when === null || later.when === null) return false;
  if (earlier.operator === 'edge_traversed_at_least') {
    return (
      later.operator === earlier.operator &&
      earlier.edge !== null &&
      earlier.edge === later.edge &&
      Number(earlier.when) <= Number(later.when)
    );
  }
  if (earlier.operator === later.operator && earlier.when === later.when) return true;
  if (later.operator !== 'equals') return false;
  switch (earlier.operator) {
    case 'contains':
      return earlier.when !== '' && later.when.includes(earlier.when);
    case 'starts_with':
      return later.when.startsWith(earlier.when);
    case 'ends_with':
      return later.when.endsWith(earlier.when);
    default:
      return false;
  }
}
