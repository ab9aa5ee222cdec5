import { choices } from '../../src/view/ask-card.ts';
import { hints, type KeyMap, keyOf } from '../keys/key-map.ts';
import { type ApprovalsState, focusedAsk } from './approvals-state.ts';

/** The keys of the list of asks; of its question and its filter while they have the keys. */
export function listHints(
  {
    asks,
    denying,
    filter,
    history,
    marked,
  }: Pick<ApprovalsState, 'asks' | 'denying' | 'filter' | 'history' | 'marked'>,
  keys: KeyMap,
): readonly string[] {
  if (denying !== null) return ['y denies them', 'n back', ...hints(keys, ['app.help'])];
  if (history !== null)
    return [
      ...hints(keys, ['approvals.up', 'approvals.page-down']),
      `${keyOf(keys, 'approvals.history') ?? 'Esc'} back`,
      ...hints(keys, ['app.next-pane', 'app.help']),
    ];
  if (filter.typing) return [...hints(keys, ['field.accept', 'field.close']), ...hints(keys, ['app.help'])];
  return hints(keys, [
    ...(asks.length > 0 ? ['approvals.open', 'approvals.select'] : []),
    ...(marked.size > 0 ? ['approvals.deny'] : []),
    ...(asks.length > 1 ? ['approvals.group'] : []),
    'approvals.history',
    'approvals.filter',
    'app.next-pane',
    'app.help',
  ]);
}

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
          ? [...hints(keys, ['card.line-up', 'card.page', 'card.find', 'card.next-flag']), back]
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
