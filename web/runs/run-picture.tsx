import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { RunSummary } from '../../src/schema/run-record.ts';
import { escapeText } from '../../src/view/escape.ts';
import { formatSpan } from '../../src/view/format.ts';
import { lanes, scaleOf, type Span, type Timeline } from '../../src/view/timeline.ts';
import { Button } from '../parts/button.tsx';
import { Safe } from '../parts/safe.tsx';
import { type Bar, barsOf } from './bars.ts';
import { useTimeline } from './use-timeline.ts';
import '../styles/runs.css';

/** The picture of a run, read by itself. */
export function RunPicture({
  run,
  compact = false,
}: {
  readonly run: Pick<RunSummary, 'id' | 'status'>;
  readonly compact?: boolean;
}) {
  const timeline = useTimeline(run.id);
  return <TimelinePicture timeline={timeline} runId={run.id} goesOn={goesOn(run)} compact={compact} />;
}

const laneHeight = 30;
const labelPx = 62;
const mostZoom = 200;
const letterPx = 7;

/** Five lanes over one axis of time (09 §8.9). Hover or focus tells the facts; Enter opens the call. */
export function TimelinePicture({
  timeline,
  runId,
  goesOn,
  compact = false,
}: {
  readonly timeline: Timeline;
  readonly runId: string;
  /** What is open in it lasts until now. */
  readonly goesOn: boolean;
  readonly compact?: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState(0);
  const [zoom, setZoom] = useState(1);
  const [told, tell] = useState<Bar | null>(null);
  const [, go] = useLocation();
  const now = useNow(goesOn && timeline.spans.some(({ to }) => to === null), timeline.to ?? 0);
  const scale = useMemo(() => scaleOf(timeline, now), [timeline, now]);
  const width = Math.max(60, (room - labelPx) * zoom);
  const bars = useMemo(() => barsOf(timeline.spans, scale, width, now), [timeline, scale, width, now]);

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const watch = new ResizeObserver(([entry]) => setRoom(entry?.contentRect.width ?? 0));
    watch.observe(element);
    // React listens to the wheel passively, and the browser would zoom the page.
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      setZoom((before) => Math.min(mostZoom, Math.max(1, before * (event.deltaY < 0 ? 1.25 : 0.8))));
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => {
      watch.disconnect();
      element.removeEventListener('wheel', onWheel);
    };
  }, []);

  const zoomBy = (factor: number) => setZoom((before) => Math.min(mostZoom, Math.max(1, before * factor)));
  const onKey = (event: KeyboardEvent) => {
    if (event.key === '+') zoomBy(1.5);
    else if (event.key === '-') zoomBy(1 / 1.5);
    else if (event.key === '0') setZoom(1);
    else return;
    event.preventDefault();
  };
  const openBar = (bar: Bar) => {
    const [span] = bar.spans;
    if (span?.ask_id != null) go(`/approvals/${span.ask_id}`);
    else if (span?.call_id != null) go(`/runs/${runId}?tab=calls&call=${span.call_id}`);
  };
  const height = lanes.length * laneHeight + 18;
  return (
    <div className="timeline stack tight">
      {compact ? null : (
        <div className="row">
          <Button size="small" onClick={() => zoomBy(1.5)} aria-label="Zoom in">
            +
          </Button>
          <Button size="small" onClick={() => zoomBy(1 / 1.5)} aria-label="Zoom out">
            −
          </Button>
          <Button size="small" onClick={() => setZoom(1)}>
            Fit
          </Button>
          <span className="small muted">
            {formatSpan((timeline.to ?? 0) - (timeline.from ?? 0))}
            {scale.gaps.length === 0 ? '' : `, ${scale.gaps.length} idle times drawn short`}
          </span>
        </div>
      )}
      <div className="timeline-box" ref={box}>
        <ul className="timeline-lanes" aria-hidden="true">
          {lanes.map((lane) => (
            <li key={lane}>{lane}</li>
          ))}
        </ul>
        <section className="timeline-scroll" aria-label="Timeline" onKeyDown={onKey} {...scrolls}>
          <svg width={width} height={height} {...pictured}>
            <title>Timeline of the run</title>
            <defs>
              <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
                <rect width="3" height="6" className="hatch" />
              </pattern>
            </defs>
            {lanes.map((lane, place) => (
              <line
                key={lane}
                x1="0"
                x2={width}
                y1={(place + 1) * laneHeight - 0.5}
                y2={(place + 1) * laneHeight - 0.5}
                className="lane-line"
              />
            ))}
            {scale.gaps.map((gap) => (
              <g key={gap.at}>
                <line
                  x1={(gap.at / scale.total) * width + 6}
                  x2={(gap.at / scale.total) * width + 6}
                  y1="0"
                  y2={lanes.length * laneHeight}
                  className="gap-line"
                />
                <text x={(gap.at / scale.total) * width + 8} y={height - 4} className="axis">
                  {formatSpan(gap.ms)} idle
                </text>
              </g>
            ))}
            {lanes.flatMap((lane, place) =>
              (bars.get(lane) ?? []).map((bar) => (
                <BarView key={bar.id} bar={bar} y={place * laneHeight + 5} onTell={tell} onOpen={() => openBar(bar)} />
              )),
            )}
          </svg>
        </section>
      </div>
      <p className="timeline-told small" aria-live="off">
        {told === null ? (
          <span className="muted">{compact ? '' : 'Point at a bar, or move to it with Tab.'}</span>
        ) : (
          <Told bar={told} />
        )}
      </p>
    </div>
  );
}

