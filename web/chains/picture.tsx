import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type { ChainGraph } from '../../src/schema/document-views.ts';
import { Button } from '../parts/button.tsx';
import { numbered } from '../parts/numbered.ts';
import { edgeKey, type Taken } from './taken.ts';
import { endNode, layOut, type PlacedEdge, type PlacedNode } from './layout.ts';
import '../styles/graph.css';

const leastZoom = 0.3;
const mostZoom = 2.5;
/** Of the frame, in pixels, without its border (styles/graph.css). */
const frameHeight = 508;
const leastFit = 0.6;

/** A chain as a picture: tasks from top to bottom, what leads back around the outside, the way of the last run marked. */
export function ChainPicture({
  graph,
  taken,
  selected,
  onSelect,
}: {
  readonly graph: ChainGraph;
  readonly taken: Taken | null;
  readonly selected: string | null;
  readonly onSelect: (task: string) => void;
}) {
  const picture = layOut(graph);
  const [zoom, setZoom] = useState<number | null>(null);
  const frame = useRef<HTMLElement>(null);
  const { width, x } = picture;
  const startX = picture.nodes.find(({ start }) => start)?.x ?? x;
  const isFitted = zoom === null;
  // Where it is wider than its frame, the first thing to see is where the chain begins.
  useEffect(() => {
    const shown = frame.current;
    if (shown !== null && isFitted)
      shown.scrollLeft = ((startX - x) / width) * shown.scrollWidth - shown.clientWidth / 2;
  }, [isFitted, startX, x, width]);
  const scale = (by: number) => {
    const now = zoom ?? (frame.current?.querySelector('svg')?.clientWidth ?? picture.width) / picture.width;
    setZoom(Math.min(mostZoom, Math.max(leastZoom, now * by)));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === '+' || event.key === '=') scale(1.2);
    else if (event.key === '-') scale(1 / 1.2);
    else if (event.key === '0') setZoom(null);
  };
  return (
    <div className="stack tight">
      <div className="row">
        <Button size="small" aria-label="Zoom in" onClick={() => scale(1.2)}>
          +
        </Button>
        <Button size="small" aria-label="Zoom out" onClick={() => scale(1 / 1.2)}>
          −
        </Button>
        <Button size="small" onClick={() => setZoom(null)}>
          Fit
        </Button>
        {taken === null ? (
          <span className="muted small">No run of it is among the last hundred.</span>
        ) : (
          <span className="small">
            <span className="taken-sign" aria-hidden="true" /> taken in the last run
          </span>
        )}
      </div>
      <section className="graph" aria-label="Picture of the chain" ref={frame} onKeyDown={onKeyDown}>
        <svg
          viewBox={`${picture.x} 0 ${picture.width} ${picture.height}`}
          style={zoom === null ? fitted(picture) : { width: picture.width * zoom }}
        >
          <title>{`${graph.nodes.length} tasks, ${graph.edges.length} transitions`}</title>
          <defs>
            <marker
              id="arrow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerUnits="userSpaceOnUse"
              markerWidth="10"
              markerHeight="10"
              orient="auto-start-reverse"
            >
              <path d="M0,0 L8,4 L0,8 z" className="arrow" />
            </marker>
          </defs>
          {numbered(picture.edges).map(({ key, part: edge }) => (
            <Edge key={key} edge={edge} times={taken?.edges.get(edgeKey(edge.from, edge.to)) ?? 0} />
          ))}
          {picture.nodes.map((node) => (
            <Node
              key={node.id}
              node={node}
              selected={node.id === selected}
              current={taken?.current === node.id}
              times={taken?.tasks.get(node.id) ?? 0}
              onSelect={onSelect}
            />
          ))}
        </svg>
      </section>
    </div>
  );
}

/** The whole of it in the frame, unless its words would be too small to be read. */
const fitted = ({ width, height }: { readonly width: number; readonly height: number }) => ({
  width: '100%',
  minWidth: width * leastFit,
  maxWidth: width,
  maxHeight: Math.max(frameHeight, height * leastFit),
});

function Edge({ edge, times }: { readonly edge: PlacedEdge; readonly times: number }) {
  const { path, at, label, failure, back } = edge;
  const words = times > 0 ? `${label} ×${times}` : label;
  return (
    <g className={`edge ${failure ? 'failure' : ''} ${back ? 'back' : ''} ${times > 0 ? 'taken' : ''}`}>
      <path d={path} markerEnd="url(#arrow)" />
      <text x={at.x} y={at.y} textAnchor="middle">
        {words.length > 34 ? `${words.slice(0, 33)}…` : words}
      </text>
    </g>
  );
}

function Node({
  node,
  selected,
  current,
  times,
  onSelect,
}: {
  readonly node: PlacedNode;
  readonly selected: boolean;
  readonly current: boolean;
  readonly times: number;
  readonly onSelect: (task: string) => void;
}) {
  const { id, x, y, width, height, handler, tools, start, end, unreachable } = node;
  if (end) {
    return (
      <g className="node end">
        <rect x={x - width / 2} y={y - height / 2} width={width} height={height} rx={height / 2} />
        <text x={x} y={y + 4} textAnchor="middle">
          {endNode}
        </text>
      </g>
    );
  }
  const marks = [start ? 'start' : '', unreachable ? 'cannot be reached' : '', current ? 'is being worked on' : ''];
  const said = [id, handler, tools, times > 0 ? `${times} times` : '', ...marks];
  const cut = (text: string): string => (text.length > 24 ? `${text.slice(0, 23)}…` : text);
  return (
    <a
      href={`#${encodeURIComponent(id)}`}
      className={`node ${selected ? 'selected' : ''} ${unreachable ? 'unreachable' : ''} ${current ? 'current' : ''} ${start ? 'start' : ''}`}
      aria-current={selected ? 'true' : undefined}
      onClick={(event) => {
        event.preventDefault();
        onSelect(id);
      }}
    >
      <title>{said.filter((part) => part !== '').join(', ')}</title>
      <rect x={x - width / 2} y={y - height / 2} width={width} height={height} rx={10} />
      <text x={x - width / 2 + 12} y={y - 5} className="node-id">
        {cut(id)}
      </text>
      <text x={x - width / 2 + 12} y={y + 15} className="node-handler">
        {cut(handler)}
        {tools === '' ? '' : ` · ${tools}`}
      </text>
      {start ? (
        <text x={x + width / 2 - 10} y={y - height / 2 - 5} textAnchor="end" className="node-mark">
          start
        </text>
      ) : null}
    </a>
  );
}

/** The same as a list, for who does not see pictures. */
export function ChainList({ graph }: { readonly graph: ChainGraph }) {
  return (
    <details className="small">
      <summary>The chain as a list</summary>
      <ul className="chain-list">
        {graph.nodes.map((node) => (
          <li key={node.id}>
            <strong>{node.id}</strong> <span className="muted">{node.handler}</span>
            {node.start ? ' (start)' : ''}
            {graph.unreachable.includes(node.id) ? ' (cannot be reached)' : ''}
            <ul>
              {graph.edges
                .filter(({ from }) => from === node.id)
                .map(({ to, label }) => (
                  <li key={`${to} ${label}`}>
                    {label} → {to}
                  </li>
                ))}
            </ul>
          </li>
        ))}
      </ul>
    </details>
  );
}
