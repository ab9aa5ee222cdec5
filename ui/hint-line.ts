import { foreign, type Line, say } from '../src/view/line.ts';
import { columnsOf, cutLine, fitLine } from '../src/view/wrap.ts';
import { cardHints, listHints } from './approvals/card-hints.ts';
import { isComposerEmpty } from './composer/composer-state.ts';
import { caretInView, fieldLine } from './field-line.ts';
import { hints, type KeyMap, keyOf } from './keys/key-map.ts';
import { activityOf, type Search, type State, openAsksOf } from './state.ts';

/** The keys that do something now, the most useful ones first; or what has just been said (10 §2.1). */
export function hintLine(state: State): Line {
  const { columns } = state.size;
  if (state.said !== null)
    return fitLine(
      cutLine([say(' '), ...foreign(state.said.text, state.glyphs, state.said.bad ? 'danger' : 'accent')], columns),
      columns,
    );
  if (state.search !== null && state.overlays.length === 0 && state.approvals.card === null)
    return searchLine(state.search, state, columns);
  const active = activityOf(state);
  const waiting = active?.waiting_since != null;
  const interrupt = keyOf(state.keys, 'app.interrupt') ?? 'Esc';
  const words =
    state.chord !== null
      ? [`${state.chord} …`]
      : state.overlays.length > 0
        ? // What lies on top has the keys; its own ones stand at its foot.
          hints(state.keys, ['overlay.close'])
        : state.composer.search !== null && state.pane === 'chat' && state.approvals.card === null
          ? ['Enter takes it', 'Up Down choose', 'Esc back']
          : state.approvals.card !== null && state.overlays.length === 0
            ? cardHints(state.approvals, state.keys)
            : state.reading !== null
              ? [
                  'reading',
                  ...hints(state.keys, [
                    'reading.toggle',
                    'reading.full',
                    'reading.explain',
                    'reading.copy',
                    'reading.search',
                    'reading.leave',
                  ]),
                ]
              : [
                  ...(state.asks.length > 0 && state.pane !== 'approvals' ? [nextAskHint(state, waiting)] : []),
                  ...(active !== null && state.pane !== 'approvals'
                    ? [`${interrupt} interrupts${waiting ? ` and withdraws ${openAsksOf(state, active.run_id)}` : ''}`]
                    : []),
                  ...(state.pane === 'chat' ? composerHints(state) : []),
                  ...(state.pane === 'plan' ? planHints(state) : []),
                  ...(state.pane === 'approvals'
                    ? listHints(state.approvals, state.keys)
                    : state.pane === 'plan'
                      ? []
                      : hints(state.keys, ['app.next-pane', 'app.palette', 'app.read', 'app.help'])),
                ];
  // The plan has more keys than the other panes.
  const gap = state.pane === 'plan' ? '  ' : '   ';
  return fitLine([say(` ${whole(words, columns - 1, gap)}`, 'dim')], columns);
}

/** What Enter does with the text that stands there, and where an empty composer gets one that waits back (10 §6.8). */
function composerHints({ keys, composer, turn }: State): readonly string[] {
  if (isComposerEmpty(composer)) {
    const up = keyOf(keys, 'composer.up');
    return composer.queue.length === 0 || up === null ? [] : [`${up} takes the last queued message back`];
  }
  const send = keyOf(keys, 'composer.send');
  const waits = turn !== null && !/^[/!]/.test(composer.editing.text);
  return [
    ...(waits && send !== null ? [`${send} queues it`] : hints(keys, ['composer.send'])),
    ...hints(keys, ['composer.newline']),
  ];
}

/** Keys of the plan pane that do something now. */
function planHints({ keys, plan }: State): readonly string[] {
  if (plan.field !== null) {
    const edits = plan.field.purpose === 'goal' ? ['field.newline'] : [];
    return hints(keys, ['field.accept', ...edits, 'field.close']);
  }
  const outside = ['app.help', 'app.next-pane', 'app.palette'];
  if (plan.plan === null) return hints(keys, plan.driving === null ? ['plan.new', 'plan.open', ...outside] : outside);
  if (plan.driving !== null) {
    const auto = keyOf(keys, 'plan.auto');
    const stop =
      auto === null || plan.driving.phase !== 'step' ? [] : [`${auto} ${plan.auto ? 'stop after this step' : 'auto'}`];
    return [...stop, ...hints(keys, ['plan.details', ...outside])];
  }
  const own = ['plan.next', 'plan.auto', 'plan.retry', 'plan.skip', 'plan.replan', 'plan.new', 'plan.details'];
  return hints(keys, [...own, 'app.help', 'plan.open', 'app.next-pane', 'plan.explore', 'plan.delete', 'app.palette']);
}

/** Where the run in view waits, its ask is what the key answers. */
const nextAskHint = ({ keys }: State, waiting: boolean): string =>
  waiting ? `${keyOf(keys, 'app.next-ask') ?? 'Ctrl+N'} answers the ask` : (hints(keys, ['app.next-ask'])[0] ?? '');

/** The first words, as many as fit whole. */
function whole(words: readonly string[], columns: number, gap: string): string {
  let line = '';
  for (const word of words) {
    const longer = line === '' ? word : `${line}${gap}${word}`;
    if (columnsOf(longer) > columns) break;
    line = longer;
  }
  return line;
}

/** The field of a search, or where it stands: `3 of 41` counted from the newest hit. */
function searchLine({ editing, typing, query, hits, at }: Search, { keys, glyphs }: State, columns: number): Line {
  const text: Line = typing ? fieldLine(editing, glyphs) : foreign(query, glyphs);
  const count = query === '' ? '' : hits.length === 0 ? 'no hit' : `${hits.length - at} of ${hits.length}`;
  const moves = hits.length > 1 ? ['reading.next-hit', 'reading.previous-hit'] : [];
  const words = typing
    ? [...named(keys, 'field.accept', 'keep'), ...named(keys, 'field.close', 'back')]
    : hints(keys, [...moves, 'reading.search', 'reading.leave']);
  const shown = words.join('   ');
  const line = [say(' search: ', 'accent'), ...text, say(`   ${count}`, 'accent'), say(`   ${shown}`, 'dim')];
  return fitLine(cutLine(caretInView(line, columns), columns), columns);
}

const named = (keys: KeyMap, id: string, words: string): readonly string[] => {
  const key = keyOf(keys, id);
  return key === null ? [] : [`${key} ${words}`];
};
