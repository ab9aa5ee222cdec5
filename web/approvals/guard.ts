import {
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type RefObject,
  useCallback,
  useEffect,
  useRef,
  useState,
} from 'react';

/** How long after it has appeared, moved or changed a card takes no answer (09 §8.7.6). */
const guardMs = 400;
/** How often its place is looked at. */
const lookMs = 80;
/** How long it is said why a press did nothing. */
const hintMs = 6000;

/** What to press instead of Enter, by what else takes the answer of a button. */
const insteadOfEnter = {
  none: 'Enter does not answer: press Space.',
  card: 'Enter does not approve: press Space, or a on the card.',
  dialog: 'Enter does not approve: press Space, or a.',
} as const;
/** What a hand does. A key that is held to speak to assistive technology is none of it. */
const inputs = ['keydown', 'keyup', 'pointerdown', 'pointerup'] as const;
const modifiers: ReadonlySet<string> = new Set(['Alt', 'CapsLock', 'Control', 'Insert', 'Meta', 'Shift']);

const tooSoon = 'Too soon: press it again.';

export type Guard = {
  /** Does what a key of its own stands for, unless that was pressed too soon. */
  readonly key: (act: () => void) => void;
  /**
   * What a button of an answer listens to: a press counts only when it began after the guard. What assistive technology
   * presses is a click that nothing began: it counts where no key and no pointer did anything for as long as the guard.
   * @param byA where `a` does the same
   */
  readonly press: (
    act: () => void,
    byA?: keyof typeof insteadOfEnter,
  ) => {
    readonly onPointerDown: (event: PointerEvent) => void;
    readonly onKeyDown: (event: KeyboardEvent) => void;
    readonly onClick: (event: MouseEvent) => void;
  };
  /** Why the last press did nothing, for a while; the turn makes the same words something new, which is said again. */
  readonly hint: { readonly words: string; readonly turn: number } | null;
};

/**
 * Keeps a press that was meant for something else from answering: the card has just come, moved or changed, the window
 * has just been brought to the front, Enter was typed somewhere, or a key is held since before.
 * @param version changes with what the card says
 */
export function useGuard(element: RefObject<HTMLElement | null>, version: string): Guard {
  const since = useRef(Number.POSITIVE_INFINITY);
  const pressed = useRef(false);
  const lastInput = useRef(Number.NEGATIVE_INFINITY);
  const [hint, setHint] = useState<Guard['hint']>(null);
  const turn = useRef(0);
  const say = useCallback((words: string) => {
    turn.current += 1;
    setHint({ words, turn: turn.current });
  }, []);
  useEffect(() => {
    if (hint === null) return;
    const timer = setTimeout(() => setHint(null), hintMs);
    return () => clearTimeout(timer);
  }, [hint]);

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
    const note = (event: Event) => {
      if (!('key' in event && modifiers.has(String(event.key)))) lastInput.current = performance.now();
    };
    for (const kind of inputs) window.addEventListener(kind, note, true);
    return () => {
      clearInterval(look);
      for (const kind of inputs) window.removeEventListener(kind, note, true);
      window.removeEventListener('focus', restart);
    };
  }, [element, version]);

  const isArmed = useCallback(
    // Before the window has the focus, a press is one that brings it to the front.
    () => document.hasFocus() && performance.now() - since.current >= guardMs,
    [],
  );
  const take = useCallback(
    (isMeant: boolean, act: () => void) => {
      if (!isMeant) {
        say(tooSoon);
        return;
      }
      setHint(null);
      act();
    },
    [say],
  );
  const key = useCallback((act: () => void) => take(isArmed(), act), [isArmed, take]);
  const press = useCallback<Guard['press']>(
    (act, byA = 'none') => ({
      onPointerDown: () => {
        pressed.current = isArmed();
      },
      onKeyDown: (event) => {
        if (event.key === 'Enter') {
          event.preventDefault();
          // One that is held was meant for what was there before.
          if (!event.repeat) say(insteadOfEnter[byA]);
        } else if (event.key === ' ') pressed.current = !event.repeat && isArmed();
      },
      onClick: ({ detail }) => {
        const isBare = detail === 0 && performance.now() - lastInput.current >= guardMs;
        const isMeant = (pressed.current || isBare) && isArmed();
        pressed.current = false;
        take(isMeant, act);
      },
    }),
    [isArmed, say, take],
  );
  return { key, press, hint };
}
