import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

/**
 * Kills the process groups of this process when it is gone, also by SIGKILL: children outlive it (architecture §5.6), and
 * a pipe that closes is the one thing that the system does for a dead process. A shell waits for that end; only then does it read the journal of groups, so that a call wakes nobody.
 */
export type GroupGuard = {
  add(group: number): void;
  remove(group: number): void;
};

/** Descriptor 3 ends when this program does, or says that another guard has taken over. Descriptor 0 is the journal. */
const script = `
read -r word <&3 && exit
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

type Guard = { readonly journal: Writable; readonly life: Writable };

/** Nothing is started before the first group. A system without /bin/sh has no guard. */
export function createGroupGuard(): GroupGuard {
  const groups = new Set<number>();
  let guard: Guard | null = null;

  const start = (): void => {
    guard = null;
    if (process.platform === 'win32') return;
    const child = spawn('/bin/sh', ['-c', script], {
      detached: true,
      env: {},
      cwd: '/',
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    });
    const own = connect(child);
    if (own === null) return;
    const gone = (): void => {
      if (guard === own) guard = null;
    };
    child.on('error', gone);
    child.on('exit', gone);
    for (const stream of [own.journal, own.life]) stream.on('error', gone);
    guard = own;
    for (const group of groups) own.journal.write(`add ${group}\n`);
  };

  /** The guard reads its journal only at the end, so it fills up: then a new guard begins with the groups of that moment. */
  const isFull = (): boolean => guard !== null && guard.journal.writableLength > 0;

  return {
    add(group) {
      groups.add(group);
      if (guard !== null && !isFull()) {
        guard.journal.write(`add ${group}\n`);
        return;
      }
      const old = guard;
      start();
      old?.life.end('replaced\n', () => {
        old.journal.destroy();
        old.life.destroy();
      });
    },
    remove(group) {
      groups.delete(group);
      guard?.journal.write(`remove ${group}\n`);
    },
  };
}

/** The process must be able to end while the guard waits, since its end is what the guard waits for. */
function connect(child: ChildProcess): Guard | null {
  child.unref();
  const [journal, , , life] = child.stdio;
  if (!isWritable(journal) || !isWritable(life)) return null;
  for (const stream of [journal, life]) {
    if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
  }
  return { journal, life };
}

const isWritable = (stream: unknown): stream is Writable =>
  typeof stream === 'object' && stream !== null && 'writableLength' in stream;
