import type { RunEvent } from '../schema/event.ts';

export const lanes = ['steps', 'model', 'tools', 'waiting', 'policy'] as const;
export type Lane = (typeof lanes)[number];

/** One thing that took time, or a moment. Times are milliseconds since the epoch; texts are as they came. */
export type Span = {
  readonly id: string;
  readonly lane: Lane;
  readonly label: string;
  readonly from: number;
  /** Null while it lasts. */
  readonly to: number | null;
  readonly state: 'ok' | 'failed' | 'denied' | 'open' | 'unknown' | 'plain';
  /** More about it: who answered, which rule, what failed. */
  readonly detail: string;
  readonly call_id: string | null;
  readonly ask_id: string | null;
};

/** A run as spans (09 §8.9), in the order in which they began. */
export type Timeline = { readonly spans: readonly Span[]; readonly from: number | null; readonly to: number | null };

export const emptyTimeline: Timeline = { spans: [], from: null, to: null };

/** Folds events of a run into its picture; pure, and the same for stored and for live events. */
export function reduceTimeline(timeline: Timeline, events: readonly RunEvent[]): Timeline {
  const spans = [...timeline.spans];
  // A task of a loop begins many times: what is open under its key is the newest.
  const places = new Map(spans.flatMap((span, place) => (span.to === null ? [[keyOf(span), place] as const] : [])));
  let { from, to } = timeline;

  const open: Draw['open'] = (key, seq, span) => {
    places.set(key, spans.length);
    spans.push({ ...none, state: 'open', ...span, id: `${key}#${seq}`, to: null });
  };
  const close: Draw['close'] = (key, at, change) => {
    const place = places.get(key);
    const span = place === undefined ? undefined : spans[place];
    if (place !== undefined && span?.to === null) spans[place] = { ...span, ...change, to: at };
  };
  const moment: Draw['moment'] = (span) => void spans.push({ ...span, to: span.from });

  for (const event of events) {
    const at = Date.parse(event.timestamp);
    from = Math.min(from ?? at, at);
    to = Math.max(to ?? at, at);
    apply(event, at, { open, close, moment, endAll: (state) => endAll(spans, at, state) });
  }
  return { spans, from, to };
}

const keyOf = ({ id }: Span): string => id.slice(0, id.lastIndexOf('#'));

type Draw = {
  readonly open: (
    key: string,
    seq: number,
    span: Pick<Span, 'lane' | 'label' | 'from'> & Partial<Pick<Span, 'detail' | 'call_id' | 'ask_id'>>,
  ) => void;
  readonly close: (key: string, at: number, change: Partial<Span>) => void;
  readonly moment: (span: Omit<Span, 'to'>) => void;
  readonly endAll: (state: Span['state']) => void;
};

const none = { call_id: null, ask_id: null, detail: '' } as const;

