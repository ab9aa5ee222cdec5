import { otherDocument } from '../schema/document-kinds.ts';
import { composedName } from './compose.ts';
import { placeOf, type Findings } from './findings.ts';
import { type FlowTask, flowGraph } from './edges.ts';
import { analyseFlow } from './flow.ts';
import type { JsonNode, JsonString } from './json.ts';
import { vetLoops } from './loops.ts';
import { reads } from './readers.ts';
import { readShape, type Shape } from './shape.ts';
import { meantAmong } from './spelling.ts';
import { vetTargets } from './vet-branches.ts';
import { stringsIn, vetMacros, vetTemplate, warnSecrets } from './vet-strings.ts';
import { type TaskDraft, vetTask } from './vet-task.ts';

const maxTasks = 500;

/** Names that are always variables (04 §6.4). */
const engineVariables: readonly string[] = ['input', 'previous_output', 'last_error', 'vars'];
const reservedIds: ReadonlySet<string> = new Set(['end', ...engineVariables]);
/** What no template can read by name (04 §9.9), and no map of variables holds reliably. */
const unreadableIds: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Checks a normalised document (04 §16) and reports everything that it finds; members that are broken are left out of
 * later checks, so that one defect is one finding.
 * @param providers tool providers that are registered here; null when nothing is known of them
 */
export async function vet(root: JsonNode, providers: readonly string[] | null, findings: Findings): Promise<void> {
  if (root.kind !== 'object') {
    findings.error('bad_type', placeOf(root), 'a chain must be an object');
    return;
  }
  const other = otherDocument(
    'chain',
    root.members.map(({ name }) => name),
  );
  if (other !== null) {
    findings.error('missing_member', placeOf(root), `${other.message}; ${other.next('<file>')}`);
    return;
  }
  const chain = readShape(root, 'a chain', findings);
  vetChainId(chain, findings);
  warnSecrets(root, findings);
  const tasks = readTasks(chain, providers, findings);
  const ids = vetIds(tasks, findings);
  for (const task of tasks) vetTargets(task.transition, ids, findings);
  const names = variableNames(tasks, ids);
  const mentions = await vetFields(tasks, ids, names, findings);
  vetInputVars(tasks, names, findings);
  const model = tasks.map((task, index) => flowTask(task, mentions[index] ?? []));
  const graph = flowGraph(model);
  analyseFlow(model, graph, names, findings);
  vetLoops(model, graph, findings);
}

function vetChainId(chain: Shape, findings: Findings): void {
  const id = chain.string('id');
  if (id === null) {
    if (!chain.has('id')) findings.error('missing_member', placeOf(chain.node), 'a chain needs an id');
  } else if (!/^[A-Za-z0-9_.-]{1,128}$/.test(id.value)) {
    findings.error('bad_id', placeOf(id), 'an id has 1 to 128 letters, digits, dots, underscores or hyphens');
  }
}

function readTasks(chain: Shape, providers: readonly string[] | null, findings: Findings): TaskDraft[] {
  const list = chain.array('tasks');
  if (list === null) {
    if (!chain.has('tasks')) findings.error('missing_member', placeOf(chain.node), 'a chain needs tasks');
    return [];
  }
  if (list.items.length === 0) findings.error('no_tasks', placeOf(list), 'a chain needs at least one task');
  if (list.items.length > maxTasks) {
    findings.error('too_large', placeOf(list), `a chain may have ${maxTasks} tasks, not ${list.items.length}`);
  }
  const tasks: TaskDraft[] = [];
  for (const item of list.items.slice(0, maxTasks)) {
    if (item.kind === 'object') tasks.push(vetTask(item, providers, findings));
    else findings.error('bad_type', placeOf(item), 'a task must be an object');
  }
  return tasks;
}

