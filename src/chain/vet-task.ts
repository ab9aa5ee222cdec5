import { type Handler, handlers } from '../schema/chain.ts';
import { placeOf, type Findings } from './findings.ts';
import type { JsonNode, JsonObject, JsonString } from './json.ts';
import { reads, readsMember } from './readers.ts';
import { checkRange, readShape, type Shape } from './shape.ts';
import { meantName } from './spelling.ts';
import { readTransition, type TransitionDraft, vetReach, vocabulary } from './vet-branches.ts';
import { checkDuration, vetConfig, warnUnused } from './vet-config.ts';
import { vetNamedTool } from './vet-tools.ts';

/** A task as far as it could be read; what is wrong with it was reported. */
export type TaskDraft = {
  readonly node: JsonObject;
  readonly shape: Shape;
  readonly id: string | null;
  readonly handler: Handler | null;
  readonly transition: TransitionDraft;
  readonly inputVar: JsonString | null;
};

/** Reads one task and checks everything that needs no other task. */
export function vetTask(node: JsonObject, providers: readonly string[] | null, findings: Findings): TaskDraft {
  const shape = readShape(node, 'a task', findings);
  const handler = readHandler(shape, findings);
  const transition = readTransition(shape.object('transition'), findings);
  if (!shape.has('id')) findings.error('missing_member', placeOf(node), 'a task needs an id');
  checkRange(shape.number('input_max_bytes'), 'input_max_bytes', 1, Number.POSITIVE_INFINITY, findings);
  checkRange(shape.number('retry_on_failure'), 'retry_on_failure', 0, 20, findings);
  checkDuration(shape, 'timeout', findings);
  const config = shape.object('execute_config');
  if (config !== null) {
    vetConfig(config, handler !== null && reads(handler, 'execute_config') ? handler : null, providers, findings);
  }
  if (handler !== null) vetByHandler(handler, shape, transition, providers, findings);
  return { node, shape, id: shape.text('id'), handler, transition, inputVar: shape.string('input_var') };
}

function readHandler(shape: Shape, findings: Findings): Handler | null {
  const node = shape.string('handler');
  if (node === null) {
    if (!shape.has('handler')) findings.error('missing_member', placeOf(shape.node), 'a task needs a handler');
    return null;
  }
  const handler = handlers.find((known) => known === node.value);
  if (handler !== undefined) return handler;
  const near = meantName(node.value, handlers);
  const advice = near === null ? `the handlers are ${handlers.join(', ')}` : `did you mean ${near}?`;
  findings.error('unknown_handler', placeOf(node), `there is no handler ${JSON.stringify(node.value)}; ${advice}`);
  return null;
}

function vetByHandler(
  handler: Handler,
  shape: Shape,
  transition: TransitionDraft,
  providers: readonly string[] | null,
  findings: Findings,
): void {
  for (const member of shape.node.members) {
    if (!readsMember(handler, member.name)) warnUnused(member, handler, findings);
  }
  if (handler === 'tools') vetTools(shape, providers, findings);
  if (handler === 'prompt_to_condition') vetConditions(shape, findings);
  if (handler === 'route') vetLabels(shape, transition, findings);
  if (handler === 'raise_error') {
    const branches = shape.object('transition')?.members.find((member) => member.name === 'branches');
    if (branches !== undefined) warnUnused(branches, handler, findings);
    return;
  }
  vetReach(transition, vocabulary(handler, (shape.text('output_template') ?? '') !== ''), findings);
}

function vetTools(shape: Shape, providers: readonly string[] | null, findings: Findings): void {
  const block = shape.object('tools');
  if (block === null) {
    if (!shape.has('tools')) {
      findings.error('missing_tools_block', placeOf(shape.node), 'a task of handler tools needs tools with a name');
    }
    return;
  }
  const tools = readShape(block, 'tools', findings);
  const name = tools.string('name');
  if (name !== null && name.value !== '') vetNamedTool(name, tools.string('tool_name'), providers, findings);
  else if (name !== null || !tools.has('name')) {
    findings.error('bad_tools_block', placeOf(name ?? block), 'tools needs the name of a provider');
  }
}

function vetConditions(shape: Shape, findings: Findings): void {
  const conditions = shape.object('valid_conditions');
  if (conditions === null) {
    if (!shape.has('valid_conditions')) {
      findings.error('missing_conditions', placeOf(shape.node), 'prompt_to_condition needs valid_conditions');
    }
    return;
  }
  if (conditions.members.length === 0) {
    findings.error('missing_conditions', placeOf(conditions), 'valid_conditions must not be empty');
  }
  for (const { name, value } of conditions.members) {
    if (value.kind !== 'boolean') {
      findings.error('bad_type', placeOf(value), `the condition ${JSON.stringify(name)} must be true or false`);
    }
  }
  const twice = repeated(conditions.members.map((member) => ({ text: member.name, node: member.value })));
  if (twice !== null) {
    findings.error(
      'missing_conditions',
      placeOf(twice.node),
      `${JSON.stringify(twice.text)} is there twice, ignoring case`,
    );
  }
}

function vetLabels(shape: Shape, transition: TransitionDraft, findings: Findings): void {
  const labels = transition.branches.flatMap(({ operator, when, node }) =>
    operator === 'equals' && when !== null ? [{ text: when, node }] : [],
  );
  if (labels.length === 0) {
    // A branch that could not be read was reported; it may have been the label.
    if (transition.branches.every((branch) => branch.operator !== null)) {
      findings.error('route_without_labels', placeOf(shape.node), 'route needs an equals branch for each label');
    }
    return;
  }
  const twice = repeated(labels);
  if (twice !== null) {
    const message = `the label ${JSON.stringify(twice.text)} is there twice, ignoring case`;
    findings.error('route_without_labels', placeOf(twice.node), message);
  }
}

function repeated(
  given: readonly { readonly text: string; readonly node: JsonNode }[],
): { readonly text: string; readonly node: JsonNode } | null {
  const seen = new Set<string>();
  for (const each of given) {
    const key = each.text.toLowerCase();
    if (seen.has(key)) return each;
    seen.add(key);
  }
  return null;
}
