import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clustersOf } from '../../../src/view/wrap.ts';
import { pasteLabel, wholeText } from '../../../ui/composer/draft.ts';
import {
  edit,
  type EditCommand,
  type Editing,
  emptyEditing,
  expandPaste,
  pasteText,
  typeText,
} from '../../../ui/composer/editing.ts';

const typed = (text: string): Editing =>
  [...text].reduce((state, character) => typeText(state, character), emptyEditing);
const after = (text: string, ...commands: readonly EditCommand[]): Editing => commands.reduce(edit, typed(text));
const shown = ({ text, caret }: Editing): string => `${text.slice(0, caret)}|${text.slice(caret)}`;

describe('editing', () => {
  it.each<readonly [string, readonly EditCommand[], string]>([
    ['한글', ['left'], '한|글'],
    ['a👩‍👩‍👧b', ['left', 'left'], 'a|👩‍👩‍👧b'],
    ['a👩‍👩‍👧', ['backspace'], 'a|'],
    ['e\u0301x', ['left', 'backspace'], '|x'],
    ['e\u0301', ['line-start', 'delete'], '|'],
    ['한글 👩‍👩‍👧 e\u0301', ['delete-word-left'], '한글 👩‍👩‍👧 |'],
    ['한글 👩‍👩‍👧 e\u0301', ['delete-word-left', 'delete-word-left'], '한글 |'],
    ['one two', ['word-left'], 'one |two'],
    ['one two', ['word-left', 'word-left', 'word-right'], 'one| two'],
    ['a-b c', ['delete-word-left', 'delete-word-left', 'yank'], 'a-b |'],
    ['ab\ncd', ['line-start'], 'ab\n|cd'],
    ['ab\ncd', ['line-start', 'left', 'line-start'], '|ab\ncd'],
    ['ab\ncd', ['left', 'delete-to-end'], 'ab\nc|'],
    ['ab\ncd', ['left', 'delete-to-start'], 'ab\n|d'],
    ['ab cd', ['delete-word-left', 'line-start', 'yank'], 'cd|ab '],
    ['one two', ['line-start', 'delete-word-right'], '| two'],
    ['ab', ['right', 'delete'], 'ab|'],
    ['one two', ['undo'], 'one|'],
    ['one two', ['undo', 'undo'], '|'],
    ['one', ['backspace', 'undo'], 'one|'],
  ])('of %j by %j gives %j', (text, commands, expected) => {
    expect(shown(after(text, ...commands))).toBe(expected);
  });

  it('puts a combining character that is typed later into its cluster', () => {
    expect(shown(edit(typeText(typed('ae'), '\u0301'), 'left'))).toBe('a|e\u0301');
  });

  it('takes a long paste for one character, sends it whole, and opens it in place', () => {
    const pasted = Array.from({ length: 412 }, (_, index) => `line ${index}`).join('\n');
    const state = typeText(pasteText(typed('see '), `${pasted}\n`), '!');
    expect(clustersOf(state.text)).toHaveLength(6);
    expect(state.pastes.map(pasteLabel)).toEqual(['[Pasted 1: 412 lines]']);
    expect(wholeText(state)).toBe(`see ${pasted}!`);
    const opened = expandPaste(edit(state, 'left'));
    expect(opened.text).toBe(`see ${pasted}!`);
    expect(edit(opened, 'undo').text).toBe(state.text);
    expect(shown(edit(edit(state, 'left'), 'backspace'))).toBe('see |!');
  });

  it('numbers pastes, and keeps one that was deleted for Ctrl+Y', () => {
    const long = 'x'.repeat(1001);
    const two = pasteText(pasteText(emptyEditing, long), `${long}y`);
    expect(two.pastes.map(pasteLabel)).toEqual(['[Pasted 1: 1001 characters]', '[Pasted 2: 1002 characters]']);
    const back = (['line-start', 'delete-to-end', 'yank'] as const).reduce(edit, two);
    expect(wholeText(back)).toBe(`${long}${long}y`);
  });

  it('puts a short paste in as text, without its last new line, as one step', () => {
    const state = pasteText(typed('a'), 'b\nc d\n');
    expect(shown(state)).toBe('ab\nc d|');
    expect(shown(edit(state, 'undo'))).toBe('a|');
  });

  it('never takes foreign text for a paste of its own', () => {
    const state = pasteText(emptyEditing, 'x'.repeat(2000));
    expect(wholeText(typeText(state, state.text))).toBe(`${'x'.repeat(2000)}\ufffd`);
  });

  it('keeps 200 steps of undo', () => {
    let state = emptyEditing;
    for (let index = 0; index < 300; index += 1) state = pasteText(state, 'a');
    for (let index = 0; index < 300; index += 1) state = edit(state, 'undo');
    expect(state.text).toBe('a'.repeat(100));
  });

  it('agrees with a plain string of clusters, whatever is done', () => {
    const cluster = fc.constantFrom('a', 'b', ' ', '\n', '한', '👩‍👩‍👧', 'e\u0301', '🇩🇪');
    const action = fc.oneof(
      cluster.map((text) => ({ text })),
      fc.constantFrom<EditCommand>('left', 'right', 'backspace', 'delete').map((command) => ({ command })),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        let state = emptyEditing;
        // The oracle: clusters before and behind the caret. Joining ones are told apart by a blank between them.
        let left: string[] = [];
        let right: string[] = [];
        for (const one of actions) {
          if ('text' in one) {
            state = typeText(typeText(state, one.text), '.');
            left.push(...clustersOf(one.text), '.');
          } else {
            state = edit(state, one.command);
            if (one.command === 'left') right = [...left.splice(-1), ...right];
            else if (one.command === 'right') left.push(...right.splice(0, 1));
            else if (one.command === 'backspace') left = left.slice(0, -1);
            else right = right.slice(1);
            // Two halves of a flag that meet are one cluster: the oracle sees them anew.
            const whole = left.join('') + right.join('');
            const at = left.join('').length;
            left = clustersOf(whole.slice(0, at)).slice();
            right = clustersOf(whole.slice(at)).slice();
          }
          expect(state.text).toBe(left.join('') + right.join(''));
          expect(state.caret).toBe(left.join('').length);
        }
      }),
    );
  });
});
