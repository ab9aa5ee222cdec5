import { edit, emptyEditing, pasteText, typeText, isEdit } from '../composer/editing.ts';
import { wholeText } from '../composer/draft.ts';
import { keepText } from '../composer/composer-state.ts';
import { moveRow } from '../composer/visual-lines.ts';
import { columnsOf } from '../../src/view/wrap.ts';
import { plural } from '../../src/view/format.ts';
import { stepWaits } from '../../src/view/plan-lines.ts';
import type { Plan } from '../../src/schema/plan.ts';
import type { Effect } from '../effect.ts';
import { keyOf } from '../keys/key-map.ts';
import type { Ruler } from '../move.ts';
import { endPlace, moved } from '../transcript/viewport.ts';
import { openList } from '../overlays/overlay.ts';
import { type Change, only, type State } from '../state.ts';
import { detailLines, paneParts, planAnchor, planBlocks, stepRows } from './plan-lines.ts';
import {
  chosenStep,
  isLive,
  type PlanField,
  type PlanIntent,
  type PlanState,
  reducePlan,
  runningStep,
  viewing,
  type PlanAction,
} from './plan-state.ts';
import { type KeyOf, noKeys, noPlan, waysOn } from './plan-ways.ts';

const wants = (...intents: readonly PlanIntent[]): readonly Effect[] =>
  intents.map((intent) => ({ do: 'plan', intent }) as const);

/** One step of the plan pane, with what it leads to. */
export function planned(state: State, action: PlanAction, now: number): Change {
  const { state: plan, intents } = reducePlan(state.plan, action, now);
  // Who reads the transcript of a step has nothing left to read when another one takes its place.
  const away = state.pane === 'plan' && plan.run !== state.plan.run;
  const over = overBy(state, action, now);
  return only({ ...state, plan, over, ...(away ? { reading: null, search: null } : {}) }, ...wants(...intents));
}

/** What has ended last, once what was driven of the plan is over. */
function overBy({ plan: { plan, driving }, over }: State, action: PlanAction, now: number): State['over'] {
  if (action.type !== 'driven-out' || action.how === 'rests' || driving === null) return over;
  return { name: plan?.name ?? 'plan', failed: action.how === 'failed', ms: now - driving.since };
}

const withPlan = (state: State, plan: Partial<PlanState>): State => ({ ...state, plan: { ...state.plan, ...plan } });
const told = (state: State, text: string, bad = true): Change => only(withPlan(state, { said: { text, bad } }));

/** A key of the pane (10 §8). */
export function planCommand(given: State, ruler: Ruler, id: string, now: number, typed = false): Change {
  const state = withPlan(given, { said: null });
  // Who has typed a command is told commands: the screen may be lines, which have no keys for it.
  const key: KeyOf = typed ? noKeys : (id) => keyOf(state.keys, id);
  const { plan, driving } = state.plan;
  switch (id) {
    case 'plan.new':
      return driving === null ? only(withField(state, 'goal')) : told(state, busyWords);
    case 'plan.open':
      return openedPlans(state);
    case 'plan.page-up':
    case 'plan.page-down':
    case 'plan.top':
    case 'plan.bottom':
      return scrolled(state, ruler, id);
  }
  const step = chosenStep(state.plan);
  if (plan === null) return told(state, noPlan(key));
  switch (id) {
    case 'plan.up':
    case 'plan.down':
      return chosen(state, id === 'plan.up' ? -1 : 1, now);
    case 'plan.first':
    case 'plan.last':
      return chosen(state, id === 'plan.first' ? -1_000_000 : 1_000_000, now);
    case 'plan.next':
      return driving === null
        ? only(state, ...wants({ do: 'steps', plan: plan.name, auto: false }))
        : told(state, busyWords);
    case 'plan.auto':
      return auto(state, plan, key);
    case 'plan.replan':
      return driving === null ? only(withField(state, 'instruction')) : told(state, busyWords);
    case 'plan.explore':
      return driving === null ? only(state, ...wants({ do: 'explore', plan: plan.name })) : told(state, busyWords);
    case 'plan.delete':
      return asked(state, `Delete plan "${plan.name}" with its ${plural(plan.total, 'step')}?`, 'delete it', {
        do: 'delete',
        plan: plan.name,
      });
  }
  if (step === null) return told(state, 'the plan has no steps');
  const one = { plan: plan.name, ordinal: step.ordinal };
  switch (id) {
    case 'plan.retry':
      return only(state, ...wants({ do: 'retry', ...one }));
    case 'plan.skip': {
      const skip = { do: 'skip', ...one } as const;
      if (step.status === 'waiting' || step.ask_id !== null)
        return asked(state, `Step ${step.ordinal} ${stepWaits(step)}. Skip it, and withdraw its ask?`, 'skip it', skip);
      if (step.status === 'completed')
        return asked(
          state,
          `Step ${step.ordinal} is done. Mark it as skipped, and lose what it left?`,
          'skip it',
          skip,
        );
      return only(state, ...wants(skip));
    }
    case 'plan.details':
    case 'plan.full':
      return only({
        ...state,
        overlays: [
          ...state.overlays,
          { kind: 'explain', title: `Step ${step.ordinal} of ${plan.total}`, at: 0, lines: detailLines(step, true) },
        ],
      });
    default:
      return only(state);
  }
}

