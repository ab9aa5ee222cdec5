import { type Lane, lanes, type Scale, type Span } from '../../src/view/timeline.ts';

export type Bar = {
  readonly id: string;
  readonly x: number;
  readonly width: number;
  /** One, unless they are too small to be told apart. */
  readonly spans: readonly Span[];
};

/** Below this many pixels bars of a lane become one with a count. */
const leastPx = 2;

/** What is drawn in each lane at this many pixels: never more bars than there is room for. */
export function barsOf(
  spans: readonly Span[],
  scale: Scale,
  width: number,
  now: number,
): ReadonlyMap<Lane, readonly Bar[]> {
  const perMs = width / scale.total;
  return new Map(
    lanes.map((lane) => {
      const bars: Bar[] = [];
      for (const span of spans) {
        if (span.lane !== lane) continue;
        const from = scale.at(span.from) * perMs;
        const wide = Math.max(lane === 'policy' ? leastPx : 3, scale.at(span.to ?? now) * perMs - from);
        // What has just begun stands at the edge, and not behind it.
        const x = Math.max(0, Math.min(from, width - wide));
        const last = bars.at(-1);
        if (last !== undefined && x + wide < last.x + last.width + leastPx && wide <= leastPx + 2) {
          bars[bars.length - 1] = {
            ...last,
            width: Math.max(last.width, x + wide - last.x),
            spans: [...last.spans, span],
          };
        } else bars.push({ id: span.id, x, width: wide, spans: [span] });
      }
      return [lane, bars];
    }),
  );
}
