import type { Chain, Task } from '../schema/chain.ts';
import type { ChainGraph } from '../schema/document-views.ts';

/** The picture of a chain (09 §6.8): tasks, the ways between them, and what no way leads to. */
export function chainGraph({ tasks }: Chain): ChainGraph {
  const [first] = tasks;
  const edges = tasks.flatMap(edgesOf);
  const reached = new Set<string>();
  const visit = (id: string): void => {
    if (reached.has(id)) return;
    reached.add(id);
    for (const edge of edges) if (edge.from === id) visit(edge.to);
  };
  if (first !== undefined) visit(first.id);
  return {
    nodes: tasks.map((task) => ({
      id: task.id,
      handler: task.handler,
      label: task.id,
      start: task === first,
      tools: [...(task.execute_config?.tools ?? [])],
    })),
    edges,
    unreachable: tasks.filter(({ id }) => !reached.has(id)).map(({ id }) => id),
  };
}

function edgesOf({ id, transition }: Task): ChainGraph['edges'] {
  const { on_failure, branches = [] } = transition ?? {};
  const end = (goto: string | undefined): string => (goto === undefined || goto === '' ? 'end' : goto);
  return [
    ...branches.map(({ operator, when = '', goto }) => ({
      from: id,
      to: end(goto),
      operator,
      when,
      label: when === '' ? operator : `${operator} ${when}`,
    })),
    ...(on_failure === undefined || on_failure === ''
      ? []
      : [{ from: id, to: on_failure, operator: 'on_failure', when: '', label: 'on failure' }]),
  ];
}
