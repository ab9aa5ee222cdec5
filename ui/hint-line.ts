import { foreign, type Line, say } from '../src/view/line.ts';
import { cutLine, fitLine } from '../src/view/wrap.ts';
import { isComposerEmpty } from './composer/composer-state.ts';
import { hints, keyOf } from './keys/key-map.ts';
import type { State } from './state.ts';

/** The keys that do something now, the most useful ones first; or what has just been said (10 §2.1). */
export function hintLine(state: State): Line {
  const { columns } = state.size;
  if (state.said !== null)
    return fitLine(
      cutLine([say(' '), ...foreign(state.said.text, state.said.bad ? 'danger' : 'accent')], columns),
      columns,
    );
  const waiting = state.turn?.waiting_since != null;
  const interrupt = keyOf(state.keys, 'app.interrupt') ?? 'Esc';
  const words =
    state.chord !== null
      ? [`${state.chord} …`]
      : state.approvals.card !== null && state.overlays.length === 0
        ? [
            'card has the keys',
            ...hints(state.keys, ['card.leave', 'app.next-ask', 'card.explain', 'card.full', 'app.help']),
          ]
        : state.reading !== null
          ? ['reading', ...hints(state.keys, ['reading.toggle', 'reading.copy', 'reading.search', 'reading.leave'])]
          : [
              ...(state.turn !== null ? [`${interrupt} interrupts${waiting ? ' and withdraws the ask' : ''}`] : []),
              ...(state.pane === 'chat' && !isComposerEmpty(state.composer)
                ? hints(state.keys, ['composer.send', 'composer.newline'])
                : []),
              ...(state.asks.length > 0 ? hints(state.keys, ['app.next-ask']) : []),
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
                : hints(state.keys, ['app.next-pane', 'app.palette', 'app.read', 'app.help'])),
            ];
  return fitLine(cutLine([say(` ${words.join('   ')}`, 'dim')], columns, ''), columns);
}
