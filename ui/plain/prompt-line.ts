import { clearLine, cursorTo, type Interface } from 'node:readline';

/** What stands at the bottom of lines that are only ever appended: a prompt, and what is typed behind it. */
export type PromptLine = {
  /** Appends a line, never behind a prompt or into what is being typed. @param atOnce also where it would have to wait */
  write(text: string, atOnce?: true): void;
  /** The prompt that stands there from now on; null = none, since nothing is waited for. */
  show(prompt: string | null): void;
  /** Somebody else has written into the terminal: prompt and what is typed stand there again. */
  again(): void;
  /** The line was sent: what comes next begins in a column of its own. */
  taken(): void;
  /** Drops what has been typed so far: it was meant for something else. */
  drop(): void;
  /** Leaves a line of its own for what comes behind the program. */
  close(): void;
};

export type PromptDeps = {
  readonly lines: Interface;
  readonly output: NodeJS.WriteStream;
  /** The terminal can edit a line; else what is typed is its own affair. */
  readonly edits: boolean;
  /** Nothing that was printed may be printed again: lines wait until what is being typed was sent or taken back. */
  readonly holds: boolean;
};

export function createPromptLine({ lines, output, edits, holds }: PromptDeps): PromptLine {
  let prompt: string | null = null;
  /** The prompt is on the screen, with nothing behind it but what is typed. */
  let stands = false;
  let redraw: NodeJS.Immediate | undefined;
  /** The last line was read: newer versions of Node refuse a prompt behind it. */
  let over = false;
  const held: string[] = [];
  /** At a new size `readline` draws its prompt again, wherever the cursor is: it has one only while ours stands. */
  const forget = (): void => lines.setPrompt('');
  forget();
  const typing = (): boolean => edits && lines.line !== '';

  const away = (): void => {
    if (!stands && !typing()) return;
    if (!edits || lines.getCursorPos().rows > 0) output.write('\n');
    else {
      clearLine(output, 0);
      cursorTo(output, 0);
    }
    stands = false;
    forget();
  };
  const put = (): void => {
    clearImmediate(redraw);
    redraw = undefined;
    if (stands || (prompt === null && !typing())) return;
    lines.setPrompt(prompt ?? '');
    lines.prompt(true);
    stands = prompt !== null;
  };
  const later = (): void => {
    if (!over) redraw ??= setImmediate(put);
  };
  const release = (): void => {
    if (held.length === 0 || typing()) return;
    away();
    for (const text of held.splice(0)) output.write(`${text}\n`);
    later();
  };

  lines.once('close', () => {
    over = true;
    clearImmediate(redraw);
  });

  return {
    write(text, atOnce) {
      if (holds && typing() && atOnce !== true) {
        held.push(text);
        return;
      }
      away();
      output.write(`${text}\n`);
      later();
    },
    show(next) {
      if (next === prompt && (stands || next === null)) return release();
      if (stands && next !== prompt) away();
      prompt = next;
      release();
      later();
    },
    again() {
      stands = false;
      later();
    },
    taken() {
      stands = false;
      forget();
      release();
    },
    drop() {
      if (over || !typing()) return;
      away();
      // The only way to empty the line: it is drawn anew with the next prompt.
      lines.write(null, { ctrl: true, name: 'e' });
      lines.write(null, { ctrl: true, name: 'u' });
    },
    close() {
      clearImmediate(redraw);
      if (stands || typing()) output.write('\n');
      stands = false;
    },
  };
}
