import { openSync, readdirSync, readFileSync } from 'node:fs';
import type { StdioOptions } from 'node:child_process';

const closeOnExec = 0o2000000;

/**
 * The streams of a child: an empty input, two pipes, and nothing else of ours (05 §3.6.1). Node opens everything so that
 * a child does not get it, but what our own parent left open would pass through; such a descriptor becomes /dev/null.
 * Looked up once: after the start no descriptor of that kind appears.
 */
export function createStdio(): () => StdioOptions {
  let stdio: StdioOptions | null = null;
  return () => {
    stdio ??= makeStdio(inherited());
    return stdio;
  };
}

function makeStdio(leaking: readonly number[]): StdioOptions {
  const stdio: ('ignore' | 'pipe' | number)[] = ['ignore', 'pipe', 'pipe'];
  if (leaking.length === 0) return stdio;
  const empty = openSync('/dev/null', 'r+');
  while (stdio.length <= Math.max(...leaking)) stdio.push(leaking.includes(stdio.length) ? empty : 'ignore');
  return stdio;
}

/** Descriptors above 2 that a child would inherit. Only Linux tells. */
function inherited(): readonly number[] {
  if (process.platform !== 'linux') return [];
  try {
    return readdirSync('/proc/self/fdinfo').map(Number).filter(isInherited);
  } catch {
    return [];
  }
}

function isInherited(fd: number): boolean {
  if (fd <= 2) return false;
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // Closed since it was listed.
    return false;
  }
}
