import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { letterKeys } from '../data/kept.ts';
import { useStore } from '../data/store.ts';
import { pages } from '../pages.ts';
import { Dialog } from '../parts/dialog.tsx';
import { isTyping } from '../parts/typing.ts';
import { activeKeys } from './keys.tsx';

/** Listens to the keyboard for the whole app, and lists the keys. */
export function Shortcuts() {
  const [, go] = useLocation();
  const [listed, list] = useState(false);
  /** When `g` was pressed, in milliseconds since the page began. */
  const leading = useRef(Number.NEGATIVE_INFINITY);
  const keys = useStore(activeKeys);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (letterKeys.get() === 'off' || event.defaultPrevented || isTyping(event.target)) return;
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]') !== null) return;
      const { key } = event;
      if (leading.current > event.timeStamp - 1500) {
        leading.current = Number.NEGATIVE_INFINITY;
        const page = pages.find((each) => each.key === key);
        if (page !== undefined) go(page.at);
        return;
      }
      if (key === 'g') leading.current = event.timeStamp;
      else if (key === '?') list(true);
      else if (key === '/') {
        const field = document.querySelector<HTMLElement>('[data-filter]');
        if (field === null) return;
        field.focus();
      } else {
        const found = activeKeys
          .get()
          .flat()
          .findLast((each) => each.key === key);
        if (found === undefined) return;
        found.act();
      }
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [go]);
  if (!listed) return null;
  const own = keys.flat();
  return (
    <Dialog title="Keys" onClose={() => list(false)}>
      {own.length === 0 ? null : <KeyList title="On this page" rows={own.map(({ key, words }) => [key, words])} />}
      <KeyList
        title="Everywhere"
        rows={[
          ['?', 'this list'],
          ['/', 'filter or composer'],
          ...pages.flatMap(({ key, word }) => (key === null ? [] : [[`g ${key}`, word] as const])),
        ]}
      />
    </Dialog>
  );
}

const KeyList = ({
  title,
  rows,
}: {
  readonly title: string;
  readonly rows: readonly (readonly [key: string, words: string])[];
}) => (
  <section className="stack tight">
    <h3>{title}</h3>
    <dl className="facts">
      {rows.map(([key, words]) => (
        <div key={key} className="facts-row">
          <dt>
            <kbd className="mono">{key}</kbd>
          </dt>
          <dd>{words}</dd>
        </div>
      ))}
    </dl>
  </section>
);
