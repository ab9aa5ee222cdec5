import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { colour, placesIn } from './marks.ts';
import type { Sought, Step } from './use-find.ts';

type View = {
  readonly box: RefObject<HTMLElement | null>;
  /** Puts an item into the page and the view. */
  readonly show: (id: string) => void;
};

/** How far from the edges of the view a place is to be, in pixels. */
const marginPx = 48;

/** How long a place is kept in the view while rows around it are loaded and measured, unless somebody scrolls. */
const settleMs = 1000;
const byHand = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;

/** Marks what is looked for in the rows that are in the page, and brings what was gone to into the view. */
export function useShown(sought: Sought | null, view: View): void {
  const latest = useRef({ sought, view });
  latest.current = { sought, view };
  /** The place in the item that is shown; null until it is in the page. */
  const place = useRef<{ readonly turn: number; readonly index: number } | null>(null);

  const pattern = sought?.pattern ?? null;
  useEffect(() => {
    const box = latest.current.view.box.current;
    if (box === null || pattern === null) return;
    const places = () => {
      const found = placesIn(box, pattern);
      const here = [...found].find(([row]) => row.dataset['found'] === 'here')?.[1] ?? [];
      return { all: [...found.values()].flat(), here };
    };
    const draw = () => {
      const { sought: now } = latest.current;
      if (now === null) return;
      const { all, here } = places();
      const known = place.current?.turn === now.turn ? place.current.index : null;
      const index = Math.min(known ?? (now.by === 'older' ? here.length : 0), here.length - 1);
      const range = here[index] ?? null;
      colour(all, range);
      now.onPlace(index + 1, here.length);
      if (range === null) return;
      if (known === null) {
        place.current = { turn: now.turn, index };
        until = performance.now() + settleMs;
      }
      keepInView(range);
    };
    let until = 0;
    let settling = 0;
    const keepInView = (range: Range): void => {
      cancelAnimationFrame(settling);
      if (performance.now() >= until) return;
      intoView(box, range);
      settling = requestAnimationFrame(() => keepInView(range));
    };
    const leave = (): void => {
      until = 0;
    };
    for (const type of byHand) box.addEventListener(type, leave, { passive: true });
    let frame = 0;
    const soon = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(draw);
    };
    const within = (step: Step): boolean => {
      const { sought: now } = latest.current;
      const { all, here } = places();
      if (now === null || place.current?.turn !== now.turn) return false;
      const index = place.current.index + (step === 'older' ? -1 : 1);
      const range = here[index];
      if (range === undefined) return false;
      place.current = { turn: now.turn, index };
      colour(all, range);
      now.onPlace(index + 1, here.length);
      until = performance.now() + settleMs;
      keepInView(range);
      return true;
    };
    const { within: ways } = latest.current.sought ?? {};
    if (ways !== undefined) ways.current = within;
    // Rows come and go as somebody scrolls, and their texts grow.
    const changes = new MutationObserver(soon);
    changes.observe(box, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
      attributeFilter: ['data-found'],
    });
    soon();
    return () => {
      changes.disconnect();
      cancelAnimationFrame(frame);
      cancelAnimationFrame(settling);
      for (const type of byHand) box.removeEventListener(type, leave);
      if (ways !== undefined) ways.current = null;
      colour([], null);
    };
  }, [pattern]);

  const here = sought?.here ?? null;
  const turn = sought?.turn ?? 0;
  useLayoutEffect(() => {
    void turn;
    if (here !== null) latest.current.view.show(here);
  }, [here, turn]);
}

function intoView(box: HTMLElement, range: Range): void {
  const view = box.getBoundingClientRect();
  const place = range.getBoundingClientRect();
  const margin = Math.min(marginPx, view.height / 4);
  if (place.top < view.top + margin || place.bottom > view.bottom - margin) {
    box.scrollTop += place.top - view.top - view.height / 3;
  }
}
