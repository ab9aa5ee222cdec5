/** What is no part of what was said. */
const beside = '.sr, .button, textarea';
/** What ends a line of text: nothing is found across its edge. */
const blocks = 'p, li, td, th, h2, h3, pre, blockquote, button, div, article, section, span.tag';

/** Where a text stands in the rows that are in the page, each row with its places in their order. */
export function placesIn(box: HTMLElement, pattern: RegExp): ReadonlyMap<HTMLElement, readonly Range[]> {
  const every = new RegExp(pattern.source, `${pattern.flags}g`);
  return new Map(
    [...box.querySelectorAll<HTMLElement>('.transcript-row')].map((row) => [row, placesInRow(row, every)]),
  );
}

function placesInRow(row: HTMLElement, every: RegExp): readonly Range[] {
  const found: Range[] = [];
  let block: Element | null = null;
  let pieces: { readonly node: Text; readonly from: number }[] = [];
  let text = '';
  const end = () => {
    for (const { index, 0: part } of text.matchAll(every)) found.push(rangeOf(pieces, index, index + part.length));
    pieces = [];
    text = '';
  };
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!(node instanceof Text) || parent === null || parent.closest(beside) !== null) continue;
    const own = parent.closest(blocks);
    if (own !== block) end();
    block = own;
    pieces.push({ node, from: text.length });
    text += node.data;
  }
  end();
  return found;
}

function rangeOf(pieces: readonly { readonly node: Text; readonly from: number }[], from: number, to: number): Range {
  const range = document.createRange();
  const first = pieces.findLast((piece) => piece.from <= from);
  const last = pieces.findLast((piece) => piece.from < to);
  if (first !== undefined) range.setStart(first.node, from - first.from);
  if (last !== undefined) range.setEnd(last.node, to - last.from);
  return range;
}

/** Colours places of the page, and one of them in another way. Where a browser cannot, the mark of the row has to do. */
export function colour(all: readonly Range[], here: Range | null): void {
  const { highlights } = CSS as { readonly highlights?: HighlightRegistry };
  if (highlights === undefined) return;
  highlights.set('found', new Highlight(...all));
  highlights.set('found-here', new Highlight(...(here === null ? [] : [here])));
}
