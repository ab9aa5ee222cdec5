import { basename } from 'node:path';
import { readEntry } from '../chain/allowlist.ts';
import type { Chain, Finding, Task } from '../schema/chain.ts';

/** The chains that a plan plays (07 §4.2). */
export type PlanChainUse = 'planner' | 'executor' | 'summarizer' | 'explorer';

export const planChainFiles = {
  planner: 'chain-planner.json',
  executor: 'chain-step-executor.json',
  summarizer: 'chain-step-summarizer.json',
  explorer: 'chain-plan-explorer.json',
} as const satisfies Readonly<Record<PlanChainUse, string>>;

/** What a plan would refuse of a file that it finds by its name; empty for any other file. */
export function findingsForPlans(path: string, chain: Chain | null): readonly Finding[] {
  // True because these are the keys of the table.
  const use = (Object.keys(planChainFiles) as PlanChainUse[]).find((each) => planChainFiles[each] === basename(path));
  return chain === null || use === undefined ? [] : planChainFindings(use, chain);
}

export const isPlanChainUse = (use: string): use is PlanChainUse => Object.hasOwn(planChainFiles, use);

/** Tools of `local_fs` that only read (05 §4.8). */
const readers: ReadonlySet<string> = new Set([
  'read_file',
  'read_file_range',
  'list_dir',
  'find_files',
  'grep',
  'count_stats',
  'stat_file',
]);

/** What a chain lacks for its use in a plan (07 §4.2); empty when it may be used. */
export function planChainFindings(use: PlanChainUse, chain: Chain): readonly Finding[] {
  switch (use) {
    case 'planner':
      return chain.tasks[0]?.handler === 'chat_completion'
        ? []
        : [finding('/tasks/0/handler', 'the first task of a planner must be a chat_completion')];
    case 'executor':
      return loopFindings(chain, 'a step executor');
    case 'summarizer':
      return (['persist', 'fallback'] as const)
        .filter((tool) => !chain.tasks.some((task) => calls(task, tool)))
        .map((tool) => finding('/tasks', `a step summariser must have a task that calls plan_summary.${tool}`));
    case 'explorer':
      return [...loopFindings(chain, 'an explorer'), ...chain.tasks.flatMap(readsOnly)];
  }
}

const finding = (path: string, message: string): Finding => ({
  severity: 'error',
  code: 'unfit_for_plans',
  path,
  line: 1,
  column: 1,
  message,
});

const calls = (task: Task, tool: string): boolean =>
  task.handler === 'tools' && task.tools?.name === 'plan_summary' && task.tools.tool_name === tool;

/** A model task, and a task that executes its calls and leads back to one. */
function loopFindings(chain: Chain, what: string): readonly Finding[] {
  const models = new Set(chain.tasks.filter(({ handler }) => handler === 'chat_completion').map(({ id }) => id));
  const leadsBack = (task: Task): boolean =>
    task.handler === 'execute_tool_calls' &&
    (task.transition?.branches ?? []).some(({ goto }) => goto !== undefined && models.has(goto));
  return [
    ...(models.size > 0 ? [] : [finding('/tasks', `${what} must have a chat_completion`)]),
    ...(chain.tasks.some(leadsBack)
      ? []
      : [finding('/tasks', `${what} must have an execute_tool_calls that leads back to a chat_completion`)]),
  ];
}

function readsOnly(task: Task, index: number): readonly Finding[] {
  const list = task.execute_config?.tools ?? [];
  return list
    .map(readEntry)
    .filter(
      ({ exclude, provider, tool }) => !exclude && (provider !== 'local_fs' || tool === null || !readers.has(tool)),
    )
    .map(({ provider, tool }) =>
      finding(
        `/tasks/${index}/execute_config/tools`,
        `an explorer may only use tools of local_fs that read, each by its name: not ${tool === null ? provider : `${provider}.${tool}`}`,
      ),
    );
}
