import type { ReadStream, WriteStream } from 'node:tty';
import type { Action } from './actions.ts';
import type { Screen } from './screen.ts';

/** What came of a text in an editor. */
export type EditedText =
  | { readonly kind: 'saved'; readonly text: string }
  | { readonly kind: 'failed'; readonly message: string };

type Lent = {
  readonly screen: Screen;
  /** The terminal is ours again, perhaps with another size. */
  readonly resized: () => void;
};

type EditDeps = Lent & {
  readonly edit: (name: string, text: string) => Promise<EditedText>;
  readonly dispatch: (action: Action) => void;
  readonly now: () => number;
};

/** Longest text that comes back into the composer. */
const mostBytes = 1024 * 1024;

/** Leaves the screen to the editor of the operator, and puts back what was saved (10 §6.7). */
export async function editWith(deps: EditDeps, text: string, ask: string | null): Promise<void> {
  const { screen, edit, dispatch, now } = deps;
  screen.lend('editor');
  const edited = await edit(ask === null ? 'message.md' : 'arguments.json', text);
  screen.enter();
  deps.resized();
  const saved = edited.kind === 'saved' ? edited.text : null;
  const large = saved !== null && Buffer.byteLength(saved) > mostBytes;
  const why = edited.kind === 'failed' ? edited.message : large ? 'the text has more than 1 MiB' : null;
  if (ask !== null) {
    dispatch({
      type: 'approve',
      action: { type: 'edited-outside', id: ask, text: why === null ? saved : null, why },
      now: now(),
    });
  } else if (saved !== null && why === null && saved !== text)
    dispatch({ type: 'compose', action: { type: 'replace', text: draftIn(saved) }, now: now() });
  if (why !== null) dispatch({ type: 'say', text: why, bad: true, now: now() });
}

/** As a paste is taken: the lines of another system are lines, and the last one has no end. */
const draftIn = (saved: string): string => saved.replaceAll(/\r\n?/g, '\n').replace(/\n$/, '');

/** Enter, or a key that somebody presses who wants to go on: `q`, Esc, Ctrl+C, Ctrl+D. */
const goesBack = /[\r\nq\u0003\u0004\u001b]/;

type PrintDeps = Lent & { readonly input: ReadStream; readonly output: WriteStream };

/** Leaves the screen, prints lines on the main one, and comes back at Enter (10 §5.8). */
export async function printWith(
  { screen, input, output, resized }: PrintDeps,
  lines: readonly string[],
): Promise<void> {
  screen.lend('reader');
  // Keys come one by one: a line that the terminal edits could end the input for good, or the program.
  input.setRawMode(true);
  output.write(`${lines.join('\n')}\n\nEnter goes back. `);
  await new Promise<void>((resolve) => {
    const onKey = (bytes: Buffer): void => {
      if (!goesBack.test(bytes.toString('latin1'))) return;
      input.off('data', onKey);
      resolve();
    };
    input.on('data', onKey);
    input.resume();
  });
  screen.enter();
  resized();
}
