import { useEffect, useLayoutEffect, useRef } from 'react';
import type { Item } from '../../src/view/items.ts';
import { isReturning } from '../data/places.ts';
import type { Chat } from './use-chat.ts';

/** A row, and how many of its pixels are above the view. */
export type Place = { readonly id: string; readonly above: number };

/** Where each conversation was read when it was left; absent: at its end. */
const left = new Map<string, Place>();

/** Messages that are read at once on the way to a place. */
const atOnce = 1000;

/**
 * Goes back to the place of a conversation, too, where somebody goes back to its page.
 * @param place where it is read now; null = at its end
 * @param show puts a place at the top of the view
 */
export function useReturn(
  { items, older }: { readonly items: readonly Item[]; readonly older: Chat['older'] },
  place: () => Place | null,
  show: (place: Place) => void,
): void {
  const address = useRef(location.pathname);
  const wanted = useRef(isReturning() ? (left.get(address.current) ?? null) : null);
  const latest = useRef({ place, show });
  latest.current = { place, show };
  useLayoutEffect(() => {
    const { current: now } = latest;
    const before = wanted.current;
    if (before === null || items.length === 0) return;
    // Whoever has gone elsewhere meanwhile stays there.
    if (now.place() !== null) wanted.current = null;
    else if (items.some(({ id }) => id === before.id)) {
      wanted.current = null;
      now.show(before);
    } else if (older === null) wanted.current = null;
    else void older(atOnce).catch(() => undefined);
  }, [items, older]);
  // Rows are measured as they are drawn, so it is looked at before they are gone.
  useLayoutEffect(() => {
    const { current: key } = address;
    return () => {
      const now = latest.current.place();
      if (now === null) left.delete(key);
      else left.set(key, now);
    };
  }, []);
  useEffect(() => {
    const stop = () => {
      wanted.current = null;
    };
    for (const act of acts) addEventListener(act, stop);
    return () => {
      for (const act of acts) removeEventListener(act, stop);
    };
  }, []);
}

const acts = ['wheel', 'touchstart', 'keydown', 'pointerdown'] as const;
