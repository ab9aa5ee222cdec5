import { clustersOf } from '../src/view/wrap.ts';

/** A text with its caret, in clusters. */
export type BasicComposer = { readonly before: string; readonly after: string };
export const emptyComposer: BasicComposer = { before: '', after: '' };

export const composerText = ({ before, after }: BasicComposer): string => before + after;
const last = (text: string): string => clustersOf(text).at(-1) ?? '';

export function editComposer(composer: BasicComposer, command: string): BasicComposer {
  const { before, after } = composer;
  const end = last(before);
  const [start = ''] = clustersOf(after);
  switch (command) {
    case 'composer.newline':
      return { before: `${before}\n`, after };
    case 'composer.left':
      return { before: before.slice(0, before.length - end.length), after: end + after };
    case 'composer.right':
      return { before: before + start, after: after.slice(start.length) };
    case 'composer.line-start':
      return { before: '', after: before + after };
    case 'composer.line-end':
      return { before: before + after, after: '' };
    case 'composer.backspace':
      return { before: before.slice(0, before.length - end.length), after };
    case 'composer.delete':
      return { before, after: after.slice(start.length) };
    default:
      return composer;
  }
}

export const typed = (composer: BasicComposer, text: string): BasicComposer => ({
  before: composer.before + text,
  after: composer.after,
});
