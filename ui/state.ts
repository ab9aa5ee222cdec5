import type { Ask } from '../src/schema/ask.ts';
import type { Driver } from '../src/schema/run.ts';
import type { Glyphs } from '../src/view/escape.ts';
import { plural } from '../src/view/format.ts';
import type { Item } from '../src/view/items.ts';
import { type ApprovalsState, emptyApprovals } from './approvals/approvals-state.ts';
import type { Editing } from './composer/editing.ts';
import type { RunBounds } from './bounds.ts';
import { type ComposerState, emptyComposer } from './composer/composer-state.ts';
import type { Size } from './events.ts';
import type { KeyMap } from './keys/key-map.ts';
import type { Effect } from './effect.ts';
import type { Overlay } from './overlays/overlay.ts';
import { emptyPlan, type PlanState } from './plan/plan-state.ts';
import type { Far, Place } from './transcript/pages.ts';
import type { WelcomeRow } from './welcome.ts';
import type { Anchor } from './transcript/viewport.ts';

export type Pane = 'chat' | 'plan' | 'approvals';

/** The turn that runs. */
export type Turn = {
  /** Null until the run is accepted. */
  readonly run_id: string | null;
  readonly started_at: number;
  /** Since when it waits for a person; null while it works. */
  readonly waiting_since: number | null;
  readonly waited_ms: number;
  /** The last sign of life. */
  readonly heard_at: number;
  /** Interrupted by a key; at a second one nothing is waited for. */
  readonly interrupted_at: number | null;
  /** Another process drives it; which one is known when its record was read. Null = this program does. */
  readonly elsewhere: { readonly by: Driver | null } | null;
};

export type OpenSession = {
  readonly id: string;
  readonly name: string;
  /** Of the oldest message that stands in `items`; null when none is older. */
  readonly before: number | null;
  readonly loading: boolean;
  readonly deleted: boolean;
};

/** One line above the body (10 §2.1); the smallest rank is shown. */
export type Banner = {
  readonly rank: number;
  readonly id: string;
  readonly text: string;
  /** What must not be cut off: the command that mends it, or what follows from it. */
  readonly mend?: string | null;
  readonly fixed: boolean;
};

/** An item that a search has found. `after`: the page of stored messages behind that number has it; null = it is in memory. */
export type Hit = { readonly id: string; readonly after: number | null };

export type Search = {
  readonly editing: Editing;
  /** What is marked in the rows. */
  readonly query: string;
  readonly typing: boolean;
  /** Items that match, in order. */
  readonly hits: readonly Hit[];
  readonly at: number;
  /** The item that was opened to show what was found in it; it is closed again behind that. */
  readonly opened: string | null;
  readonly origin: Pick<State, 'anchor' | 'far'>;
};

export type Facts = {
  readonly policy: { readonly name: string; readonly sha256: string | null; readonly invalid: boolean } | null;
  readonly model: string | null;
  readonly backend: string | null;
  readonly context: { readonly used: number; readonly limit: number | null; readonly estimated: boolean } | null;
  readonly tokens: { readonly in: number; readonly out: number; readonly estimated: boolean };
  /** What the newest run of the session has used of its bounds; null while that is not known. */
  readonly bounds: RunBounds | null;
  /** The policy lets an agent answer. */
  readonly agentAnswers: boolean;
  /** Where a server of this database listens; null = there is none. */
  readonly server: number | null;
  /** The file that configuration is written to; null while that is not known. */
  readonly database: string | null;
  readonly cwd: string;
  readonly shell: boolean;
};

/**
 * Facts with others in their place. What another model holds is known when it is chosen for a turn, and what was counted
 * was counted for the model before.
 */
export function withFacts(facts: Facts, changed: Partial<Facts>): Facts {
  const next = { ...facts, ...changed };
  const isOther = next.model !== facts.model || next.backend !== facts.backend;
  if (!isOther || next.context === null) return next;
  return { ...next, context: { ...next.context, limit: null, estimated: true } };
}

export const noTokens: Facts['tokens'] = { in: 0, out: 0, estimated: false };

/** Before anything is known. */
export const firstFacts = ({ cwd, shell }: Pick<Facts, 'cwd' | 'shell'>): Facts => ({
  policy: null,
  model: null,
  backend: null,
  context: null,
  tokens: noTokens,
  bounds: null,
  agentAnswers: false,
  server: null,
  database: null,
  cwd,
  shell,
});

/** A run that rests, and how: `interrupted` where it was stopped, or its process is gone. */
export type Resting = { readonly rests: string; readonly stands: 'suspended' | 'interrupted' };

type Said = { readonly text: string; readonly bad: boolean; readonly until: number; readonly keysFrom: number };

