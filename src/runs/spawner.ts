import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { SpawnerCommand, SpawnerReport, SpawnRequest, SpawnResult } from '../schema/protocol.ts';

/** How long SIGTERM is given before SIGKILL when the process leaves. */
const killGraceMs = 2_000;
/** Heap of the spawner in MiB: it holds the captured output of the children that run. */
const heapMb = 512;

type Job = {
  readonly onOutput: (stream: 'stdout' | 'stderr', text: string) => void;
  readonly onStarted: (pid: number) => void;
  readonly settle: (result: SpawnResult) => void;
  pid: number | null;
};

/**
 * Starts children from a small process of their own. A fork copies the page tables of the whole process and every
 * thread then pays for each page that it touches, so a process that holds a database and two engines is a bad parent
 * (decision 36). The helper is started by `warm` or the first child, and ends with this process.
 */
export function createSpawner(root: URL) {
  const jobs = new Map<number, Job>();
  let helper: ChildProcess | null = null;
  let ready = false;
  let nextId = 1;

  const killAll = (signal: 'SIGTERM' | 'SIGKILL'): void => {
    for (const { pid } of jobs.values()) if (pid !== null) killGroup(pid, signal);
  };

  const settle = (id: number, result: SpawnResult): void => {
    jobs.get(id)?.settle(result);
    jobs.delete(id);
    // An open channel keeps the program alive only while somebody waits for a child.
    if (jobs.size === 0) helper?.channel?.unref();
  };

  const hear = (report: SpawnerReport): void => {
    if (report.kind === 'ready') {
      ready = true;
      return;
    }
    const job = jobs.get(report.id);
    if (job === undefined) return;
    switch (report.kind) {
      case 'started':
        job.pid = report.pid;
        job.onStarted(report.pid);
        break;
      case 'output':
        job.onOutput(report.stream, report.text);
        break;
      case 'result':
        settle(report.id, report.result);
    }
  };

  const start = (): ChildProcess => {
    // In a session of its own, so that the terminal's Ctrl-C reaches the program alone.
    const made = fork(fileURLToPath(new URL('workers/spawner.js', root)), [], {
      execArgv: [`--max-old-space-size=${heapMb}`],
      // What it starts is known by it, also where that has replaced itself (11 §6.2).
      env: { REINS_RUN_ID: 'spawner' },
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    made.unref();
    ready = false;
    let failure = 'its process ended';
    const gone = (): void => {
      if (helper !== made) return;
      helper = null;
      for (const [id, { pid }] of [...jobs]) settle(id, ready ? lost(pid, failure) : notStarted(failure));
    };
    made.on('message', (message) => hear(message as SpawnerReport));
    made.on('error', (error) => {
      failure = error.message;
      gone();
    });
    // Comes after everything that the helper has said.
    made.on('disconnect', gone);
    return made;
  };

  const send = (command: SpawnerCommand): void => {
    // A helper that is gone is heard of by `disconnect`.
    helper?.send(command, () => {});
  };

  return {
    /** Starts the helper, if it is not there, so that the next child does not wait for it. */
    warm(): void {
      helper ??= start();
      if (jobs.size === 0) helper.channel?.unref();
    },

    /** Starts one child and waits for it. Cancelling ends its group: SIGTERM, 2 s, SIGKILL; before the start, nothing starts. Never rejects. */
    spawn(
      request: SpawnRequest,
      signal: AbortSignal,
      onOutput: Job['onOutput'],
      onStarted: Job['onStarted'],
    ): Promise<SpawnResult> {
      // The child would be ended at once, and might have done its work by then.
      if (signal.aborted) return Promise.resolve(notStarted('It was cancelled before it was started.', 'cancelled'));
      const id = nextId;
      nextId += 1;
      const cancel = (): void => send({ kind: 'cancel', id });
      return new Promise<SpawnResult>((resolve) => {
        helper ??= start();
        helper.channel?.ref();
        jobs.set(id, { onOutput, onStarted, settle: resolve, pid: null });
        send({ kind: 'spawn', id, request });
        signal.addEventListener('abort', cancel, { once: true });
      }).finally(() => signal.removeEventListener('abort', cancel));
    },

    /** Ends the children, then the helper. Safe to call twice. */
    async close(): Promise<void> {
      if (jobs.size > 0) {
        killAll('SIGTERM');
        await settled(killGraceMs);
        killAll('SIGKILL');
      }
      helper?.disconnect();
    },
  };

  /** Resolves when no child runs any more, or after the time. */
  async function settled(ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (jobs.size > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const notStarted = (message: string, error: 'spawn_failed' | 'cancelled' = 'spawn_failed'): SpawnResult => ({
  kind: 'not_started',
  error,
  message,
});

/** The helper died with the child alive, or in the moment of its start: the group must not survive it (architecture §5.6). */
function lost(pid: number | null, message: string): SpawnResult {
  if (pid !== null) killGroup(pid, 'SIGKILL');
  return { kind: 'lost', message };
}

function killGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // ESRCH: the group has ended by itself.
  }
}

export type Spawner = ReturnType<typeof createSpawner>;
