import type { UntrustedContent } from '../../src/schema/overlay.ts';
import { foreign, type Line, say } from '../../src/view/line.ts';
import { escapeText } from '../../src/view/escape.ts';
import { cutLine, wrapLine } from '../../src/view/wrap.ts';
import { layoutOf } from '../layout.ts';
import { type Change, only, type State } from '../state.ts';
import { overlayWidth, roomOf } from './overlay-size.ts';
import type { Overlay } from './overlay.ts';

export type TrustOverlay = Extract<Overlay, { kind: 'trust' }>;

/** What has to be looked at, as rows: the text, or what has changed since it was trusted. */
export function trustBody({ former, text }: UntrustedContent, columns: number): readonly Line[] {
  const shown = (former?.diff ?? text).replace(/\n$/, '');
  return shown.split('\n').flatMap((line) => wrapLine(foreign(line), columns, [say('│ ', 'border')]));
}

/** Facts about the content, which stay in view. */
export function trustHead({ content, said }: TrustOverlay, columns: number): readonly Line[] {
  const { former } = content;
  const changed =
    former === null
      ? []
      : [
          cutLine(
            [
              say(`trusted at ${former.trusted_at.slice(0, 19)} as ${former.sha256.slice(0, 8)}`, 'warn'),
              say(former.diff === null ? '; this is all of the new text' : '; what has changed since:', 'warn'),
            ],
            columns,
          ),
        ];
  return [
    ...wrapLine(foreign(content.path), columns),
    [say(`${content.bytes} bytes, sha256`, 'dim')],
    ...wrapLine([say(content.sha256, 'dim')], columns),
    ...changed,
    ...(said === null ? [] : [cutLine([say(`! ${said}`, 'warn')], columns)]),
  ];
}

export const trustTitle = ({ content }: TrustOverlay): string =>
  `Trust this ${escapeText(content.kind, { mode: 'line' })}?`;

/** Keys that come sooner after it was drawn answer nothing (10 §7.3). */
const frameMs = 50;

/** A key of the question of trust; nothing unseen is trusted (10 §7.4, §7.8). */
export function trustCommand(state: State, top: TrustOverlay, id: string, now: number): Change {
  const { columns } = state.size;
  const inner = overlayWidth(columns) - 4;
  const rows = trustBody(top.content, inner).length;
  const room = roomOf(trustHead(top, inner).length, rows, layoutOf(state).body);
  // Another width is another sight: what was seen of it begins anew.
  const known = top.columns === columns ? top.seen : 0;
  const last = Math.max(0, rows - room);
  const at = Math.min(top.at, last);
  const seen = at <= known ? Math.max(known, at + room) : known;
  const put = (over: Partial<TrustOverlay>): Change =>
    only({ ...state, overlays: [...state.overlays.slice(0, -1), { ...top, at, seen, columns, said: null, ...over }] });
  const by = steps(room, rows)[id];
  if (by !== undefined) return put({ at: Math.max(0, Math.min(at + by, last)) });
  const how = { 'card.trust': 'trust', 'card.trust-once': 'once', 'card.refuse': 'refuse' }[id];
  if (how === undefined) return put({});
  if (now - top.shownAt < state.guardMs + frameMs) return put({});
  if (how !== 'refuse' && seen < rows) return put({ said: `${rows - seen} lines not seen: PgDn` });
  return answered(state, top, how as 'trust' | 'once' | 'refuse', now);
}

const steps = (room: number, rows: number): Readonly<Record<string, number>> => ({
  'overlay.up': -1,
  'overlay.down': 1,
  'overlay.page-up': -room,
  'overlay.page-down': room,
  'overlay.top': -rows,
  'overlay.bottom': rows,
});

/** The next one that waits takes the place of the one that was answered. */
function answered(state: State, top: TrustOverlay, how: 'trust' | 'once' | 'refuse', now: number): Change {
  const [next, ...waiting] = top.waiting;
  const below = state.overlays.slice(0, -1);
  const overlays = next === undefined ? below : [...below, trustOverlay(next, waiting, now)];
  return only({ ...state, overlays, closedAt: now }, { do: 'trust', content: top.content, how });
}

/** Closing it refuses what is shown and what waits behind it, without a record. */
export const refusedTrust = (top: TrustOverlay) =>
  [top.content, ...top.waiting].map((content) => ({ do: 'trust', content, how: 'refuse' }) as const);

export const trustOverlay = (
  content: UntrustedContent,
  waiting: readonly UntrustedContent[],
  now: number,
): TrustOverlay => ({ kind: 'trust', content, waiting, at: 0, seen: 0, columns: 0, shownAt: now, said: null });
