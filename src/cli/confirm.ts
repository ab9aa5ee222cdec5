import type { Context } from './context.ts';
import { openKeys } from './keys.ts';

/** Asks on the terminal before something is deleted. @returns whether `y` was pressed; any other key is a no */
export async function confirmed(context: Context, question: string): Promise<boolean> {
  context.terminal.err(`${context.safe(question)}\n`);
  const asked = context.process.now();
  const keys = openKeys(context.process);
  try {
    for (;;) {
      const key = await keys.next(new AbortController().signal);
      // What was typed before the question answers nothing.
      if (key !== null && context.process.now() - asked < 400) continue;
      return key === 'y';
    }
  } finally {
    keys.close();
  }
}
