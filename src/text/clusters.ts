/** How much is segmented at a time: a segmenter copies its whole text for each cluster that it gives. */
const window = 512;

let kept: Intl.Segmenter | null = null;
// Made once: building one costs as much as a few hundred steps with it.
const segmenter = (): Intl.Segmenter => {
  kept ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return kept;
};

/**
 * The grapheme clusters of a text, what a person takes for one character, in order. It takes time in proportion to the
 * text, where the segmenter alone takes its square: seconds for 64 KB, and gigabytes when the clusters are kept.
 */
export function* clusters(text: string): Generator<string, void, undefined> {
  let from = 0;
  let room = window;
  while (from < text.length) {
    const end = wholeEnd(text, from + room);
    let held = '';
    for (const { segment } of segmenter().segment(text.slice(from, end))) {
      if (held !== '') {
        yield held;
        from += held.length;
      }
      held = segment;
    }
    if (end === text.length) {
      yield held;
      return;
    }
    // The last cluster may go on behind the window: it begins the next one, and one that fills a window gets more room.
    room = held.length > room / 2 ? room * 2 : window;
  }
}

/** The nearest end at or behind a place that parts no surrogate pair: half a pair would join what the whole one parts. */
function wholeEnd(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}

/** What `measure` gives for the clusters of a text, summed up: for a measure that segments its text as well. */
export function sumOfClusters(text: string, measure: (cluster: string) => number): number {
  if (text.length <= window) return measure(text);
  let sum = 0;
  for (const cluster of clusters(text)) sum += measure(cluster);
  return sum;
}
