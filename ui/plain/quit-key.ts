import type { Interface } from 'node:readline';

type Keypress = { name?: string; readonly ctrl?: boolean };

export type QuitDeps = {
  readonly input: NodeJS.ReadStream;
  readonly lines: Interface;
  readonly now: () => number;
  /** A question is open: the key does nothing there (10 §12.4). */
  readonly asked: () => boolean;
  readonly again: () => void;
};

/** A second Ctrl+D within this time is meant. */
const againMs = 2000;

/**
 * Ctrl+D on an empty line leaves at the second time. The line editor ends at the first one, so the key is taken from it:
 * this listener stands before its own and both get the same object.
 * @returns ends it
 */
export function quitAtSecond({ input, lines, now, asked, again }: QuitDeps): () => void {
  let at = Number.NEGATIVE_INFINITY;
  const listener = (_text: string | undefined, key: Keypress | undefined): void => {
    if (key?.ctrl !== true || key.name !== 'd' || lines.line !== '') return;
    const meant = !asked() && now() - at < againMs;
    if (meant) return;
    key.name = 'none';
    if (asked()) return;
    at = now();
    again();
  };
  input.prependListener('keypress', listener);
  return () => void input.off('keypress', listener);
}
