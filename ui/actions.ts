import type { Ask } from '../src/schema/ask.ts';
import type { RunEvent } from '../src/schema/event.ts';
import type { RunRecord } from '../src/schema/run-record.ts';
import type { Item } from '../src/view/items.ts';
import type { Size } from './events.ts';
import type { ApprovalsAction } from './approvals/approvals-state.ts';
import type { Attached } from './composer/attach.ts';
import type { boundsOf } from './bounds.ts';
import type { AttachIntent } from './composer/composer-effects.ts';
import type { Written } from './composer/composer-state.ts';
import type { ComposerAction } from './composer/composer-state.ts';
import type { Elsewhere } from './elsewhere.ts';
import type { Key } from './keys/key.ts';
import type { KeyMap } from './keys/key-map.ts';
import type { PlanAction } from './plan/plan-state.ts';
import type { Overlay } from './overlays/overlay.ts';
import type { Banner, Facts, Hit, OpenSession, PassingEdits, Resting } from './state.ts';
import type { Page, PageWish } from './transcript/pages.ts';
import type { WelcomeRow } from './welcome.ts';

/** Everything that can happen. Time comes with `tick` and with what a person does. */
export type Action =
  | { readonly type: 'key'; readonly key: Key; readonly now: number }
  | { readonly type: 'paste'; readonly text: string; readonly now: number }
  | { readonly type: 'wheel'; readonly delta: number }
  | { readonly type: 'resize'; readonly size: Size; readonly now: number }
  | { readonly type: 'tick'; readonly now: number }
  /** Nothing has followed a letter in the plan pane for long enough. */
  | { readonly type: 'plan-letter'; readonly now: number }
  | { readonly type: 'ready'; readonly now: number }
  | { readonly type: 'facts'; readonly facts: Partial<Facts> }
  /** A session and its newest messages are in view. */
  | {
      readonly type: 'opened';
      readonly session: OpenSession | null;
      readonly items: readonly Item[];
      /** Its turn that rests; null = none does. */
      readonly resting: Resting | null;
    }
  /** Stored messages that were asked for. */
  | {
      readonly type: 'page';
      readonly session: string;
      readonly wish: PageWish;
      readonly page: Page;
    }
  /** They could not be read: the next move asks again. */
  | { readonly type: 'no-page' }
  /** A page takes long enough to be said. */
  | { readonly type: 'slow-page'; readonly toward: PageWish['toward'] }
  /** Where a search has hits in what is stored before the items in memory: the newest pages come first. */
  | { readonly type: 'found'; readonly query: string; readonly hits: readonly Hit[] }
  /** The numbers of messages that came while they were written. */
  | { readonly type: 'stored'; readonly numbers: ReadonlyMap<string, number> }
  | { readonly type: 'accepted'; readonly run_id: string; readonly session: OpenSession | null }
  /** A message could not be sent: it is not in the session. */
  | { readonly type: 'not-sent'; readonly written: Written; readonly why: readonly string[]; readonly now: number }
  /** Another turn of the session goes on: the message is sent when that one is over. */
  | { readonly type: 'session-busy'; readonly written: Written; readonly now: number }
  /** It was over already when it was looked for. */
  | { readonly type: 'session-free'; readonly now: number }
  /** The process that drove the run in view is gone. A turn is settled before the next one; what made a summary is not. */
  | { readonly type: 'deserted'; readonly run_id: string; readonly is_turn: boolean; readonly now: number }
  /** A run that is followed: this process drives it, or found it resting or alive. */
  | {
      readonly type: 'following';
      readonly run_id: string;
      readonly line: boolean;
      readonly elsewhere: boolean;
      readonly now: number;
    }
  | { readonly type: 'bounds'; readonly run: Parameters<typeof boundsOf>[0] & Pick<RunRecord, 'run_by'> }
  | { readonly type: 'events'; readonly run_id: string; readonly events: readonly RunEvent[]; readonly now: number }
  | {
      readonly type: 'asks';
      readonly asks: readonly Ask[];
      readonly ids: Readonly<Record<string, string>>;
      readonly now: number;
    }
  /** For the composer, and for the asks. */
  | { readonly type: 'compose'; readonly action: ComposerAction; readonly now: number }
  | { readonly type: 'attached'; readonly message: AttachIntent; readonly read: Attached; readonly now: number }
  | { readonly type: 'approve'; readonly action: ApprovalsAction; readonly now: number }
  | { readonly type: 'plan'; readonly action: PlanAction; readonly now: number }
  | { readonly type: 'banner'; readonly banner: Banner }
  | { readonly type: 'welcome'; readonly lines: readonly WelcomeRow[] | null }
  | { readonly type: 'no-banner'; readonly id: string }
  | { readonly type: 'notice'; readonly level: 'info' | 'warn' | 'error'; readonly text: string }
  /** Of a turn of this program whose session is not in view. */
  | { readonly type: 'elsewhere'; readonly told: Elsewhere }
  /** One line in place of the hints. */
  | { readonly type: 'say'; readonly text: string; readonly bad: boolean; readonly now: number }
  | { readonly type: 'overlay'; readonly overlay: Overlay }
  | { readonly type: 'collapse'; readonly lines: number; readonly guardMs: number }
  /** The keys are others than before. */
  | { readonly type: 'keys'; readonly map: KeyMap }
  /** Where edits of files here pass unasked, as it is stored. */
  | { readonly type: 'edits-pass'; readonly edits: PassingEdits | null }
  /** A whole line, where there is no composer. */
  | { readonly type: 'submit'; readonly text: string; readonly now: number }
  | { readonly type: 'no-overlays' }
  | { readonly type: 'session-gone' }
  | { readonly type: 'renamed'; readonly name: string }
  | { readonly type: 'leaving' };
