import type { ChainGraph } from '../schema/document-views.ts';

/** A chain as text: a task a block, the ways that lead from it in the order in which they are tried. */
export function graphLines({ nodes, edges, unreachable }: ChainGraph): readonly string[] {
  const places = new Map(nodes.map(({ id }, index) => [id, index]));
  const block = (id: string, index: number): readonly string[] =>
    edges
      .filter(({ from }) => from === id)
      .map(({ to, label }) => {
        const back = (places.get(to) ?? Number.POSITIVE_INFINITY) <= index ? '  (back)' : '';
        return `    ${label} -> ${to}${back}`;
      });
  return nodes.flatMap(({ id, handler, start, tools }, index) => {
    const marks = [...(start ? ['start'] : []), ...(unreachable.includes(id) ? ['unreachable'] : [])];
    const shown = marks.length === 0 ? '' : `  [${marks.join(', ')}]`;
    const offered = tools.length === 0 ? '' : `  tools: ${tools.join(' ')}`;
    const ways = block(id, index);
    return [`${id} (${handler})${shown}${offered}`, ...(ways.length === 0 ? ['    ends the run'] : ways)];
  });
}
