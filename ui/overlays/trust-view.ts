import type { UntrustedContent } from '../../src/schema/overlay.ts';
import { foreign, type Line, say } from '../../src/view/line.ts';
import { escapeText, type Glyphs } from '../../src/view/escape.ts';
import { cutLine, wrapLine } from '../../src/view/wrap.ts';
import { type Change, only, type State } from '../state.ts';
import { innerColumns, look } from './look.ts';
import { unseen } from './looking.ts';
import type { Overlay } from './overlay.ts';

export type TrustOverlay = Extract<Overlay, { kind: 'trust' }>;

/** What has to be looked at, as rows: the text, or what has changed since it was trusted. */
export function trustBody({ former, text }: UntrustedContent, columns: number, glyphs: Glyphs): readonly Line[] {
  const shown = (former?.diff ?? text).replace(/\n$/, '');
  return shown.split('\n').flatMap((line) => wrapLine(foreign(line, glyphs), columns, [say('│ ', 'border')]));
}

/** Facts about the content, which stay in view. */
export function trustHead({ content, said }: TrustOverlay, columns: number, glyphs: Glyphs): readonly Line[] {
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
    ...wrapLine(foreign(content.path, glyphs), columns),
    [say(`${content.bytes} bytes, sha256`, 'dim')],
    ...wrapLine([say(content.sha256, 'dim')], columns),
    ...changed,
    ...(content.brings === undefined
      ? []
      : [cutLine([say(`with it ${content.brings} counts: models are given it`, 'dim')], columns)]),
    ...(content.changed === true
      ? [cutLine([say('a call changed it, and no question named it', 'warn')], columns)]
      : []),
    ...(said === null ? [] : [cutLine([say(`! ${said}`, 'warn')], columns)]),
  ];
}

export const trustTitle = ({ content }: TrustOverlay): string =>
  `Trust this ${escapeText(content.kind, { mode: 'line' })}?`;

const answers = { 'card.trust': 'trust', 'card.trust-once': 'once', 'card.refuse': 'refuse' } as const;

/** A key of the question of trust. */
export function trustCommand(state: State, top: TrustOverlay, id: string, now: number): Change {
  const inner = innerColumns(state);
  const rows = {
    head: trustHead(top, inner, state.glyphs).length,
    body: trustBody(top.content, inner, state.glyphs).length,
  };
  const how = Object.hasOwn(answers, id) ? answers[id as keyof typeof answers] : null;
  const answer = how === null ? null : how === 'refuse' ? 'no' : 'yes';
  const { looking, counts } = look(state, top, rows, id, answer, now);
  if (how !== null && counts) return answered(state, top, how, now);
  return only({ ...state, overlays: [...state.overlays.slice(0, -1), { ...top, ...looking }] });
}

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
): TrustOverlay => ({ kind: 'trust', content, waiting, ...unseen(now) });
