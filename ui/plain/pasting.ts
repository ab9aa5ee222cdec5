/** Reports of a paste (10 §6.2): what comes in between was not typed, so its line ends send and answer nothing. */
export type Pasting = {
  now(): boolean;
  /** Has the terminal mark pastes, or not where somebody else has it. */
  mark(on: boolean): void;
  close(): void;
};

/** What comes this soon after a burst belongs to it. */
const quietMs = 30;
/** Nobody writes so much in front of the end of a line and behind it within one read: the terminal did not mark a paste. */
const burst = /[^\r\n\u001b]{2}[\r\n]+[^\r\n\u001b]{2}/;
const marked = '\u001b[200~';

/** @param ended called when a paste is over */
export function watchPastes(input: NodeJS.ReadStream, output: NodeJS.WriteStream, ended: () => void): Pasting {
  let pasting = false;
  let timer: NodeJS.Timeout | undefined;
  const over = (): void => {
    timer = undefined;
    if (!pasting) ended();
  };
  // What lay in the terminal while this program was busy did not come late: it is read first.
  const rest = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => setImmediate(() => timer !== undefined && over()), quietMs);
  };
  const read = (bytes: Buffer | string): void => {
    const text = bytes.toString();
    if (timer !== undefined || (!pasting && !text.includes(marked) && burst.test(text))) rest();
  };
  // The line editor names both marks and does nothing with them.
  const listener = (_text: string | undefined, key: { readonly name?: string } | undefined): void => {
    if (key?.name === 'paste-start') pasting = true;
    if (key?.name !== 'paste-end') return;
    pasting = false;
    ended();
  };
  const mark = (on: boolean): void => void output.write(on ? '\u001b[?2004h' : '\u001b[?2004l');
  const off = (): void => mark(false);
  // Ahead of the line editor, which makes lines of it.
  input.prependListener('data', read);
  input.on('keypress', listener);
  mark(true);
  process.once('exit', off);
  return {
    now: () => pasting || timer !== undefined,
    mark,
    close() {
      clearTimeout(timer);
      timer = undefined;
      input.off('data', read);
      input.off('keypress', listener);
      process.off('exit', off);
      off();
    },
  };
}
