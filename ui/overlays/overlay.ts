import type { RememberedChoice } from '../../src/schema/ask.ts';
import type { UntrustedContent } from '../../src/schema/overlay.ts';
import type { ModelRow } from '../../src/schema/registry.ts';
import type { PlanHead } from '../../src/schema/plan.ts';
import type { RunDetails, RunSummary } from '../../src/schema/run-record.ts';
import type { PolicyExplanation } from '../../src/schema/policy-views.ts';
import type { Passage, Session } from '../../src/schema/session.ts';
import type { CallItem } from '../../src/view/items.ts';
import { edit, type Editing, emptyEditing, isEdit } from '../composer/editing.ts';
import type { HeldDefinition } from '../held-definition.ts';
import type { Effect } from '../effect.ts';
import type { Field } from './field.ts';
import type { Looking } from './looking.ts';

/** A list with a filter. `field` has the keys while it is there; the letters of the list act only without it (10 §9). */
type List = { readonly at: number; readonly query: string; readonly field: Field | null };

/** A question names the effect, and Enter is never a yes. */
export type Choice = { readonly key: string; readonly words: string; readonly effects: readonly Effect[] };

/** A text that is read, with a search in it. `at`: the row at the top. */
type Text = {
  readonly title: string;
  readonly lines: readonly string[];
  readonly at: number;
  readonly find?: Find;
  /** Long lines are cut at the edge. */
  readonly unwrapped?: boolean;
};

/** A part of a result that is too long to be held whole. */
export type Part = {
  readonly item: CallItem;
  /** From 0. */
  readonly index: number;
  readonly count: number;
  /** Lines in the parts before it, and in all of them. */
  readonly firstLine: number;
  readonly allLines: number;
};

/** `at`: the line of the hit in view; null where nothing is found. */
export type Find = { readonly editing: Editing; readonly typing: boolean; readonly at: number | null };

/** Sessions in whose messages the words of a filter stand, each with its best passage; the best one first. */
export type SaidIn = { readonly query: string; readonly passages: ReadonlyMap<string, Passage> };

/** What is drawn over the body and has the keys (10 §9). */
export type Overlay =
  | (List & { readonly kind: 'help' })
  | (List & { readonly kind: 'palette' })
  | (List & { readonly kind: 'sessions'; readonly rows: readonly Session[] | null; readonly said?: SaidIn })
  | (List & {
      readonly kind: 'models';
      readonly rows: readonly ModelRow[] | null;
      readonly notes: readonly string[];
      /** How the backends stand; empty until they were asked. */
      readonly backends: string;
    })
  | (List & { readonly kind: 'plans'; readonly rows: readonly PlanHead[] | null })
  | (List & { readonly kind: 'runs'; readonly rows: readonly RunSummary[] | null })
  /** What was allowed for the session, until it ends. */
  | (List & { readonly kind: 'grants'; readonly rows: readonly RememberedChoice[] | null })
  | { readonly kind: 'run'; readonly run: RunDetails | null; readonly at: number }
  /** Content of the project that nobody trusts yet (10 §7.8). */
  | (Looking & {
      readonly kind: 'trust';
      readonly content: UntrustedContent;
      /** What is asked next. */
      readonly waiting: readonly UntrustedContent[];
    })
  /** A tool that a hook or a server describes otherwise than was accepted. */
  | (Looking & {
      readonly kind: 'definition';
      readonly held: HeldDefinition;
      readonly waiting: readonly HeldDefinition[];
    })
  /** Why a call is asked about, allowed or denied. `rules`: those of the document, where it is still the one in use. */
  | {
      readonly kind: 'why';
      readonly title: string;
      readonly explanation: PolicyExplanation;
      readonly rules: readonly unknown[] | null;
      /** What the policy says by now, where that is another verdict. */
      readonly byNow: string | null;
      /** The ask that it is about; null = none is. */
      readonly ask: string | null;
      /** The chosen one of the rules that were tried. */
      readonly at: number;
    }
  /** What a command reports. Lines are foreign until they are drawn. */
  | (Text & { readonly kind: 'explain' })
  /** A text whole, with numbered lines. */
  | (Text & { readonly kind: 'view'; readonly part?: Part })
  | {
      readonly kind: 'question';
      readonly title: string;
      readonly lines: readonly string[];
      readonly choices: readonly Choice[];
      /** What is done when it is closed without a choice. */
      readonly otherwise?: readonly Effect[];
      readonly at: number;
    };

export type ListOverlay = Extract<Overlay, List>;
/** A text that is read: what a command reports, or an item whole (10 §9). */
export type TextOverlay = Extract<Overlay, { readonly kind: 'explain' | 'view' }>;

export const filterField: Field = { label: 'filter', purpose: 'filter', editing: emptyEditing };
export const openList = <K extends ListOverlay['kind']>(kind: K) => ({ kind, at: 0, query: '', field: filterField });

export const isList = (overlay: Overlay): overlay is ListOverlay => 'query' in overlay;
export const isText = (overlay: Overlay): overlay is TextOverlay =>
  overlay.kind === 'explain' || overlay.kind === 'view';

/** Whether text that is typed goes into a field of the overlay. */
export const hasField = (overlay: Overlay): boolean =>
  isList(overlay) ? overlay.field !== null : isText(overlay) && overlay.find?.typing === true;

/** Lists without letters of their own: their field has nothing to give way to. */
export const hasOnlyField = (overlay: Overlay): boolean =>
  overlay.kind === 'palette' || overlay.kind === 'plans' || overlay.kind === 'help';

/** The field after a command of editing; unchanged by any other one. */
export function editField(field: Field, command: string): Field {
  const name = command.slice('field.'.length);
  return isEdit(name) ? { ...field, editing: edit(field.editing, name) } : field;
}
