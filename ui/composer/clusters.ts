/** Grapheme clusters of one text: what a person takes for one character (10 §6.1). */

let kept: Intl.Segmenter | null = null;
// Made once: building one costs as much as a few hundred steps with it.
const segmenter = (): Intl.Segmenter => {
  kept ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return kept;
};

/** Where the cluster before a place begins; 0 at the start. */
export function before(text: string, at: number): number {
  if (at <= 0) return 0;
  if (text.charCodeAt(at - 1) < 0x80 && text.charCodeAt(at) < 0x80) return at - 1;
  return (
    segmenter()
      .segment(text)
      .containing(at - 1)?.index ?? at - 1
  );
}

/** Where the cluster at a place ends; the length at the end. */
export function after(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const cluster = segmenter().segment(text).containing(at);
  return cluster === undefined ? at + 1 : cluster.index + cluster.segment.length;
}

/** The nearest cluster border at or before a place. */
export function border(text: string, at: number): number {
  if (at <= 0 || at >= text.length) return Math.max(0, Math.min(at, text.length));
  return segmenter().segment(text).containing(at)?.index ?? at;
}
