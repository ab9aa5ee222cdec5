import { Graph, layout } from '@dagrejs/dagre';
import type { ChainGraph } from '../../src/schema/document-views.ts';

export type Point = { readonly x: number; readonly y: number };
export type PlacedNode = Point & {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  readonly handler: string;
  readonly label: string;
  readonly tools: number;
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
  readonly width: number;
  readonly height: number;
  /** In the order in which they are reached. */
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
};

const nodeWidth = 190;
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
  for (const [index, { from, to }] of graph.edges.entries()) {
    // What leads back says nothing about who stands above whom.
    if (rank.has(from) && rank.has(to) && !isBack(from, to)) drawn.setEdge(from, to, {}, String(index));
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
      tools: node?.tools.length ?? 0,
      start: node?.start === true,
      end: id === endNode,
      unreachable: unreachable.has(id),
    };
  });
  const at = new Map(nodes.map((node) => [node.id, node]));
  const right = Math.max(...nodes.map(({ x, width }) => x + width / 2), nodeWidth);
  let outside = 0;
  const edges = graph.edges.flatMap(({ from, to, operator, label }, index): PlacedEdge[] => {
    const a = at.get(from);
    const b = at.get(to);
    if (a === undefined || b === undefined) return [];
    const back = isBack(from, to);
    const edge = { from, to, label, failure: /fail|error/.test(operator), back };
    if (back) {
      outside += 1;
      const far = right + 18 + outside * 22;
      const start = { x: a.x + a.width / 2, y: a.y + 8 };
      const goal = { x: b.x + b.width / 2, y: b.y - 8 };
      const path = `M${start.x},${start.y} C${far},${start.y} ${far},${goal.y} ${goal.x},${goal.y}`;
      return [{ ...edge, path, at: { x: far - (far - right) * 0.25, y: (start.y + goal.y) / 2 } }];
    }
    const points = (drawn.edge(from, to, String(index)) as { readonly points: readonly Point[] }).points;
    return [{ ...edge, path: curve(points), at: points[Math.floor(points.length / 2)] ?? a }];
  });
  return {
    width: right + margin + (outside === 0 ? 0 : 18 + (outside + 1) * 22 + 60),
    height: Math.max(...nodes.map(({ y, height }) => y + height / 2), nodeHeight) + margin,
    nodes,
    edges,
  };
}

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
