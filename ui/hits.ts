import type { Line, Span } from '../src/view/line.ts';

/** Whether a text holds a query. Case counts where the query has a capital. */
export function holds(query: string): (text: string) => boolean {
  const exact = /\p{Lu}/u.test(query);
  const wanted = exact ? query : query.toLowerCase();
  return (text) => (exact ? text : text.toLowerCase()).includes(wanted);
}

/** A row with the hits of a search in reverse video (10 §5.6). Case counts where the query has a capital. */
export function markHits(line: Line, query: string): Line {
  if (query === '') return line;
  const exact = /\p{Lu}/u.test(query);
  const fold = (text: string) => (exact ? text : text.toLowerCase());
  const wanted = fold(query);
  return line.flatMap((span): readonly Span[] => {
    const text = fold(span.text);
    if (text.length !== span.text.length || !text.includes(wanted)) return [span];
    const out: Span[] = [];
    let from = 0;
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, from)) {
      // Parts of a safe text are safe.
      out.push({ ...span, text: span.text.slice(from, at) as Span['text'] });
      out.push({ ...span, text: span.text.slice(at, at + wanted.length) as Span['text'], token: 'hit' });
      from = at + wanted.length;
    }
    out.push({ ...span, text: span.text.slice(from) as Span['text'] });
    return out.filter((each) => each.text !== '');
  });
}