const busyWords = 'a run of a plan is going on here: Ctrl+C interrupts it';

/** An empty field; Ctrl+Y in it has what was cut or left before, as in the composer. */
const withField = (state: State, purpose: PlanField['purpose']): State =>
  withPlan(state, {
    field: { purpose, editing: { ...emptyEditing, kill: state.composer.editing.kill }, explore: false },
  });

const openedPlans = (state: State): Change =>
  only({ ...state, overlays: [...state.overlays, { ...openList('plans'), rows: null }] }, ...wants({ do: 'list' }));

function asked(state: State, line: string, words: string, intent: PlanIntent): Change {
  const overlay = {
    kind: 'question',
    title: 'Plan',
    lines: [line],
    choices: [{ key: 'y', words, effects: wants(intent) }],
    at: 0,
  } as const;
  return only({ ...state, overlays: [...state.overlays, overlay] });
}

/** All pending steps, after one question; while they run, the key stops after the current one. */
function auto(state: State, plan: Plan, key: KeyOf): Change {
  const { driving } = state.plan;
  if (state.plan.auto)
    return only(withPlan(state, { auto: false, said: { text: 'stops after this step', bad: false } }));
  if (driving !== null && driving.phase !== 'step') return told(state, busyWords);
  const left = plan.steps.filter(({ status }) => status === 'pending' || status === 'running' || status === 'waiting');
  if (left.length === 0) return told(state, 'no step is pending', false);
  // It would be refused; who answered the question would be told only then.
  const failed = plan.steps.find(({ status }) => status === 'failed');
  if (failed !== undefined) return told(state, `step ${failed.ordinal} has failed: ${waysOn(key, failed.ordinal)}`);
  const line = `Run ${plural(left.length, 'step')}? They stop at every ask and at the first failure.`;
  return asked(state, line, 'run them', { do: 'steps', plan: plan.name, auto: true });
}

function chosen(state: State, by: number, now: number): Change {
  const steps = state.plan.plan?.steps ?? [];
  const at = steps.findIndex(({ id }) => id === chosenStep(state.plan)?.id);
  const next = steps[Math.max(0, Math.min(at + by, steps.length - 1))];
  const moved = viewing({ ...state.plan, chosen: next?.id ?? null, chosenAt: now, anchor: null });
  return only({ ...state, plan: moved.state }, ...wants(...moved.intents));
}

function scrolled(state: State, ruler: Ruler, id: string): Change {
  const { columns } = paneParts(state).right;
  const rows = stepRows(state);
  const blocks = planBlocks(state, ruler.cache, ruler.glyphs, columns);
  const page = Math.max(1, rows - 2);
  const by =
    { 'plan.page-up': -page, 'plan.page-down': page, 'plan.top': -1_000_000, 'plan.bottom': 1_000_000 }[id] ?? 0;
  const anchor = moved(blocks, planAnchor(state), by, rows);
  // What is over has no end that would be followed: it stays where it was scrolled to.
  const end = endPlace(blocks, rows);
  const kept = anchor ?? (isLive(state.plan) ? null : { id: blocks.idOf(end.index), line: end.line });
  return only(withPlan(state, { anchor: kept }));
}

