/** Reports of a paste (10 §6.2): what comes in between was not typed, so its line ends send and answer nothing. */
export type Pasting = { now(): boolean; close(): void };

/** @param ended called when a paste is over */
export function watchPastes(input: NodeJS.ReadStream, output: NodeJS.WriteStream, ended: () => void): Pasting {
  let pasting = false;
  // The line editor names both marks and does nothing with them.
  const listener = (_text: string | undefined, key: { readonly name?: string } | undefined): void => {
    if (key?.name === 'paste-start') pasting = true;
    if (key?.name !== 'paste-end') return;
    pasting = false;
    ended();
  };
  const off = (): void => void output.write('\u001b[?2004l');
  input.on('keypress', listener);
  output.write('\u001b[?2004h');
  process.once('exit', off);
  return {
    now: () => pasting,
    close() {
      input.off('keypress', listener);
      process.off('exit', off);
      off();
    },
  };
}
