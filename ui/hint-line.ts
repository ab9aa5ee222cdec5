import { foreign, type Line, say } from '../src/view/line.ts';
import { columnsOf, cutLine, fitLine } from '../src/view/wrap.ts';
import { isComposerEmpty } from './composer/composer-state.ts';
import { fieldLine } from './field-line.ts';
import { hints, keyOf } from './keys/key-map.ts';
import { activityOf, type Search, type State, openAsksOf } from './state.ts';

/** The keys that do something now, the most useful ones first; or what has just been said (10 §2.1). */
export function hintLine(state: State): Line {
  const { columns } = state.size;
  if (state.said !== null)
    return fitLine(
      cutLine([say(' '), ...foreign(state.said.text, state.said.bad ? 'danger' : 'accent')], columns),
      columns,
    );
  if (state.search !== null && state.overlays.length === 0 && state.approvals.card === null)
    return searchLine(state.search, columns);
  const active = activityOf(state);
  const waiting = active?.waiting_since != null;
  const interrupt = keyOf(state.keys, 'app.interrupt') ?? 'Esc';
  const words =
    state.chord !== null
      ? [`${state.chord} …`]
      : state.overlays.length > 0
        ? // What lies on top has the keys; its own ones stand at its foot.
          hints(state.keys, ['overlay.close'])
        : state.approvals.card !== null && state.overlays.length === 0
          ? [
              'card has the keys',
              ...(state.approvals.card.full ? hints(state.keys, ['card.page', 'card.find', 'card.next-flag']) : []),
              ...hints(state.keys, ['card.leave', 'app.next-ask', 'card.explain', 'card.full', 'app.help']),
            ]
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
                ...(active !== null && state.pane !== 'approvals'
                  ? [`${interrupt} interrupts${waiting ? ` and withdraws ${openAsksOf(state, active.run_id)}` : ''}`]
                  : []),
                ...(state.pane === 'chat' && !isComposerEmpty(state.composer)
                  ? hints(state.keys, ['composer.send', 'composer.newline'])
                  : []),
                ...(state.asks.length > 0 ? hints(state.keys, ['app.next-ask']) : []),
                ...(state.pane === 'plan'
                  ? hints(
                      state.keys,
                      state.plan.field === null
                        ? [
                            'plan.next',
                            'plan.auto',
                            'plan.retry',
                            'plan.skip',
                            'plan.replan',
                            'plan.new',
                            'plan.open',
                            'plan.details',
                          ]
                        : ['field.accept', 'field.newline', 'field.close'],
                    )
                  : []),
                ...(state.pane === 'approvals'
                  ? hints(state.keys, [
                      'approvals.open',
                      'approvals.select',
                      'approvals.deny',
                      'approvals.history',
                      'approvals.filter',
                      'app.next-pane',
                      'app.help',
                    ])
                  : state.pane === 'plan' && state.plan.field !== null
                    ? []
                    : hints(
                        state.keys,
                        state.pane === 'plan'
                          ? ['app.help', 'app.next-pane', 'app.palette']
                          : ['app.next-pane', 'app.palette', 'app.read', 'app.help'],
                      )),
              ];
  return fitLine([say(` ${whole(words, columns - 1)}`, 'dim')], columns);
}

/** As many as fit, none of them cut. */
function whole(words: readonly string[], columns: number): string {
  let line = '';
  for (const word of words) {
    const longer = line === '' ? word : `${line}   ${word}`;
    if (columnsOf(longer) > columns) break;
    line = longer;
  }
  return line;
}

/** The field of a search, or where it stands: `3 of 41` counted from the newest hit. */
function searchLine({ editing, typing, query, hits, at }: Search, columns: number): Line {
  const text: Line = typing ? fieldLine(editing) : foreign(query);
  const count = query === '' ? '' : hits.length === 0 ? 'no hit' : `${hits.length - at} of ${hits.length}`;
  const keys = typing ? 'Enter keep   Esc back' : 'n next   N previous   / search   Esc leave';
  return fitLine(
    cutLine([say(' search: ', 'accent'), ...text, say(`   ${count}`, 'accent'), say(`   ${keys}`, 'dim')], columns),
    columns,
  );
}
