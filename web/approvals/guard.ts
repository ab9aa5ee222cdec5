import { type KeyboardEvent, type PointerEvent, type RefObject, useCallback, useEffect, useRef } from 'react';

/** How long after it has appeared, moved or changed a card takes no answer (09 §8.7.6). */
const guardMs = 400;
/** How often its place is looked at. */
const lookMs = 80;

export type Guard = {
  /** Whether something that begins now, by a person, may answer. */
  readonly isArmed: () => boolean;
  /** What a button of an answer listens to: a press counts only when it began after the guard. */
  readonly press: (act: () => void) => {
    readonly onPointerDown: (event: PointerEvent) => void;
    readonly onKeyDown: (event: KeyboardEvent) => void;
    readonly onClick: () => void;
  };
};

/**
 * Keeps a press that was meant for something else from answering: the card has just come, moved or changed, the window
 * has just been brought to the front, Enter was typed somewhere, or a key is held since before.
 * @param version changes with what the card says
 */
export function useGuard(element: RefObject<HTMLElement | null>, version: string): Guard {
  const since = useRef(Number.POSITIVE_INFINITY);
  const pressed = useRef(false);

  useEffect(() => {
    void version;
    const restart = () => {
      since.current = performance.now();
      pressed.current = false;
    };
    restart();
    let place = '';
    const look = setInterval(() => {
      const box = element.current?.getBoundingClientRect();
      const now = box === undefined ? '' : `${Math.round(box.left)} ${Math.round(box.top)} ${Math.round(box.height)}`;
      if (now === place) return;
      place = now;
      restart();
    }, lookMs);
    window.addEventListener('focus', restart);
    return () => {
      clearInterval(look);
      window.removeEventListener('focus', restart);
    };
  }, [element, version]);

  const isArmed = useCallback(
    // Before the window has the focus, a press is one that brings it to the front.
    () => document.hasFocus() && performance.now() - since.current >= guardMs,
    [],
  );
  const press = useCallback(
    (act: () => void) => ({
      onPointerDown: () => {
        pressed.current = isArmed();
      },
      onKeyDown: (event: KeyboardEvent) => {
        if (event.key === 'Enter') event.preventDefault();
        else if (event.key === ' ') pressed.current = !event.repeat && isArmed();
      },
      onClick: () => {
        const meant = pressed.current && isArmed();
        pressed.current = false;
        if (meant) act();
      },
    }),
    [isArmed],
  );
  return { isArmed, press };
}
