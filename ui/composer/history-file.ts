import { createHash, randomBytes } from 'node:crypto';
import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { historyLine, readHistory } from './history.ts';

export type HistoryFile = {
  /** The texts, oldest first; none where there is no file, or none that can be read. */
  read(): Promise<readonly string[]>;
  /** Appends one text in one write. @throws what the file system says */
  append(text: string, session: string | null): Promise<void>;
  /** Leaves the newest entries in the file; for the end of a program. Never rejects. */
  compact(): Promise<void>;
};

/** Where the history of a workspace is (10 §6.3). */
export const historyPath = (home: string, workspaceRoot: string): string =>
  join(home, 'history', `${createHash('sha256').update(workspaceRoot).digest('hex').slice(0, 16)}.jsonl`);

/** The same, wherever in the workspace the program was started. */
export const historyOf =
  ({ home, root }: { readonly home: string; readonly root: () => Promise<string> }) =>
  async (): Promise<string> =>
    historyPath(home, await root());

/**
 * @param pathOf where it is, asked for with each use
 * @param mostOf entries that are kept, asked for anew each time; 0 = none are read or written
 */
export function createHistoryFile(pathOf: () => Promise<string>, mostOf: () => number, now: () => number): HistoryFile {
  const whole = () =>
    pathOf()
      .then((path) => readFile(path, 'utf8'))
      .catch(() => '');
  return {
    read: async () => readHistory(await whole(), mostOf()),
    async append(text, session) {
      if (mostOf() === 0) return;
      const path = await pathOf();
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await appendFile(path, historyLine(new Date(now()).toISOString(), text, session), { mode: 0o600 });
    },
    async compact() {
      const most = mostOf();
      const lines = (await whole()).split('\n').filter((line) => line !== '');
      if (most === 0 || lines.length <= most) return;
      try {
        const path = await pathOf();
        // Swept with other temporaries where this program is killed here.
        const next = `${path}.tmp-${randomBytes(6).toString('hex')}`;
        await writeFile(next, `${lines.slice(-most).join('\n')}\n`, { mode: 0o600, flag: 'wx' });
        await rename(next, path);
      } catch {
        // A history that is too long is read all the same.
      }
    },
  };
}