function apply(event: RunEvent, at: number, { open, close, moment, endAll }: Draw): void {
  switch (event.kind) {
    case 'step_started':
      open(stepKey(event), event.seq, { lane: 'steps', label: event.task_id, detail: event.task_handler, from: at });
      return;
    case 'step_completed':
      close(stepKey(event), at, { state: 'plain', detail: `${event.task_handler}, then ${event.next}` });
      return;
    case 'step_failed':
      close(`${stepKey(event)} model`, at, { state: 'failed' });
      close(stepKey(event), at, { state: 'failed', detail: `${event.error.class}: ${event.error.message}` });
      return;
    case 'model_selected':
      open(`${stepKey(event)} model`, event.seq, {
        lane: 'model',
        label: event.model,
        detail: event.backend,
        from: at,
      });
      return;
    case 'step_stream_end':
      close(`${stepKey(event)} model`, at, {
        state: 'plain',
        detail: `ended with ${event.finish_reason ?? 'nothing'}`,
      });
      return;
    case 'policy_decision':
      moment({
        ...none,
        id: `${event.call_id}#${event.seq}`,
        lane: 'policy',
        label: `${event.tools}.${event.tool}`,
        detail: `${event.action}, ${event.rule === null ? event.reason : `rule ${event.rule + 1}`}`,
        state: event.action === 'allow' ? 'ok' : event.action === 'deny' ? 'denied' : 'plain',
        from: at,
        call_id: event.call_id,
      });
      return;
    case 'tool_call_started':
      open(event.call_id, event.seq, {
        lane: 'tools',
        label: `${event.tools}.${event.tool}`,
        from: at,
        call_id: event.call_id,
      });
      return;
    case 'tool_call':
      close(event.call_id, at, {
        state: event.ok ? 'ok' : event.error === 'denied' ? 'denied' : 'failed',
        detail: event.ok ? 'ok' : (event.error ?? 'failed'),
      });
      return;
    case 'ask':
      open(event.ask_id, event.seq, {
        lane: 'waiting',
        label: `${event.tools}.${event.tool}`,
        from: at,
        call_id: event.call_id,
        ask_id: event.ask_id,
      });
      return;
    case 'verdict':
      close(event.ask_id, at, { state: 'plain', detail: `${event.verdict} by ${event.by}` });
      return;
    case 'chain_completed':
    case 'chain_failed':
    case 'chain_cancelled':
      endAll('unknown');
      return;
    default:
      return;
  }
}

const stepKey = ({ task_id, attempt }: { readonly task_id: string; readonly attempt: number }): string =>
  `${task_id} ${attempt}`;

/** Nothing goes on behind the end of a run: what had begun and was not heard of again is unknown. */
function endAll(spans: Span[], at: number, state: Span['state']): void {
  for (const [place, span] of spans.entries()) if (span.to === null) spans[place] = { ...span, to: at, state };
}

/** How long nothing happens until it is drawn shorter, and how long it is then drawn, in milliseconds. */
const idleMs = 10_000;
const drawnMs = 2_000;

export type Scale = {
  /** Milliseconds as they are drawn, from the start. */
  readonly at: (time: number) => number;
  readonly total: number;
  /** Where time was left out: place, and how long it was. */
  readonly gaps: readonly { readonly at: number; readonly ms: number }[];
};

/** A scale on which long times in which only somebody is waited for take little room, and say so. */
export function scaleOf({ spans, from, to }: Timeline, now: number): Scale {
  const start = from ?? now;
  const end = Math.max(to ?? now, ...spans.flatMap((span) => (span.to === null ? [now] : [])), start + 1);
  const busy = spans.filter(({ lane }) => lane === 'model' || lane === 'tools');
  const marks = [...new Set([start, end, ...spans.flatMap((span) => [span.from, span.to ?? end])])].sort(
    (left, right) => left - right,
  );
  const covered = coverOf(busy.map((span) => [span.from, span.to ?? end]));
  const gaps: { from: number; to: number }[] = [];
  for (const [place, mark] of marks.entries()) {
    const next = marks[place + 1];
    if (next !== undefined && next - mark > idleMs && !covered(mark, next)) gaps.push({ from: mark, to: next });
  }
  const at = (time: number): number => {
    let left = 0;
    for (const gap of gaps) {
      if (time <= gap.from) break;
      const inside = Math.min(time, gap.to) - gap.from;
      left += inside - (inside / (gap.to - gap.from)) * drawnMs;
    }
    return time - start - left;
  };
  return { at, total: Math.max(1, at(end)), gaps: gaps.map((gap) => ({ at: at(gap.from), ms: gap.to - gap.from })) };
}

/** Whether one of the intervals reaches into another one; they are sorted once. */
function coverOf(intervals: readonly (readonly [from: number, to: number])[]) {
  const sorted = [...intervals].sort(([left], [right]) => left - right);
  const merged: [number, number][] = [];
  for (const [from, to] of sorted) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return (from: number, to: number): boolean => merged.some((each) => each[0] < to && each[1] > from);
}
