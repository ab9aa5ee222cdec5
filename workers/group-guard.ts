import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Kills the process groups of this thread when the thread or the process is gone, also by SIGKILL: terminating either
 * leaves children alive (architecture §5.6), and a pipe that closes is the one thing that the system does for a dead
 * process. A shell reads our lines; at their end it kills what is still listed.
 */
export type GroupGuard = {
  add(group: number): void;
  remove(group: number): void;
};

const script = `
groups=
while read -r verb group; do
  case $verb in
    add) groups="$groups $group" ;;
    remove)
      rest=
      for one in $groups; do [ "$one" = "$group" ] || rest="$rest $one"; done
      groups=$rest ;;
  esac
done
for one in $groups; do kill -s KILL -- "-$one"; done 2>/dev/null
`;

/** Nothing is started before the first group. A system without /bin/sh has no guard. */
export function createGroupGuard(): GroupGuard {
  const groups = new Set<number>();
  let watcher: ChildProcess | null = null;

  const tell = (line: string): void => {
    watcher?.stdin?.write(`${line}\n`);
  };
  const start = (): void => {
    if (process.platform === 'win32') return;
    const child = spawn('/bin/sh', ['-c', script], {
      detached: true,
      env: {},
      cwd: '/',
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const gone = (): void => {
      if (watcher === child) watcher = null;
    };
    child.on('error', gone);
    child.on('exit', gone);
    child.stdin?.on('error', gone);
    // The thread must be able to end while the guard waits: its end is what the guard waits for.
    child.unref();
    if (child.stdin !== null && 'unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
    watcher = child;
    for (const group of groups) tell(`add ${group}`);
  };

  return {
    add(group) {
      groups.add(group);
      if (watcher === null) start();
      else tell(`add ${group}`);
    },
    remove(group) {
      groups.delete(group);
      tell(`remove ${group}`);
    },
  };
}
