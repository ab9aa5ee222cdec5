import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * Who still holds the output of a child that is gone, although it left the child's group (`setsid`). Looked up on Linux
 * alone, and only among processes with the marker that the child was started with: a terminal multiplexer of the operator
 * may have been handed the same pipe, and is not ours to end.
 * @returns the look-up, to be done when the child has ended; never throws
 */
export function pipeHolders(child: number, marker: string | undefined): () => readonly number[] {
  if (process.platform !== 'linux' || marker === undefined) return () => [];
  // Only the child tells which pipe it got, so it is asked while it lives.
  const pipes = new Set([1, 2].map((fd) => target(`/proc/${child}/fd/${fd}`)).filter((pipe) => pipe !== null));
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

/** Null when it is no pipe of a child, or nobody may look. */
function target(link: string): string | null {
  try {
    const name = readlinkSync(link);
    return /^(socket|pipe):/.test(name) ? name : null;
  } catch {
    return null;
  }
}
