import { openKeys } from './keys.ts';
import type { Process } from './process.ts';
import type { Meant } from './scan.ts';
import type { Terminal } from './terminal.ts';

/** What was typed before a question was there answers nothing. */
const guardMs = 400;

/** Asks on the terminal whether a word was meant as a command (06 §1.3). Enter, Ctrl-C and the end of input quit. */
export async function askMeant(
  process: Process,
  terminal: Terminal,
  { given, command }: Meant,
): Promise<'command' | 'prompt' | 'quit'> {
  terminal.err(
    `"${given}" is not a command. Did you mean "${command}"? [y] run it  [p] send as a prompt  [Enter] quit\n`,
  );
  const asked = process.now();
  const keys = openKeys(process);
  try {
    for (;;) {
      const key = await keys.next(new AbortController().signal);
      if (key === null) return 'quit';
      if (process.now() - asked < guardMs) continue;
      if (key === 'y') return 'command';
      if (key === 'p') return 'prompt';
      if (['\r', '\n', 'q', '\u001b', '\u0003', '\u0004'].includes(key)) return 'quit';
    }
  } finally {
    keys.close();
  }
}
