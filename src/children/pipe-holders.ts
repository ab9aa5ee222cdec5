import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * Who still holds the output of a child that is gone, although it left the child's group (`setsid`). Looked up on Linux
 * alone, and only among processes with the marker that the child was started with: a terminal multiplexer of the operator
 * may have been handed the same pipe, and is not ours to end.
 * @returns the look-up, to be done when the child has ended; never throws
 */
export function pipeHolders(
  { pid, stdout, stderr }: ChildProcess,
  marker: string | undefined,
): () => readonly number[] {
  if (process.platform !== 'linux' || marker === undefined) return () => [];
  // The child tells which pipe it got while it lives, and one that only starts another one may be gone by now.
  const ends = [stdout, stderr].map((own, at) => target(`/proc/${pid}/fd/${at + 1}`) ?? otherEnd(own));
  const pipes = new Set(ends.filter((pipe) => pipe !== null));
  return () =>
    pipes.size === 0
      ? []
      : listed('/proc')
          .filter((name) => /^\d+$/.test(name) && isMarked(name, marker) && holdsOne(name, pipes))
          .map(Number);
}

function isMarked(pid: string, marker: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`REINS_RUN_ID=${marker}`);
  } catch {
    return false;
  }
}

const holdsOne = (pid: string, pipes: ReadonlySet<string>): boolean =>
  listed(`/proc/${pid}/fd`).some((fd) => pipes.has(target(`/proc/${pid}/fd/${fd}`) ?? ''));

function listed(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/**
 * The end that the child was given, by ours: both are made in one step, so the system numbers them one behind the other.
 * A wrong guess finds nobody who is marked.
 */
function otherEnd(own: ChildProcess['stdout']): string | null {
  // True because Node keeps the descriptor there and names it nowhere else; where it does not, nothing is found.
  const fd = (own as { readonly _handle?: { readonly fd?: number } | null } | null)?._handle?.fd;
  const number = fd === undefined ? undefined : /^socket:\[(\d+)\]$/.exec(target(`/proc/self/fd/${fd}`) ?? '')?.[1];
  return number === undefined ? null : `socket:[${Number(number) + 1}]`;
}

/** Null when it is no pipe of a child, or nobody may look. */
function target(link: string): string | null {
  try {
    const name = readlinkSync(link);
    return /^(socket|pipe):/.test(name) ? name : null;
  } catch {
    return null;
  }
}
