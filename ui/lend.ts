import type { Action } from './actions.ts';
import type { Screen } from './screen.ts';

/** What came of a text in an editor. */
export type EditedText =
  | { readonly kind: 'saved'; readonly text: string }
  | { readonly kind: 'failed'; readonly message: string };

type Deps = {
  readonly screen: Screen;
  readonly edit: (name: string, text: string) => Promise<EditedText>;
  readonly dispatch: (action: Action) => void;
  readonly now: () => number;
};

/** Longest text that comes back into the composer. */
const mostBytes = 1024 * 1024;

/** Leaves the screen to the editor of the operator, and puts back what was saved (10 §6.7). */
export const editWith =
  ({ screen, edit, dispatch, now }: Deps) =>
  async (text: string, ask: string | null): Promise<void> => {
    screen.leave();
    const edited = await edit(ask === null ? 'message.md' : 'arguments.json', text);
    screen.enter();
    dispatch({ type: 'resize', size: screen.size(), now: now() });
    const saved = edited.kind === 'saved' ? edited.text : null;
    const large = saved !== null && Buffer.byteLength(saved) > mostBytes;
    const why = edited.kind === 'failed' ? edited.message : large ? 'the text has more than 1 MiB' : null;
    if (ask !== null) {
      dispatch({
        type: 'approve',
        action: { type: 'edited-outside', id: ask, text: why === null ? saved : null, why },
        now: now(),
      });
    } else if (saved !== null && why === null)
      dispatch({ type: 'compose', action: { type: 'replace', text: saved.replace(/\n$/, '') }, now: now() });
    if (why !== null) dispatch({ type: 'say', text: why, bad: true, now: now() });
  };
