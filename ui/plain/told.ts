import { formatSpan } from '../../src/view/format.ts';
import { textOf } from '../../src/view/line.ts';
import { labelled } from '../../src/view/plain-lines.ts';
import type { Overlay } from '../overlays/overlay.ts';
import { viewOf } from '../overlays/views.ts';
import { whyText } from '../overlays/why-view.ts';
import type { State } from '../state.ts';
import { shortCount } from '../status-lines.ts';
import { createPrinter } from './printer.ts';

export type Question = Extract<Overlay, { kind: 'question' }>;

export type TellerDeps = {
  readonly write: (line: string) => void;
  readonly thinkOpen: boolean;
  readonly columns: () => number;
  readonly now: () => number;
  readonly bell: () => void;
  /** A question was put, which the next line answers. */
  readonly asked: (question: Question) => void;
};

/** Writes what has changed since the state before; nothing is written twice (10 §10.1). */
export function createTeller(deps: TellerDeps) {
  const { write } = deps;
  const printer = createPrinter(write, () => deps.thinkOpen);
  let before: State | null = null;

  const isLoading = (overlay: Overlay): boolean => 'rows' in overlay && overlay.rows === null;
  const show = (overlay: Overlay, state: State): void => {
    const view = viewOf(inLines(overlay), state, columnsFor(overlay, deps.columns()));
    write(`note: ${view.title}`);
    for (const line of view.body) write(`note: ${textOf(line)}`.trimEnd());
    if (overlay.kind !== 'question') return;
    deps.asked(overlay);
    for (const { key, words } of overlay.choices) write(`note: ${key} and Enter: ${words}; anything else does nothing`);
  };
  const said = (line: { readonly text: string; readonly bad: boolean } | null): void => {
    if (line === null) return;
    for (const each of labelled(line.bad ? 'warning: ' : 'note: ', line.text)) write(each);
  };
  const turnEnded = ({ context, tokens }: State['facts'], startedAt: number): void => {
    const limit = context?.limit == null ? '?' : shortCount(context.limit);
    const used = context === null ? '' : `, context ${shortCount(context.used)} of ${limit}`;
    const took = formatSpan(deps.now() - startedAt);
    write(`note: ${took}, ${shortCount(tokens.in)} tokens in, ${shortCount(tokens.out)} out${used}`);
    deps.bell();
  };

  return {
    /** @returns whether a turn has begun or ended, and whether a layer was written, which has then done its service */
    tell(state: State): { readonly turned: boolean; readonly showed: boolean } {
      const last = before;
      before = state;
      printer.items(state.items, state.turn?.run_id ?? null);
      const whole = state.overlays.filter((overlay) => !isLoading(overlay));
      for (const overlay of whole) show(overlay, state);
      if (state.composer.problems !== last?.composer.problems)
        for (const problem of state.composer.problems) said({ text: problem, bad: true });
      if (state.said !== last?.said) said(state.said);
      if (state.plan.said !== last?.plan.said) said(state.plan.said);
      if (last?.turn != null && state.turn === null) turnEnded(state.facts, last.turn.started_at);
      return { turned: (last?.turn != null) !== (state.turn !== null), showed: whole.length > 0 };
    },
  };
}

/** Tables are for a screen: here the same is told in sentences. */
const inLines = (overlay: Overlay): Overlay =>
  overlay.kind === 'why'
    ? { kind: 'explain', title: overlay.title, lines: whyText(overlay).split('\n'), at: 0 }
    : overlay;

/** Behind the label; the overview of the keys is one column. */
const columnsFor = (overlay: Overlay, columns: number): number =>
  overlay.kind === 'help' ? 60 : Math.max(40, columns - 6);