export type State = {
  readonly size: Size;
  /** Of the theme, as it was at the last action: escapes take more room in the ASCII set. */
  readonly glyphs: Glyphs;
  readonly now: number;
  readonly phase: 'starting' | 'ready' | 'leaving';
  readonly pane: Pane;
  readonly keys: KeyMap;
  readonly chord: string | null;
  readonly session: OpenSession | null;
  /** The newest ones, to the end of the session. */
  readonly items: readonly Item[];
  /** The top row of the transcript; null = the end is in view and stays there. */
  readonly anchor: Anchor | null;
  /** Stored messages in view far from the end; null while what is in view belongs to `items`. */
  readonly far: Far | null;
  /** Where rows are missing while a page takes long to read. */
  readonly slowPage: 'top' | 'bottom' | null;
  /** On the way to a place whose messages are being read. */
  readonly going: Place | null;
  /** What stood at the end when the view was paused. */
  readonly paused: { readonly items: number; readonly lines: number } | null;
  /** Items that are not as they are by default: opened ones, and closed ones where the default is open. */
  readonly toggled: ReadonlySet<string>;
  readonly reading: { readonly selected: string | null } | null;
  readonly search: Search | null;
  readonly turn: Turn | null;
  readonly plan: PlanState;
  /** How the newest turn of the session stands where it is not completed: the run that rests, or why it has failed. */
  readonly ended: Resting | { readonly failed: string } | null;
  /** What has ended last here, in view or not: a turn, or what was driven of a plan. */
  readonly over: { readonly name: string; readonly failed: boolean; readonly ms: number } | null;
  readonly asks: readonly Ask[];
  readonly approvals: ApprovalsState;
  /** Asks that took the keys by themselves, or could have. */
  readonly offered: ReadonlySet<string>;
  /** When a card took the keys by itself. */
  readonly takenAt: number;
  /** When the last key came. */
  readonly keyAt: number;
  /** For a new user whose set-up is not ready; null = there is nothing to say. */
  readonly welcome: readonly WelcomeRow[] | null;
  readonly banners: readonly Banner[];
  readonly dismissed: ReadonlySet<string>;
  /** A line in place of the hints, until a time; a key from `keysFrom` on takes it away before. */
  readonly said: Said | null;
  readonly overlays: readonly Overlay[];
  readonly composer: ComposerState;
  /** The files that a message mentions are being read: it is sent when they are. */
  readonly attaching: boolean;
  /** Runs of `!` lines of the operator. */
  readonly lines: ReadonlySet<string>;
  /** Of the session that is open. */
  readonly facts: Facts;
  /** What the other sessions that were open here have spent. */
  readonly spent: ReadonlyMap<string, Facts['tokens']>;
  /** That a model has asked for the shell was said. */
  readonly shellMissed: boolean;
  /** A first Ctrl+C or Ctrl+D, and when. */
  readonly quitting: { readonly key: string; readonly at: number } | null;
  readonly closedAt: number;
  readonly thinkOpen: boolean;
  readonly collapse: number;
  /** Keys in this time after a card was drawn answer nothing (10 §7.3). */
  readonly guardMs: number;
  readonly editsIn: PassingEdits | null;
};

/** The session in which edits of files here pass unasked, and the policies under which they do. */
export type PassingEdits = { readonly session: string; readonly policies: readonly string[] };

export const firstState = (
  given: Pick<State, 'size' | 'now' | 'keys' | 'facts' | 'thinkOpen'> & Partial<Pick<State, 'glyphs'>>,
): State => ({
  glyphs: 'unicode',
  ...given,
  phase: 'starting',
  pane: 'chat',
  chord: null,
  session: null,
  items: [],
  anchor: null,
  paused: null,
  far: null,
  slowPage: null,
  going: null,
  toggled: new Set(),
  reading: null,
  search: null,
  turn: null,
  plan: emptyPlan,
  ended: null,
  over: null,
  asks: [],
  approvals: emptyApprovals,
  offered: new Set(),
  takenAt: Number.NEGATIVE_INFINITY,
  keyAt: Number.NEGATIVE_INFINITY,
  welcome: null,
  banners: [],
  dismissed: new Set(),
  shellMissed: false,
  said: null,
  overlays: [],
  composer: emptyComposer,
  attaching: false,
  lines: new Set(),
  spent: new Map(),
  quitting: null,
  closedAt: 0,
  collapse: 8,
  guardMs: 400,
  editsIn: null,
});

export type Change = { readonly state: State; readonly effects: readonly Effect[] };
export const only = (state: State, ...effects: readonly Effect[]): Change => ({ state, effects });

/** What runs, seen from a pane: the plan in its own, elsewhere the turn before it. */
export const activityOf = ({
  pane,
  turn,
  plan,
}: Pick<State, 'pane' | 'turn' | 'plan'>): Omit<Turn, 'elsewhere'> | null =>
  pane === 'plan' ? (plan.driving ?? turn) : (turn ?? plan.driving);

/** A message waits for what is asked about it: content that nobody trusts yet, a turn that was stopped. */
export const asksFirst = ({ turn, overlays }: Pick<State, 'turn' | 'overlays'>): boolean =>
  turn !== null &&
  turn.run_id === null &&
  overlays.some(
    (overlay) =>
      overlay.kind === 'trust' ||
      overlay.kind === 'definition' ||
      (overlay.kind === 'question' && overlay.otherwise !== undefined),
  );

/** The turn of the session that rests, and can go on. */
export const restingRun = ({ ended }: Pick<State, 'ended'>): string | null =>
  ended !== null && 'rests' in ended ? ended.rests : null;

/** The run whose asks belong to what is in view. */
export const runInView = ({
  pane,
  turn,
  plan,
  ended,
}: Pick<State, 'pane' | 'turn' | 'plan' | 'ended'>): string | null =>
  pane === 'plan' ? plan.run : turn === null ? restingRun({ ended }) : turn.run_id;

/** `1 ask`: what ends with a run that is interrupted. */
export const openAsksOf = ({ asks }: Pick<State, 'asks'>, runId: string | null): string =>
  plural(Math.max(1, asks.filter(({ run_id }) => run_id === runId).length), 'ask');
