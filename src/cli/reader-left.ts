import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * Tells when the process that reads the pipe behind a descriptor of ours has gone. A pipe says so only to who writes, and
 * who waits for something to write would stay for hours. A reader that was never seen, such as one outside of a container,
 * is never missed. False also where it is no pipe, or there is no /proc. Never throws.
 * @returns whether the reader has left by now
 */
export function watchReader(fd: number): () => boolean {
  const pipe = target(`/proc/self/fd/${fd}`) ?? '';
  if (!pipe.startsWith('pipe:')) return () => false;
  let reader = findReader(pipe);
  return () => {
    if (reader === null || [pipe, unreadable].includes(target(reader) ?? '')) return false;
    // It may have handed its end on.
    reader = findReader(pipe);
    return reader === null;
  };
}

/** An end for reading, as the path of its descriptor. */
function findReader(pipe: string): string | null {
  for (const pid of listed('/proc').filter((name) => /^\d+$/.test(name))) {
    for (const fd of listed(`/proc/${pid}/fd`)) {
      const path = `/proc/${pid}/fd/${fd}`;
      if (target(path) === pipe && isForReading(`/proc/${pid}/fdinfo/${fd}`)) return path;
    }
  }
  return null;
}

/** Access modes are 0 for reading, 1 for writing and 2 for both. */
function isForReading(path: string): boolean {
  try {
    return !/^flags:\s*[0-7]*[15]$/m.test(readFileSync(path, 'utf8'));
  } catch {
    return false;
  }
}

function listed(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** A process that has become another user's, as with `sudo`, is there all the same. */
const unreadable = 'unreadable';

/** Null where there is no such descriptor any more. */
function target(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EACCES' || code === 'EPERM' ? unreadable : null;
  }
}