const growMs = 1000;

/** Whether a process has the run, or a person is waited for. */
export const goesOn = ({ status }: Pick<RunSummary, 'status'>): boolean =>
  status === 'running' || status === 'waiting' || status === 'suspended';

/** The time that something open has lasted until, once a second; else the last that is known. */
function useNow(open: boolean, known: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!open) return;
    const look = () => setNow(Date.now());
    look();
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const timer = setInterval(look, still ? growMs * 30 : growMs);
    return () => clearInterval(timer);
  }, [open]);
  return open ? Math.max(now, known) : known;
}

const scrolls = { tabIndex: 0 } as const;
const pictured = { role: 'group', 'aria-label': 'Bars of the run by time' } as const;

const lookOf = ({ lane, state }: Span): string => `bar-${lane} bar-${state}`;

const factsOf = (span: Span): string =>
  [
    span.label,
    span.detail,
    span.lane === 'policy' ? '' : span.to === null ? 'goes on' : formatSpan(span.to - span.from),
  ]
    .filter((part) => part !== '')
    .join(' · ');

function BarView({
  bar,
  y,
  onTell,
  onOpen,
}: {
  readonly bar: Bar;
  readonly y: number;
  readonly onTell: (bar: Bar | null) => void;
  readonly onOpen: () => void;
}) {
  const [span] = bar.spans;
  if (span === undefined) return null;
  const many = bar.spans.length > 1;
  const label = many ? `${bar.spans.length} × ${span.lane}` : factsOf(span);
  // Written whole or not at all: a name that is cut is another name.
  const written = escapeText(many ? `${bar.spans.length} ×` : span.label, { mode: 'line' });
  const tall = 20;
  // SVG has no button of its own.
  const asButton = {
    role: 'button',
    tabIndex: 0,
    onMouseEnter: () => onTell(bar),
    onMouseLeave: () => onTell(null),
    onFocus: () => onTell(bar),
    onBlur: () => onTell(null),
    onClick: onOpen,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === 'Enter') onOpen();
    },
  };
  return (
    <g
      aria-label={`${span.lane}: ${escapeText(label, { mode: 'line' })}`}
      className={`bar-group ${lookOf(span)}`}
      {...asButton}
    >
      <rect x={bar.x} y={y} width={bar.width} height={tall} rx={span.lane === 'policy' ? 0 : 3} />
      {span.state === 'open' || span.state === 'unknown' ? (
        <rect x={bar.x} y={y} width={bar.width} height={tall} rx="3" fill="url(#hatch)" className="hatched" />
      ) : null}
      {span.lane !== 'policy' && bar.width > written.length * letterPx + 10 ? (
        <text x={bar.x + 5} y={y + 14} className="bar-text">
          {written}
        </text>
      ) : null}
    </g>
  );
}

const Told = ({ bar }: { readonly bar: Bar }) => {
  const [span] = bar.spans;
  if (span === undefined) return null;
  return (
    <span className="mono">
      <Safe
        text={
          bar.spans.length > 1
            ? `${bar.spans.length} of ${span.lane}: ${bar.spans.slice(0, 4).map(factsOf).join('; ')}…`
            : factsOf(span)
        }
      />
    </span>
  );
};
