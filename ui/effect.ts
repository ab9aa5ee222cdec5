import type { UntrustedContent } from '../src/schema/overlay.ts';
import type { CallItem } from '../src/view/items.ts';
import type { ApprovalsIntent } from './approvals/approvals-state.ts';
import type { AttachIntent } from './composer/composer-effects.ts';
import type { Written } from './composer/composer-state.ts';
import type { HeldDefinition } from './held-definition.ts';
import type { SlashIntent } from './slash-intent.ts';
import type { Field } from './overlays/field.ts';
import type { PlanIntent } from './plan/plan-state.ts';
import type { ComposerIntent } from './composer/composer-state.ts';
import type { KnownSession } from './known-session.ts';
import type { PageWish } from './transcript/pages.ts';

export type ReportKind =
  | 'status'
  | 'doctor'
  | 'usage'
  | 'policy'
  | 'policies'
  | 'vet'
  | 'replay'
  | 'tools'
  | 'mcp'
  | 'chains';

/** What the operator asked of the world; `effects.ts` does it. */
export type Effect =
  | {
      readonly do: 'send';
      readonly text: string;
      readonly session: string | null;
      readonly written: Written;
      /** The stopped turn that the operator wants to end with this message. */
      readonly ends?: string;
    }
  /** What a line of the composer asked for; the line goes back there when it fails. */
  | { readonly do: 'typed'; readonly effect: Effect; readonly text: string }
  /** A message goes back to where it was written. */
  | { readonly do: 'not-sent'; readonly written: Written; readonly why: string }
  /** What the composer wants of the world. */
  | {
      readonly do: 'composer';
      readonly intent: AttachIntent | Extract<ComposerIntent, { do: 'shell' | 'remember' | 'save' | 'find' }>;
    }
  /** What the asks want of it. */
  | { readonly do: 'ask'; readonly intent: Exclude<ApprovalsIntent, { do: 'keep-text' }> }
  | { readonly do: 'plan'; readonly intent: PlanIntent }
  /** Says when a letter in the plan pane stands alone. */
  | { readonly do: 'plan-letter'; readonly at: number }
  | { readonly do: 'review-trust' }
  | { readonly do: 'trust'; readonly content: UntrustedContent; readonly how: 'trust' | 'once' | 'refuse' }
  /** Looks for tools whose definitions are not the accepted ones. */
  | { readonly do: 'look-definitions' }
  | { readonly do: 'definition'; readonly held: HeldDefinition; readonly how: 'accept' | 'keep' }
  | { readonly do: 'slash'; readonly intent: SlashIntent }
  /** A text in the editor of the operator: that of the composer, or the arguments of an ask. */
  | { readonly do: 'edit-text'; readonly ask: string | null; readonly text: string }
  | { readonly do: 'interrupt'; readonly run_id: string }
  | { readonly do: 'load-page'; readonly wish: PageWish }
  /** Looks for a text in what is stored before a message. */
  | { readonly do: 'find'; readonly query: string; readonly before: number }
  | { readonly do: 'end-find' }
  | { readonly do: 'repaint' }
  | { readonly do: 'suspend' }
  | { readonly do: 'abort' }
  | { readonly do: 'plain' }
  | { readonly do: 'quit' }
  | { readonly do: 'dump'; readonly turns: number | null }
  | { readonly do: 'copy'; readonly text: string }
  /** A call whole, or a part of it. `end`: its last rows are shown first. */
  | { readonly do: 'view-result'; readonly item: CallItem; readonly part: number; readonly end: boolean }
  | { readonly do: 'switch-session'; readonly of: string | KnownSession }
  /** `field`: where the name was typed; what is wrong with it is said there. */
  | { readonly do: 'new-session'; readonly name: string | null; readonly field?: Field }
  | { readonly do: 'load-sessions' }
  /** Sessions in whose messages the words of a filter stand. */
  | { readonly do: 'find-sessions'; readonly query: string }
  | { readonly do: 'load-models' }
  | { readonly do: 'load-run'; readonly run_id: string | null }
  /** What its steps and calls were given and made. */
  | { readonly do: 'load-run-data'; readonly run_id: string }
  | { readonly do: 'rename-session'; readonly of: KnownSession; readonly to: string; readonly field?: Field }
  | {
      readonly do: 'fork-session';
      readonly of: KnownSession;
      readonly to: string | null;
      readonly at: number | null;
      readonly field?: Field;
    }
  | { readonly do: 'delete-session'; readonly of: KnownSession; readonly force: boolean }
  | { readonly do: 'set-model'; readonly name: string; readonly backend: string; readonly save: boolean }
  | { readonly do: 'use-policy'; readonly name: string }
  | { readonly do: 'test-backend'; readonly name: string }
  | { readonly do: 'report'; readonly what: ReportKind; readonly of?: string }
  /** How far a run has used up its bounds. */
  | { readonly do: 'load-bounds'; readonly run_id: string }
  | { readonly do: 'load-runs' }
  | { readonly do: 'load-grants' }
  /** A remembered choice of the session; without an id, all of them. */
  | { readonly do: 'forget'; readonly id?: string }
  /** Asks first; with a run it is done. */
  | { readonly do: 'abandon'; readonly run_id?: string }
  | { readonly do: 'leave'; readonly cancel: boolean }
  | { readonly do: 'explain-ask'; readonly ask_id: string }
  /** Gives the keys to the card of an ask. */
  | { readonly do: 'focus-ask'; readonly id: string }
  /** What the policy in use says to a call. */
  | {
      readonly do: 'explain-call';
      readonly call: {
        readonly tools: string;
        readonly tool: string;
        readonly args: Readonly<Record<string, unknown>>;
      };
    }
  | { readonly do: 'resume-run'; readonly run_id: string }
  | { readonly do: 'cancel-run'; readonly run_id: string };
