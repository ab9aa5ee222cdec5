import { readArguments } from '../../src/view/asked-arguments.ts';
import { type EditCommand, type Editing, edit, editingOf, replace, typeText } from '../composer/editing.ts';
import { draftOf, wholeText } from '../composer/draft.ts';
import { type CardMode, type CardState, type Carded, answer, only, saying, guarded } from './card-state.ts';

const maxFeedback = 4000;
const maxAnswer = 20_000;
export const textField = (text: string): Editing => editingOf(draftOf(text.trimEnd()));

/** Text for the field that is open. Paste lands here and nowhere else. */
export function typeInCard(card: CardState, text: string): Carded {
  const { mode } = card;
  if (mode.at !== 'field' && mode.at !== 'edit') return only(card);
  const room = mode.at === 'edit' || mode.for !== 'deny_feedback' ? text : text.replaceAll(/[\r\n]+/g, ' ');
  const visible = room.replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f]/g, '');
  const limit = mode.at === 'edit' ? 1024 * 1024 : mode.for === 'deny_feedback' ? maxFeedback : maxAnswer;
  if ([...mode.editing.text, ...visible].length > limit)
    return saying(card, `at most ${limit} characters: nothing was put in`);
  return only({ ...card, said: null, mode: edited(mode, typeText(mode.editing, visible)) });
}

export function editInCard(card: CardState, command: EditCommand): Carded {
  const { mode } = card;
  if (mode.at !== 'field' && mode.at !== 'edit') return only(card);
  return only({ ...card, mode: edited(mode, edit(mode.editing, command)) });
}

type FieldMode = Extract<CardMode, { readonly at: 'field' | 'edit' }>;

/** The field goes on being used, so nobody is about to leave it. */
const edited = (mode: FieldMode, editing: Editing): FieldMode =>
  mode.at === 'edit' ? { at: 'edit', editing, original: mode.original } : { ...mode, editing };

/** Enter in a field: the words go with their verdict, the arguments are judged. */
export function acceptField(card: CardState, now: number, guardMs: number): Carded {
  const { mode } = card;
  if (mode.at === 'edit') {
    const text = wholeText(mode.editing);
    const read = readArguments(text, mode.original);
    // The field is still open here.
    if (!read.ok) return saying(card, read.message.replace(/; e opens (?:it|them) again$/, ''));
    return only(
      { ...card, mode: { at: 'sending' }, said: null },
      { do: 'judge-edit', id: card.id, args: read.args, text },
    );
  }
  if (mode.at !== 'field') return only(card);
  const words = wholeText(mode.editing).trim();
  if (mode.for === 'deny_feedback') {
    if (words !== '') return answer(card, { outcome: 'deny', feedback: words });
    return only({ ...guarded(card, now, guardMs), mode: { at: 'no-words' } });
  }
  if (words === '') return saying(card, 'an answer needs words; Esc goes back');
  if (mode.for === 'answer') return answer(card, { outcome: 'answer', text: words });
  return answer(card, { outcome: 'answer', treat_as: 'done', text: words });
}

/** Closes what is open on a card. @returns null when nothing is: Esc then leaves the card for later */
export function closeInCard(card: CardState, now: number, guardMs: number): CardState | null {
  const { mode } = card;
  if (mode.at === 'run-edited') {
    const editing = textField(mode.text);
    return { ...guarded(card, now, guardMs), mode: { at: 'edit', editing, original: '' } };
  }
  if (mode.at === 'edit' && mode.leaving !== true && wholeText(mode.editing) !== mode.original.trimEnd())
    return { ...card, mode: { ...mode, leaving: true }, said: 'Esc again throws away what you edited' };
  if (mode.at !== 'choices' && mode.at !== 'sending')
    return {
      ...guarded(card, now, guardMs),
      top: card.mode.at === 'rule' ? 0 : card.top,
      mode: { at: 'choices' },
      said: null,
    };
  return card.full ? { ...guarded(card, now, guardMs), full: false, top: 0, said: null } : null;
}

/** The text of an open field, which is not lost when the card goes. */
export const unsentText = ({ mode }: CardState): string =>
  mode.at === 'field' || mode.at === 'edit' ? wholeText(mode.editing) : '';

export const hasField = ({ mode }: CardState): boolean => mode.at === 'field' || mode.at === 'edit';

/** What the policy says to other arguments (03 §3.5). */
export function editJudged(
  card: CardState,
  verdict: { readonly action: 'allow' | 'approve' | 'deny'; readonly why: string },
  args: Record<string, unknown>,
  text: string,
  now: number,
  guardMs: number,
): Carded {
  if (verdict.action === 'deny') {
    const mode: CardMode = { at: 'edit', editing: textField(text), original: '' };
    return only({ ...card, mode, said: `refused: ${verdict.why}` });
  }
  if (verdict.action === 'allow')
    return only({
      ...guarded(card, now, guardMs),
      top: 0,
      mode: { at: 'run-edited', args, text, why: verdict.why },
      said: null,
    });
  return only({ ...card, mode: { at: 'sending' } }, { do: 'edit', id: card.id, binding: card.binding, args });
}

/** The text as an external editor saved it. */
export function replaceField(card: CardState, text: string): CardState {
  const { mode } = card;
  if (mode.at !== 'edit' && mode.at !== 'field') return card;
  return { ...card, mode: { ...mode, editing: replace(mode.editing, 0, mode.editing.text.length, text.trimEnd()) } };
}
