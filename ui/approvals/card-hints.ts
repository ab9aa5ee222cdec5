import { choices } from '../../src/view/ask-card.ts';
import { hints, type KeyMap, keyOf } from '../keys/key-map.ts';
import { type ApprovalsState, focusedAsk } from './approvals-state.ts';

/** The keys that do something on the card that has them, as it is now (10 §2.1). */
export function cardHints(approvals: Pick<ApprovalsState, 'asks' | 'card'>, keys: KeyMap): readonly string[] {
  const { card } = approvals;
  const ask = focusedAsk(approvals);
  if (card === null || ask === null) return [];
  const back = `${keyOf(keys, 'card.leave') ?? 'Esc'} back`;
  const lines = card.mode.at === 'edit' || (card.mode.at === 'field' && card.mode.for !== 'deny_feedback');
  switch (card.mode.at) {
    case 'sending':
      return ['sending…'];
    case 'field':
    case 'edit':
      return [
        'the field has the keys',
        ...hints(keys, ['field.accept', ...(lines ? ['field.newline'] : [])]),
        back,
        ...hints(keys, ['app.help']),
      ];
    case 'find':
    case 'rule':
    case 'no-words':
    case 'run-edited':
      return ['card has the keys', back, ...hints(keys, ['app.help'])];
    case 'choices': {
      const offered = choices(ask);
      return [
        'card has the keys',
        ...(card.full
          ? [...hints(keys, ['card.page', 'card.find', 'card.next-flag']), back]
          : hints(keys, ['card.leave'])),
        ...(approvals.asks.length > 1 ? hints(keys, ['app.next-ask']) : []),
        ...hints(keys, [
          ...(offered.includes('explain') ? ['card.explain'] : []),
          ...(offered.includes('full') && !card.full ? ['card.full'] : []),
          'app.next-pane',
          'app.help',
        ]),
      ];
    }
  }
}
