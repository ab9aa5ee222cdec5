import { Graph, layout } from '@dagrejs/dagre';
import type { ChainGraph } from '../../src/schema/document-views.ts';

export type Point = { readonly x: number; readonly y: number };
export type PlacedNode = Point & {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  readonly handler: string;
  readonly label: string;
  /** Of the tools that it may use; empty = none. */
  readonly tools: string;
  readonly start: boolean;
  readonly end: boolean;
  readonly unreachable: boolean;
};
export type PlacedEdge = {
  readonly from: string;
  readonly to: string;
  readonly label: string;
  /** Failure edges are drawn as such. */
  readonly failure: boolean;
  /** It leads back up: drawn around the outside. */
  readonly back: boolean;
  readonly path: string;
  readonly at: Point;
};
export type Picture = {
  /** Where it begins from the left. */
  readonly x: number;
  readonly width: number;
  readonly height: number;
  /** In the order in which they are reached. */
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
};

/** What dagre has written into the label of an edge. */
type Placed = Point & { readonly width: number; readonly points: readonly Point[] };

const nodeWidth = 206;
const nodeHeight = 58;
const margin = 24;
export const endNode = 'end';

/** Places for the tasks of a chain from top to bottom, and curves for its transitions. */
export function layOut(graph: ChainGraph): Picture {
  const order = reached(graph);
  const rank = new Map(order.map((id, place) => [id, place]));
  const isBack = (from: string, to: string): boolean => (rank.get(to) ?? 0) <= (rank.get(from) ?? 0);
  const drawn = new Graph({ multigraph: true });
  drawn.setGraph({ rankdir: 'TB', nodesep: 46, ranksep: 62, marginx: margin, marginy: margin });
  drawn.setDefaultEdgeLabel(() => ({}));
  for (const id of order) {
    drawn.setNode(id, { width: id === endNode ? 64 : nodeWidth, height: id === endNode ? 34 : nodeHeight });
  }
  for (const [index, { from, to, label }] of graph.edges.entries()) {
    // What leads back says nothing about who stands above whom.
    if (rank.has(from) && rank.has(to) && !isBack(from, to)) drawn.setEdge(from, to, labelOf(label), String(index));
  }
  layout(drawn);
  const known = new Map(graph.nodes.map((node) => [node.id, node]));
  const unreachable = new Set(graph.unreachable);
  const nodes = order.map((id): PlacedNode => {
    const place = drawn.node(id) as Point & { readonly width: number; readonly height: number };
    const node = known.get(id);
    return {
      id,
      x: place.x,
      y: place.y,
      width: place.width,
      height: place.height,
      handler: node?.handler ?? '',
      label: node?.label ?? id,
      tools: toolWords(node?.tools ?? []),
      start: node?.start === true,
      end: id === endNode,
      unreachable: unreachable.has(id),
    };
  });
  const at = new Map(nodes.map((node) => [node.id, node]));
  // What leads back goes around the tasks and around what leads forward past them, with its words.
  const wide = [
    ...nodes.map(({ x, width }) => [x - width / 2, x + width / 2] as const),
    ...drawn.edges().map((name: Parameters<typeof drawn.edge>[0]) => {
      const placed: Placed = drawn.edge(name);
      const half = placed.width / 2 - 12;
      const points = placed.points.map(({ x }) => x);
      return [Math.min(placed.x - half, ...points), Math.max(placed.x + half, ...points)] as const;
    }),
  ];
  const left = Math.min(...wide.map(([from]) => from), margin);
  const right = Math.max(...wide.map(([, to]) => to), left + nodeWidth);
  const used = { left: 0, right: 0 };
  const edges = graph.edges.flatMap(({ from, to, operator, label }, index): PlacedEdge[] => {
    const a = at.get(from);
    const b = at.get(to);
    if (a === undefined || b === undefined) return [];
    const back = isBack(from, to);
    const edge = { from, to, label, failure: operator === 'on_failure', back };
    if (!back) {
      // What dagre has written into the label that it was given.
      const placed: Placed = drawn.edge(from, to, String(index));
      return [{ ...edge, path: curve(placed.points), at: { x: placed.x, y: placed.y } }];
    }
    const side = freeSide(a, nodes);
    used[side] += 1;
    const sign = side === 'right' ? 1 : -1;
    const far = (side === 'right' ? right : left) + sign * (30 + used[side] * 26);
    const start = { x: a.x + (sign * a.width) / 2, y: a.y + 8 };
    const goal = { x: b.x + (sign * b.width) / 2, y: b.y - 8 };
    const path = `M${start.x},${start.y} C${far},${start.y} ${far},${goal.y} ${goal.x},${goal.y}`;
    // Words of those that go around together stand below each other.
    const y = (start.y + goal.y) / 2 + (used[side] - 1) * 16;
    return [{ ...edge, path, at: { x: far - sign * 8, y } }];
  });
  // Words of an edge may stand further out than any task.
  const reach = edges.map(({ at: { x: middle }, label }) => middle + labelOf(label).width / 2);
  const far = Math.max(right + (used.right === 0 ? 0 : 56 + used.right * 26), ...reach) + margin;
  const room = (count: number): number => (count === 0 ? margin : 80 + count * 26);
  const x = left - room(used.left);
  const bottom = Math.max(...nodes.map(({ y, height }) => y + height / 2), nodeHeight);
  return { x, width: far - x, height: bottom + margin, nodes, edges };
}

/** The side of a task on which fewer others stand in its row. */
function freeSide(task: PlacedNode, nodes: readonly PlacedNode[]): 'left' | 'right' {
  const row = nodes.filter((other) => other !== task && Math.abs(other.y - task.y) < (task.height + other.height) / 2);
  const before = row.filter(({ x }) => x < task.x).length;
  return before < row.length - before ? 'left' : 'right';
}

/** Room for the words of an edge. */
const labelOf = (label: string) => ({ width: Math.min(34, label.length) * 7 + 30, height: 18, labelpos: 'c' as const });

/** Tasks in the order in which a run can come to them, breadth first; what it cannot come to and the end stand last. */
function reached(graph: ChainGraph): readonly string[] {
  const first = graph.nodes.find(({ start }) => start)?.id ?? graph.nodes[0]?.id;
  const order: string[] = first === undefined ? [] : [first];
  for (const id of order) {
    for (const { from, to } of graph.edges) {
      if (from === id && to !== endNode && !order.includes(to) && graph.nodes.some((node) => node.id === to))
        order.push(to);
    }
  }
  for (const { id } of graph.nodes) if (!order.includes(id)) order.push(id);
  return graph.edges.some(({ to }) => to === endNode) ? [...order, endNode] : order;
}

function toolWords(tools: readonly string[]): string {
  if (tools.includes('*')) return tools.length === 1 ? 'all tools' : 'some tools';
  return tools.length === 0 ? '' : tools.length === 1 ? '1 tool' : `${tools.length} tools`;
}

/** A smooth way through points. */
function curve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  let path = `M${first.x},${first.y}`;
  for (const [index, point] of rest.entries()) {
    const next = rest[index + 1];
    if (next === undefined) path += ` L${point.x},${point.y}`;
    else path += ` Q${point.x},${point.y} ${(point.x + next.x) / 2},${(point.y + next.y) / 2}`;
  }
  return path;
}
