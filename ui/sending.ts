import { basename } from 'node:path';
import type { ShownImage } from '../src/view/image-words.ts';
import type { Written } from './composer/composer-state.ts';
import type { State, Turn } from './state.ts';
import { atEnd } from './move.ts';
import { type Change, only } from './state.ts';

/** How long a line stands in place of the hints, in milliseconds, and how long keys leave what came by itself to be read. */
const shownMs = 4000;
const readMs = 1000;

/** A line in place of the hints, for a while or until the next key. */
export const saying = (state: State, text: string, now: number, bad = true, ms = shownMs): State => ({
  ...state,
  said: { text, bad, until: now + ms, keysFrom: now },
});

/** What came of something that was done beside the keys: those of the next moment do not take it away unread. */
export const told = (state: State, text: string, now: number, bad: boolean): State => ({
  ...state,
  said: { text, bad, until: now + shownMs, keysFrom: now + readMs },
});

/** A turn that begins now; its run is not known yet. */
export const turnFrom = (now: number): Turn => ({
  run_id: null,
  started_at: now,
  waiting_since: null,
  waited_ms: 0,
  heard_at: now,
  interrupted_at: null,
  elsewhere: null,
});

/**
 * Sends a message: it is shown at once, at the end, and firm when its run is accepted (10 §6.10).
 * @param read its text, with the files that it mentions
 */
/** How large they are is known once they have been read. */
const along = ({ images }: Written): { readonly images?: readonly ShownImage[] } =>
  images.length === 0 ? {} : { images: images.map((path) => ({ name: basename(path), mime_type: '', bytes: null })) };

export function send(state: State, read: string, written: Written, now: number): Change {
  const text = [read, ...written.context].join('\n\n');
  return only(
    {
      ...state,
      turn: turnFrom(now),
      ...atEnd,
      items: [
        ...state.items,
        { kind: 'user', id: `pending:${now}`, text, ...along(written), state: 'pending', seq: null },
      ],
    },
    { do: 'send', text, written, session: state.session?.name ?? null },
  );
}
