import type { Interface } from 'node:readline';

type Keypress = { readonly name?: string; readonly ctrl?: boolean; readonly meta?: boolean };

const deletes = ({ name, ctrl, meta }: Keypress): boolean =>
  ctrl === true ? ['w', 'u', 'k'].includes(name ?? '') : meta === true && ['d', 'backspace'].includes(name ?? '');

/**
 * Tells what a key deleted: who cannot see the line does not know how far a word went (10 §10.2).
 * @returns ends it
 */
export function echoDeleted(input: NodeJS.ReadStream, lines: Interface, deleted: (text: string) => void): () => void {
  let before = '';
  // Behind the listener of the line editor: the line is as the key left it.
  const listener = (_text: string | undefined, key: Keypress | undefined): void => {
    const { line } = lines;
    const gone = before.length - line.length;
    if (key !== undefined && deletes(key) && gone > 0) deleted(before.slice(lines.cursor, lines.cursor + gone));
    before = line;
  };
  input.on('keypress', listener);
  return () => void input.off('keypress', listener);
}
