/**
 * A component knows where the caret is inside of it and not where it is itself: it marks the cluster by a rendition that
 * nothing else uses (overline), and the screen takes the mark out of the finished frame and puts the cursor there. Foreign
 * text holds no escape sequence when it gets here, so it cannot carry the mark.
 */
const on = '\u001b[53m';
const off = '\u001b[55m';

export const markCaret = (cluster: string): string => `${on}${cluster}${off}`;

/** The row without the mark, and the columns before it are those of `before`; null where the row has no caret. */
export function takeCaret(row: string): { readonly row: string; readonly before: string } | null {
  const at = row.indexOf(on);
  if (at < 0) return null;
  return { row: row.replaceAll(on, '').replaceAll(off, ''), before: row.slice(0, at) };
}
