import { spawn } from 'node:child_process';
import { withSearchPath } from '../text/search-path.ts';

/** As long as a person waits for a copy. */
const longestMs = 2000;

/**
 * Puts a text into a buffer of tmux, which hands it on to the clipboard of the terminal around it unless it is told not
 * to (`set-clipboard`). What a program writes for the clipboard reaches neither, as tmux comes.
 * @returns whether tmux took it; never rejects
 */
export function toTmux(environment: Readonly<Record<string, string | undefined>>, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('tmux', ['load-buffer', '-w', '-'], {
      env: withSearchPath(environment),
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: longestMs,
    });
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code === 0));
    // It may end before it has read all.
    child.stdin.on('error', () => undefined);
    child.stdin.end(text);
  });
}
