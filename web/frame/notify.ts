import { useEffect, useRef } from 'react';
import { waitedFor } from '../../src/schema/ask.ts';
import type { AskHead } from '../../src/schema/ask-views.ts';
import { escapeText } from '../../src/view/escape.ts';
import { announceAsk } from './announce.tsx';

/** Says that an ask waits: aloud, and by the browser where the person has permitted it. Nothing of the arguments is in it. */
export function useNotifications(asks: readonly AskHead[] | null): void {
  const known = useRef<ReadonlySet<string> | null>(null);
  useEffect(() => {
    if (asks === null) return;
    const fresh = known.current === null ? [] : asks.filter(({ id }) => known.current?.has(id) === false);
    known.current = new Set(asks.map(({ id }) => id));
    for (const ask of fresh) {
      const tool = escapeText(`${ask.tools}.${ask.tool}`, { mode: 'line' });
      const what = waitedFor(ask.kind);
      announceAsk(`Waiting for ${what}: ${tool}`);
      if (!document.hidden || !('Notification' in window) || Notification.permission !== 'granted') continue;
      try {
        new Notification(`Reins: waiting for ${what}`, { body: `${tool} · ${ask.run_id ?? ''}`, tag: ask.id });
      } catch {
        // Browsers of phones have the word and let no page use it.
      }
    }
  }, [asks]);
}

/** Whether the browser could say it, and was not asked yet. */
export const mayAskToNotify = (): boolean => 'Notification' in window && Notification.permission === 'default';
