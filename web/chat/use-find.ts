import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useSettled } from '../data/use-settled.ts';
import { useKeys } from '../frame/keys.tsx';
import { createFinder, foundWords, patternOf } from './find-text.ts';
import type { Chat } from './use-chat.ts';

/** Which way somebody goes on from a place that was found. */
export type Step = 'older' | 'newer';

/** What is marked in a transcript, and which of it is to be seen. */
export type Sought = {
  readonly pattern: RegExp;
  readonly found: ReadonlySet<string>;
  /** The item to be seen; null while nothing was found. */
  readonly here: string | null;
  /** From which end its places are gone through. */
  readonly by: Step;
  /** Another one for each time that it is to be shown. */
  readonly turn: number;
  /** Goes to the next place in the same item; false where there is none. */
  readonly within: RefObject<((step: Step) => boolean) | null>;
  /** Which place of the item is shown, from 1, and how many it has. */
  readonly onPlace: (place: number, places: number) => void;
};

export type Find = {
  readonly isOpen: boolean;
  readonly text: string;
  readonly setText: (text: string) => void;
  /** Place of what is shown among what was found, from 1 and the newest; 0 where there is none. */
  readonly at: number;
  readonly count: number;
  /** The same for what is shown and its places: what was found is counted by messages and calls. */
  readonly place: number;
  readonly places: number;
  /** Whether there is nothing left to read, so that the count is whole. */
  readonly isWhole: boolean;
  /** It could not be read. */
  readonly failed: boolean;
  /** What is shown, in words. */
  readonly words: string;
  readonly sought: Sought | null;
  readonly open: () => void;
  readonly close: () => void;
  readonly go: (step: Step) => void;
  readonly field: RefObject<HTMLInputElement | null>;
};

/** Messages that are read at once where all of a chat is looked through. */
const atOnce = 1000;
const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

/**
 * Looks through a conversation, also through what is not in the page or not loaded (a browser sees only what is near the
 * view). The keys of the browser open it where the conversation, or nothing, has the focus; in its own field they are the
 * browser's again.
 * @param area what holds the conversation
 */
export function useFind(
  { items, older }: Pick<Chat, 'items' | 'older'>,
  area: RefObject<HTMLElement | null>,
  suggested = '',
): Find {
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState('');
  const settled = useSettled(text);
  const pattern = useMemo(() => (isOpen ? patternOf(settled) : null), [isOpen, settled]);
  const finder = useMemo(() => (pattern === null ? null : createFinder(pattern)), [pattern]);
  const found = useMemo(() => finder?.(items) ?? [], [finder, items]);
  const [place, setPlace] = useState<Place>(nowhere);
  const [inside, setInside] = useState(outside);
  const field = useRef<HTMLInputElement>(null);
  const within = useRef<((step: Step) => boolean) | null>(null);
  const before = useRef<HTMLElement | null>(null);

  // What was shown may have got another id, or be gone: the one in its place is shown.
  const index = found.indexOf(place.id ?? '');
  const isHere = place.pattern === pattern && index >= 0;
  const [newest] = found;
  useEffect(() => {
    if (pattern === null || isHere || newest === undefined) return;
    setPlace((last) => {
      const at = last.pattern === pattern ? Math.min(last.index, found.length - 1) : 0;
      return { pattern, id: found[at] ?? newest, index: at, by: 'older', turn: last.turn + 1 };
    });
  }, [pattern, isHere, newest, found]);

  // All that is older is read, while it is looked through.
  const [failed, fail] = useState<unknown>(null);
  useEffect(() => {
    if (pattern === null || older === null || failed === older) return;
    older(atOnce).catch(() => fail(() => older));
  }, [pattern, older, failed]);

  const open = useCallback(() => {
    if (!isOpen) {
      before.current = document.activeElement instanceof HTMLElement ? document.activeElement : null;
      setText((last) => (last === '' ? suggested : last));
      setOpen(true);
    }
    // Behind the drawing of the field.
    requestAnimationFrame(() => field.current?.select());
  }, [isOpen, suggested]);
  const close = useCallback(() => {
    setOpen(false);
    setPlace(nowhere);
    if (before.current?.isConnected === true) before.current.focus();
  }, []);
  const go = (step: Step) => {
    if (within.current?.(step) === true || found.length === 0) return;
    const next = (index + (step === 'older' ? 1 : -1) + found.length) % found.length;
    setPlace(({ turn }) => ({ pattern, id: found[next] ?? null, index: next, by: step, turn: turn + 1 }));
  };

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!isFindKey(event) || event.defaultPrevented || document.querySelector('dialog[open]') !== null) return;
      const box = area.current;
      const { target } = event;
      if (box === null || !box.checkVisibility() || target === field.current) return;
      if (target !== document.body && !(target instanceof Node && box.contains(target))) return;
      event.preventDefault();
      open();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [area, open]);
  useKeys([{ key: isApple ? '⌘F' : 'Ctrl+F', words: 'find in this conversation', act: open }]);

  const onPlace = useCallback(
    (index: number, count: number) =>
      setInside((last) => (last.index === index && last.count === count ? last : { index, count })),
    [],
  );
  const here = isHere ? place.id : null;
  const { by, turn } = place;
  const sought = useMemo(
    (): Sought | null =>
      pattern === null ? null : { pattern, found: new Set(found), here, by, turn, within, onPlace },
    [pattern, found, here, by, turn, onPlace],
  );
  const item = here === null ? undefined : items.find(({ id }) => id === here);
  return {
    isOpen,
    text,
    setText,
    at: isHere ? index + 1 : 0,
    count: found.length,
    place: isHere ? inside.index : 0,
    places: isHere ? inside.count : 0,
    isWhole: pattern === null || older === null,
    failed: failed !== null && failed === older,
    words: item === undefined || pattern === null ? '' : foundWords(item, pattern),
    sought,
    open,
    close,
    go,
    field,
  };
}

/** Where somebody is among what was found. */
type Place = {
  readonly pattern: RegExp | null;
  readonly id: string | null;
  readonly index: number;
  readonly by: Step;
  readonly turn: number;
};
const outside = { index: 0, count: 0 };
const nowhere: Place = { pattern: null, id: null, index: 0, by: 'older', turn: 0 };

/** Where letters are not Latin, a key is what it is on the keyboard. */
function isFindKey({ key, code, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  if (altKey || shiftKey || (isApple ? !metaKey || ctrlKey : !ctrlKey || metaKey)) return false;
  return key.toLowerCase() === 'f' || (code === 'KeyF' && !/^[a-z]$/i.test(key));
}