function vetIds(tasks: readonly TaskDraft[], findings: Findings): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { shape, id } of tasks) {
    const node = shape.string('id');
    if (id === null || node === null) continue;
    if (reservedIds.has(id))
      findings.error('reserved_id', placeOf(node), `${id} has a meaning of its own; choose another id`);
    else if (unreadableIds.has(id))
      findings.error('reserved_id', placeOf(node), `${id} cannot be the name of a variable; choose another id`);
    else if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(id)) {
      findings.error('bad_id', placeOf(node), 'an id has 1 to 128 letters, digits, dots, underscores or hyphens');
    } else if (ids.has(id)) findings.error('duplicate_id', placeOf(node), `another task has the id ${id}`);
    ids.add(id);
  }
  return ids;
}

/** Every name that can hold a value in some run of this chain (04 §6.4). */
function variableNames(tasks: readonly TaskDraft[], ids: ReadonlySet<string>): ReadonlySet<string> {
  const names = new Set([...engineVariables, ...ids, ...[...ids].map((id) => `${id}_error`)]);
  for (const { id, transition } of tasks) {
    if (id === null) continue;
    for (const branch of transition.branches) {
      const name = composed(id, branch);
      if (name !== null) names.add(name);
    }
  }
  return names;
}

function composed(id: string, branch: TaskDraft['transition']['branches'][number]): string | null {
  if (branch.operator === null || branch.compose === null) return null;
  return composedName(id, { operator: branch.operator, ...(branch.when === null ? {} : { when: branch.when }) });
}

const templateFields = ['prompt_template', 'output_template', 'print'] as const;

/** Checks macros and templates of all fields; returns the names that the templates of each task read. */
async function vetFields(
  tasks: readonly TaskDraft[],
  ids: ReadonlySet<string>,
  names: ReadonlySet<string>,
  findings: Findings,
): Promise<(readonly string[])[]> {
  const mentions: (readonly string[])[] = [];
  for (const { shape } of tasks) {
    const plain = [shape.string('system_instruction'), shape.string('preface'), shape.object('execute_config')];
    for (const node of plain.flatMap((each) => (each === null ? [] : stringsIn(each)))) {
      vetMacros(node, 'plain', ids, findings);
    }
    const read: string[] = [];
    for (const { node, open } of templatesOf(shape)) {
      vetMacros(node, 'template', ids, findings);
      read.push(...(await vetTemplate(node, open ? null : names, findings)));
    }
    mentions.push(read);
  }
  return mentions;
}

/** All template strings of a task. `open`: a tool's output adds names that cannot be known. */
function templatesOf(shape: Shape): { readonly node: JsonString; readonly open: boolean }[] {
  const fields = templateFields.flatMap((name) => {
    const node = shape.string(name);
    return node === null ? [] : [{ node, open: name === 'output_template' }];
  });
  const args = shape.object('tools')?.members.find((member) => member.name === 'args')?.value;
  return args === undefined ? fields : [...fields, ...stringsIn(args).map((node) => ({ node, open: false }))];
}

function vetInputVars(tasks: readonly TaskDraft[], names: ReadonlySet<string>, findings: Findings): void {
  for (const { inputVar } of tasks) {
    if (inputVar === null || inputVar.value === '') continue;
    const whole = inputVar.value === 'vars';
    if (!whole && names.has(inputVar.value)) continue;
    const message = whole
      ? '"vars" is all variables, for templates; name the one that the task takes'
      : `${JSON.stringify(inputVar.value)} is neither a variable nor a task of this chain${meantAmong(inputVar.value, names)}`;
    findings.error('input_var_unknown', placeOf(inputVar), message);
  }
}

function flowTask(
  { node, shape, id, handler, transition, inputVar }: TaskDraft,
  mentions: readonly string[],
): FlowTask {
  const known = inputVar !== null && inputVar.value !== '' ? inputVar : null;
  return {
    node,
    inputNode: known,
    id,
    handler,
    inputVar: known?.value ?? null,
    templated: (shape.text('prompt_template') ?? '') !== '' && (handler === null || reads(handler, 'prompt_template')),
    hasOutputTemplate: (shape.text('output_template') ?? '') !== '',
    branches: transition.branches,
    onFailure: transition.onFailure?.id ?? null,
    mentions,
  };
}
