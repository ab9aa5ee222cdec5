import type { Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useRef } from 'react';

/** A row, and how many of its pixels are above the view. */
export type RowPlace = { readonly index: number; readonly above: number };

type View = {
  readonly element: RefObject<HTMLElement | null>;
  /** Where the view was when it was last looked at; noted here when it is moved. */
  readonly top: RefObject<number>;
  readonly printing: boolean;
};

/**
 * Keeps a row at the top of the view while rows around it are drawn and measured: `put` moves the view there, and belongs
 * behind each drawing; `keepAt` chooses the row, null for none, as when somebody scrolls; `isKept` tells whether there is one.
 */
export function useKeptRow(rows: Virtualizer<HTMLDivElement, Element>, { element, top, printing }: View) {
  const keptAt = useRef<RowPlace | null>(null);
  const put = () => {
    const box = element.current;
    if (box === null || keptAt.current === null || printing) return;
    const { index, above } = keptAt.current;
    rows.getTotalSize();
    const wanted = (rows.measurementsCache[index]?.start ?? 0) + above;
    // A view that is there already may be on its way elsewhere under somebody's hand.
    if (Math.abs(box.scrollTop - wanted) >= 1) box.scrollTop = wanted;
    top.current = box.scrollTop;
  };
  // The library moves the view by what a row that begins above it turns out larger, from where it saw the view last, also
  // where that row is kept in its place. Rows that lie as on paper lie nowhere: the view is put back behind it.
  const letAdjust = () => {
    const isPut = printing || keptAt.current !== null;
    rows.shouldAdjustScrollPositionOnItemSizeChange = isPut ? () => false : undefined;
  };
  letAdjust();
  const keepAt = (place: RowPlace | null) => {
    keptAt.current = place;
    letAdjust();
    put();
  };
  return { put, keepAt, isKept: () => keptAt.current !== null };
}
