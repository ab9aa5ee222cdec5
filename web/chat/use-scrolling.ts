import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { Item } from '../../src/view/items.ts';
import { usePrinting } from '../data/printing.ts';
import { isTyping } from '../parts/typing.ts';
import type { Chat } from './use-chat.ts';
import type { Sought } from './use-find.ts';
import { type RowPlace, useKeptRow } from './use-kept-row.ts';
import { useReturn } from './use-return.ts';
import { useShown } from './use-shown.ts';

/** How near the end counts as being there, in pixels. */
const nearPx = 160;

/** The same for who was led to a place and reads there. */
const foundNearPx = 4;

/** What is left free above a card that begins at the top. */
const cardGapPx = 8;

type Shown = {
  readonly items: readonly Item[];
  readonly older: Chat['older'];
  /** What is looked for in them. */
  readonly sought: Sought | null;
};

/**
 * Which rows of a chat are in the page, and where its view is: at the end, unless somebody has scrolled away; then where they
 * read, whatever is drawn, measured or read around it.
 */
export function useScrolling({ items, older, sought }: Shown) {
  const element = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  /** Where the view was when it was last looked at. */
  const top = useRef(0);
  /** And how high it was. */
  const room = useRef(0);
  const [away, setAway] = useState(0);
  const [isAway, setIsAway] = useState(false);
  const printing = usePrinting();
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => element.current,
    estimateSize: (index) => (items[index]?.kind === 'assistant' ? 120 : 48),
    getItemKey: (index) => items[index]?.id ?? index,
    overscan: 8,
    rangeExtractor: printing ? everyRow : defaultRangeExtractor,
  });
  const { put, keepAt, isKept } = useKeptRow(rows, { element, top, printing });
  const total = rows.getTotalSize();

  /** Asks whose cards were here. */
  const asked = useRef(new Set<string>());
  const newCard = (box: HTMLElement): HTMLElement | undefined => {
    const cards = [...box.querySelectorAll<HTMLElement>('article.card')];
    const [first] = cards.filter(({ dataset: { ask = '' } }) => !asked.current.has(ask));
    for (const { dataset } of cards) asked.current.add(dataset['ask'] ?? '');
    return first;
  };

  // Growth and new items alike: whoever was at the end stays there, and who sends something goes there.
  const sent = useRef<string | null>(null);
  useLayoutEffect(() => {
    void total;
    const last = items.at(-1);
    if (last?.kind === 'user' && last.state === 'pending' && last.id !== sent.current) {
      sent.current = last.id;
      follows.current = true;
    }
    const box = element.current;
    if (box === null) return;
    const card = newCard(box);
    if (!follows.current) {
      put();
      return;
    }
    keepAt(null);
    box.scrollTop = box.scrollHeight;
    // Who is asked reads from the beginning: what does not fit is below, where the buttons are.
    const above = (card?.getBoundingClientRect().top ?? 0) - box.getBoundingClientRect().top;
    if (card !== undefined && above < 0) {
      box.scrollTop += above - cardGapPx;
      follows.current = false;
    }
    // A row that turned out smaller moves the view up as well, and nobody has scrolled.
    top.current = box.scrollTop;
  });

  // What is written below takes room of the view, and a keyboard over it does: no row has changed, and the end is where it was.
  useEffect(() => {
    const box = element.current;
    if (box === null) return;
    const resized = new ResizeObserver(() => {
      room.current = box.clientHeight;
      if (!follows.current) return;
      box.scrollTop = box.scrollHeight;
      top.current = box.scrollTop;
    });
    resized.observe(box);
    return () => resized.disconnect();
  }, []);

  /** The row at the top of the view, and how much of it is above. */
  const read = useRef<RowPlace | null>(null);
  // What is older stands above now, whoever has had it read: what was read stays where it was.
  const first = useRef(items[0]?.id);
  useLayoutEffect(() => {
    const box = element.current;
    const before = first.current;
    first.current = items[0]?.id;
    if (box === null || before === undefined || before === items[0]?.id || follows.current) return;
    const added = items.findIndex(({ id }) => id === before);
    if (added < 1 || read.current === null) return;
    keepAt({ index: read.current.index + added, above: read.current.above });
  });

  // Nobody has scrolled while the page was put on paper: behind it the row that was read is where it was.
  const printed = useRef(false);
  const noteRead = (box: HTMLElement) => {
    const row = rows.getVirtualItemForOffset(box.scrollTop);
    read.current = row === undefined ? null : { index: row.index, above: box.scrollTop - row.start };
  };
  useLayoutEffect(() => {
    const box = element.current;
    const isBack = printed.current && !printing;
    printed.current = printing;
    if (printing || box === null) return;
    if (isBack && !follows.current) keepAt(read.current);
    noteRead(box);
  });

  useReturn(
    { items, older },
    () => {
      const item = read.current === null ? undefined : items[read.current.index];
      return follows.current || item === undefined ? null : { id: item.id, above: read.current?.above ?? 0 };
    },
    ({ id, above }) => {
      follows.current = false;
      setIsAway(true);
      keepAt({ index: items.findIndex((item) => item.id === id), above });
    },
  );

  const known = useRef({ count: items.length, first: items[0]?.id });
  useEffect(() => {
    const { count, first } = known.current;
    known.current = { count: items.length, first: items[0]?.id };
    if (follows.current) setAway(0);
    // What came above is older, and not new.
    else if (first === items[0]?.id) setAway((before) => before + Math.max(0, items.length - count));
  }, [items]);

  useShown(sought, {
    box: element,
    show(id) {
      const index = items.findIndex((item) => item.id === id);
      if (index < 0) return;
      follows.current = false;
      keepAt(null);
      rows.scrollToIndex(index, { align: 'center' });
    },
  });
  const isSought = useRef(false);
  isSought.current = sought !== null && sought.here !== null;

  const toEnd = () => {
    follows.current = true;
    setAway(0);
    setIsAway(false);
    const box = element.current;
    if (box !== null) box.scrollTop = box.scrollHeight;
  };
  const toTop = () => {
    const box = element.current;
    // Where all of it is in view, both ends are.
    if (box === null || box.scrollHeight <= box.clientHeight) return;
    follows.current = false;
    setIsAway(true);
    keepAt({ index: 0, above: 0 });
  };
  // The browser itself glides to where the end was when the key came, and the rows on the way turn out larger; and what
  // glides upwards still does so after the next key.
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, altKey, shiftKey, target } = event;
    if ((key !== 'Home' && key !== 'End') || altKey || shiftKey || isTyping(target)) return;
    event.preventDefault();
    if (key === 'End') toEnd();
    else toTop();
  };
  const loading = useRef(false);
  const onScroll = () => {
    const box = element.current;
    if (box === null || printing) return;
    const below = box.scrollHeight - box.scrollTop - box.clientHeight;
    const near = below < (isSought.current ? foundNearPx : nearPx);
    // What grew below the view, or took room of it, is no reason to stay behind: only who scrolls up wants to. Nobody
    // comes to the very end by scrolling up: there the view has got its room back.
    const isScrolled = box.clientHeight === room.current && below >= 1;
    room.current = box.clientHeight;
    if (Math.abs(box.scrollTop - top.current) >= 1) keepAt(null);
    // However little it is: who is taken back to the end at each turn of a wheel never leaves it.
    if (isScrolled && box.scrollTop <= top.current - 1) follows.current = false;
    // Who was led to a row reads there, however near the end it is.
    else if (near && !isKept()) follows.current = true;
    top.current = box.scrollTop;
    noteRead(box);
    setIsAway(!follows.current);
    if (follows.current) setAway(0);
    if (box.scrollTop > 200 || older === null || loading.current) return;
    loading.current = true;
    const done = () => {
      loading.current = false;
    };
    // A page that could not be read is asked for again by the next scrolling.
    older().then(done, done);
  };

  return { element, rows, total, printing, isAway, away, toEnd, onKeyDown, onScroll };
}

const everyRow = ({ count }: Range): number[] => Array.from({ length: count }, (_, index) => index);
