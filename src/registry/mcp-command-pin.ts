import { constants, accessSync, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { ToolServerRow } from '../store/tool-servers.ts';
import { readJson, textList } from './mcp-fields.ts';

/** What a server was started from when it was registered (05 §10.3.4). */
type PinnedFile = {
  readonly path: string;
  readonly sha256: string;
  /** Size, times and place: a file with the same ones is not read again. */
  readonly stamp: string;
};
type Pin = {
  readonly command: PinnedFile | null;
  readonly script: PinnedFile | null;
  /** Came with a database of another installation (`store/foreign.ts`): nobody here has seen what it starts. */
  readonly elsewhere?: true;
};

export type CommandPinDeps = {
  /** SHA-256 of a file in hexadecimal, taken in a thread; null when it cannot be read. */
  hash(path: string): Promise<string | null>;
  /** PATH of the operator. */
  readonly path: string;
  /** Where a server starts unless its record says otherwise. */
  readonly directory: string;
};

export type CommandPins = ReturnType<typeof createCommandPins>;

/** The program of a stdio server, and the script that it names, as they were when the operator registered them. */
export function createCommandPins(deps: CommandPinDeps) {
  const pinned = async (path: string | null, before: PinnedFile | null): Promise<PinnedFile | null> => {
    if (path === null) return null;
    const stamp = stampOf(path);
    if (stamp === null) return null;
    if (before !== null && before.path === path && before.stamp === stamp) return before;
    const sha256 = await deps.hash(path);
    return sha256 === null ? null : { path, sha256, stamp };
  };

  const now = async (row: ToolServerRow, before: Pin | null): Promise<Pin> => ({
    command: await pinned(programOf(row, deps), before?.command ?? null),
    script: await pinned(scriptOf(row, deps), before?.script ?? null),
  });

  return {
    /** JSON of what the server would start from now; null for one that is reached by a URL. */
    async pin(row: ToolServerRow): Promise<string | null> {
      return row.transport === 'stdio' ? JSON.stringify(await now(row, null)) : null;
    },

    /** What is another file than the registered one, as a sentence; null when nothing is. */
    async change(row: ToolServerRow): Promise<string | null> {
      if (row.transport !== 'stdio' || row.command_pin === null) return null;
      // Written by `pin`.
      const before = readJson(row.command_pin) as Pin | null;
      if (before === null) return null;
      if (before.elsewhere === true) return 'another installation registered it';
      const after = await now(row, before);
      for (const [what, old, found] of [
        ['its program', before.command, after.command],
        ['the script that it names', before.script, after.script],
      ] as const) {
        // What was not there when it was registered has nothing that it could differ from.
        if (old === null || old.sha256 === found?.sha256) continue;
        return found === null
          ? `${what} ${old.path} is gone`
          : `${what} is another one than when it was registered: ${found.path}`;
      }
      return null;
    },
  };
}

/** The file that the command names, after all links. */
function programOf(row: ToolServerRow, { path, directory }: CommandPinDeps): string | null {
  const command = row.command ?? '';
  if (command.includes('/')) return realFile(resolve(row.cwd ?? directory, command));
  for (const place of path.split(delimiter)) {
    const found = isAbsolute(place) ? realFile(join(place, command)) : null;
    if (found !== null && isExecutable(found)) return found;
  }
  return null;
}

/** The first argument that is no option, if it is a file. */
function scriptOf(row: ToolServerRow, { directory }: CommandPinDeps): string | null {
  const script = textList(row.args).find((argument) => !argument.startsWith('-'));
  return script === undefined ? null : realFile(resolve(row.cwd ?? directory, script));
}

function realFile(path: string): string | null {
  try {
    const real = realpathSync(path);
    return statSync(real).isFile() ? real : null;
  } catch {
    return null;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function stampOf(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ');
}