/** A command while the field of the pane has the keys; Tab is one of them. */
export function planFieldCommand(state: State, id: string, now: number): Change {
  const { field, plan } = state.plan;
  if (field === null) return only(state);
  const edited = (editing: PlanField['editing']): Change => only(withPlan(state, { field: { ...field, editing } }));
  switch (id) {
    case 'app.next-pane':
      return field.purpose === 'goal'
        ? only(withPlan(state, { field: { ...field, explore: !field.explore } }))
        : only(state);
    case 'field.close': {
      const text = wholeText(field.editing);
      const closed: State = { ...withPlan(state, { field: null }), closedAt: now };
      if (text.trim() === '') return only(closed);
      // A goal can be long, and one key closes its field.
      return told({ ...closed, composer: keepText(closed.composer, text) }, 'Ctrl+Y has what you typed', false);
    }
    case 'field.newline':
      return edited(typeText(field.editing, '\n'));
    case 'field.up':
    case 'field.down': {
      const row = moveRow(
        field.editing,
        id === 'field.up' ? -1 : 1,
        fieldColumns(state),
        columnsOf,
        null,
        state.glyphs,
      );
      return row === null ? only(state) : edited({ ...field.editing, caret: row.caret, typing: false });
    }
    case 'field.accept': {
      const text = wholeText(field.editing).trim();
      if (field.purpose === 'instruction')
        return plan === null
          ? only(state)
          : only(
              withPlan(state, { field: null }),
              ...wants({ do: 'replan', plan: plan.name, instruction: text, field: text === '' ? null : field }),
            );
      return text === ''
        ? told(state, 'a plan needs a goal')
        : only(withPlan(state, { field: null }), ...wants({ do: 'new', field, goal: text }));
    }
    default: {
      const name = id.slice('field.'.length);
      return isEdit(name) ? edited(edit(field.editing, name)) : only(state);
    }
  }
}

const fieldColumns = (state: Pick<State, 'size'>): number => Math.max(4, state.size.columns - 2);

/** Text that is typed or pasted in the pane. Without a field it means nothing. */
export function planText(state: State, text: string, pasted: boolean): Change {
  const { field } = state.plan;
  if (field === null) return only(state);
  // The instruction is a single line.
  const given = field.purpose === 'instruction' ? text.replaceAll(/\s*\n\s*/g, ' ') : text;
  const editing = pasted ? pasteText(field.editing, given) : typeText(field.editing, given);
  return only(withPlan(state, { field: { ...field, editing } }));
}

/** `/plan …` (10 §6.5), in the plan pane. */
export function planSlash(given: State, ruler: Ruler, args: string, now: number): Change | string {
  const state: State = { ...given, pane: 'plan', reading: null };
  const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(args.trim()) ?? [];
  const { plan, driving } = state.plan;
  if (word === '' || word === 'show') return only(state);
  if (word === 'list') return openedPlans(state);
  if (word === 'switch') return rest === '' ? openedPlans(state) : only(state, ...wants({ do: 'switch', plan: rest }));
  if (word === 'new') {
    if (driving !== null) return told(state, busyWords);
    const field: PlanField = { purpose: 'goal', editing: typeText(emptyEditing, rest), explore: false };
    return rest === '' ? only(withField(state, 'goal')) : only(state, ...wants({ do: 'new', field, goal: rest }));
  }
  if (word === 'next' || word === 'auto') return planCommand(state, ruler, `plan.${word}`, now, true);
  if (plan === null) return told(state, noPlan(noKeys));
  if (word === 'replan')
    return driving === null
      ? only(state, ...wants({ do: 'replan', plan: plan.name, instruction: rest, field: null }))
      : told(state, busyWords);
  const ordinal = Number(rest);
  if (!/^\d+$/.test(rest)) return `/plan ${word} takes the number of a step, 1 to ${plan.total}`;
  return only(state, ...wants({ do: word === 'retry' ? 'retry' : 'skip', plan: plan.name, ordinal }));
}

/** What Esc and Ctrl+C interrupt in the pane: the run that this process drives. */
export function interruptPlan(state: State, now: number): Change | null {
  const { driving } = state.plan;
  if (driving === null || driving.run_id === null) {
    const other = runningStep(state.plan);
    return other === null || driving !== null ? null : told(state, `step ${other.ordinal} is run by another process`);
  }
  const stopped: State = withPlan(state, {
    auto: false,
    driving: { ...driving, interrupted_at: driving.interrupted_at ?? now },
  });
  return only({ ...stopped, quitting: null }, { do: 'interrupt', run_id: driving.run_id });
}
