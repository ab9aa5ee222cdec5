import { labelled, type PlainLook } from '../../src/view/plain-lines.ts';
import { textOf } from '../../src/view/line.ts';
import type { Action } from '../actions.ts';
import { slashCommands } from '../composer/slash-commands.ts';
import type { Effect } from '../effect.ts';
import type { Choice, Overlay } from '../overlays/overlay.ts';
import { viewOf } from '../overlays/views.ts';
import type { State } from '../state.ts';
import { numbered } from './numbered.ts';

export type PlainOverlayDeps = {
  readonly write: (line: string) => void;
  readonly look: () => PlainLook;
  readonly dispatch: (action: Action) => void;
  readonly perform: (effect: Effect) => void;
  readonly now: () => number;
};

/** What lies over the screen in the full mode: here it is printed, and what may be chosen is answered by the next line. */
export type PlainOverlays = {
  look(state: State): void;
  /** What the next line chooses; null = nothing is to be chosen. */
  prompt(): string | null;
  answer(text: string): void;
  /** Ctrl+C: chooses nothing. @returns false where nothing is to be chosen */
  back(): boolean;
};

/** What the next line may choose from. */
type Choosing =
  | { readonly of: 'question'; readonly choices: readonly Choice[]; readonly otherwise: readonly Effect[] }
  | { readonly of: 'list'; readonly overlay: Overlay; readonly count: number };

const sameRows = (one: Overlay, other: Overlay): boolean =>
  one.kind === other.kind && 'rows' in one && 'rows' in other && one.rows === other.rows;

export function createPlainOverlays({ write, look, dispatch, perform, now }: PlainOverlayDeps): PlainOverlays {
  let choosing: Choosing | null = null;
  let shown: Overlay | null = null;
  const say = (text: string): void => {
    for (const line of labelled('note: ', text, look())) write(line);
  };

  const question = (overlay: Extract<Overlay, { kind: 'question' }>): Choosing => {
    if (look().spoken)
      for (const [index, words] of [...overlay.choices.map((choice) => choice.words), 'go back'].entries())
        write(`${index + 1}. ${words}`);
    else for (const { key, words } of overlay.choices) say(`${key} and Enter: ${words}; anything else does nothing`);
    return { of: 'question', choices: overlay.choices, otherwise: overlay.otherwise ?? [] };
  };

  const print = (overlay: Overlay, state: State): Choosing | null => {
    if (overlay.kind === 'help') {
      for (const { name, args, help } of slashCommands) say(`/${name}${args === '' ? '' : ` ${args}`}: ${help}`);
      return null;
    }
    const list = numbered(overlay, state);
    if (list === null) {
      // A row of the terminal holds the label too.
      const columns = Math.max(40, (look().columns ?? 80) - 8);
      const view = viewOf(overlay, state, columns);
      say(view.title);
      for (const line of view.body) write(`note: ${textOf(line)}`.trimEnd());
      return overlay.kind === 'question' ? question(overlay) : null;
    }
    say(list.rows.length === 0 ? `${list.title}: none` : list.title);
    for (const [index, row] of list.rows.entries()) {
      const [first = '', ...more] = labelled(`${index + 1}. `, row, look());
      for (const line of [first, ...more]) write(line);
    }
    return list.rows.length === 0 || overlay.kind === 'grants'
      ? null
      : { of: 'list', overlay, count: list.rows.length };
  };

  const done = (): void => {
    choosing = null;
    shown = null;
    dispatch({ type: 'no-overlays' });
  };

  const none = (question: Extract<Choosing, { of: 'question' }>): void => {
    done();
    for (const effect of question.otherwise) perform(effect);
  };

  return {
    look(state) {
      const top = state.overlays.at(-1);
      if (top === undefined || top === shown || ('rows' in top && top.rows === null)) return;
      if (top.kind === 'run' && top.run === null) return;
      const again = shown !== null && sameRows(top, shown);
      shown = top;
      // What is known now beside the same rows stands in no line of the list.
      if (again) return;
      choosing = print(top, state);
      if (choosing === null) queueMicrotask(done);
    },
    prompt() {
      if (choosing === null) return null;
      if (choosing.of === 'list') return `Enter a number, 1 to ${choosing.count}, or nothing: `;
      return look().spoken
        ? `Enter a number, 1 to ${choosing.choices.length + 1}: `
        : `${choosing.choices.map(({ key }) => key).join(' ')}> `;
    },
    answer(text) {
      const chosen = choosing;
      if (chosen === null) return;
      const line = text.trim();
      const at = Number(line) - 1;
      if (chosen.of === 'question') {
        const choice = look().spoken ? chosen.choices[at] : chosen.choices.find(({ key }) => key === line);
        if (choice === undefined) return none(chosen);
        done();
        for (const effect of choice.effects) perform(effect);
        return;
      }
      if (!/^\d+$/.test(line) || at < 0 || at >= chosen.count) {
        // What comes next is another try, and no message.
        if (line !== '') return say('that is none of the numbers');
        return done();
      }
      // What a row does is known to the list that it stands in.
      choosing = null;
      const overlay = { ...chosen.overlay, at, field: null } as Overlay;
      shown = overlay;
      dispatch({ type: 'overlay', overlay });
      dispatch({ type: 'key', key: { name: 'enter', ctrl: false, alt: false, shift: false, text: '' }, now: now() });
    },
    back() {
      if (choosing === null) return false;
      if (choosing.of === 'question') none(choosing);
      else done();
      return true;
    },
  };
}
