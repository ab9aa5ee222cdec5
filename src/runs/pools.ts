import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { RunJob, SpawnMessage, SpawnRequest, SpawnResult } from '../schema/protocol.ts';

export type PoolsDeps = {
  /** Directory URL of the installation; worker files lie under it (amendment 1). */
  readonly root: URL;
  /** Threads of the run pool. */
  readonly runThreads?: number;
  /** Heap of a run thread in MiB: one that outgrows it dies alone (architecture §4). */
  readonly runHeapMb?: number;
};

/** How long SIGTERM is given before SIGKILL when the process leaves. */
const killGraceMs = 2_000;
/** A run thread that has had nothing to do for this long ends. */
const idleMs = 30_000;

/**
 * The pools, the only importer of Piscina: `runs` executes chains, `spawn` waits for children, `hash` reads binaries.
 * Never one pool: a run that waits for a child of its own pool would wait for ever (architecture §4). Each starts when
 * it is first needed; `warm` starts the first run thread early.
 */
export function createPools(deps: PoolsDeps) {
  const groups = new Set<number>();
  const opened: Promise<Piscina>[] = [];

  const open = (options: { name: string; maxThreads: number; concurrent?: number; heapMb?: number }) => {
    let pool: Promise<Piscina> | undefined;
    return (): Promise<Piscina> => {
      if (pool !== undefined) return pool;
      pool = import('piscina').then(({ Piscina }) => {
        const made = new Piscina({
          filename: new URL(`workers/${options.name}.js`, deps.root).href,
          minThreads: 1,
          maxThreads: options.maxThreads,
          concurrentTasksPerWorker: options.concurrent ?? 1,
          idleTimeout: idleMs,
          atomics: 'disabled',
          env: {},
          execArgv: [],
          ...(options.heapMb === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: options.heapMb } }),
          recordTiming: false,
        });
        // A thread that dies after its job was given up has nobody else to tell; its run has been recorded.
        made.on('error', () => {});
        return made;
      });
      opened.push(pool);
      return pool;
    };
  };

  const runs = open({ name: 'run-chain', maxThreads: deps.runThreads ?? 8, heapMb: deps.runHeapMb ?? 1024 });
  // One thread: a spawn job only waits, and two would let two long commands hold up every run (amendment 5).
  const spawns = open({ name: 'spawn-tool', maxThreads: 1, concurrent: 64, heapMb: 512 });
  const hashes = open({ name: 'hash-binary', maxThreads: 2, heapMb: 128 });

  const killGroup = (pid: number, signal: 'SIGTERM' | 'SIGKILL'): void => {
    try {
      process.kill(-pid, signal);
    } catch {
      // ESRCH: the group has ended by itself.
    }
  };

  return {
    /** Starts the first run thread; the caller goes on meanwhile. */
    warm(): void {
      runs().catch(() => {
        // The run that needs the pool meets the same failure and reports it.
      });
    },

    /** Runs one chain. Resolves or rejects when the thread is done with it; the port's `end` is the end (§5.1). */
    async runChain(job: RunJob, port: MessagePort, signal: AbortSignal): Promise<void> {
      const pool = await runs();
      await pool.run({ job, port }, { transferList: [port], signal });
    },

    /** Starts one child and waits for it. Cancelling ends its group: SIGTERM, 2 s, SIGKILL. */
    async spawn(
      request: SpawnRequest,
      signal: AbortSignal,
      onOutput: (stream: 'stdout' | 'stderr', text: string) => void,
      onStarted: (pid: number) => void,
    ): Promise<SpawnResult> {
      const pool = await spawns();
      const { port1, port2 } = new MessageChannel();
      let pid: number | undefined;
      port1.on('message', (message: SpawnMessage) => {
        if (message.kind === 'output') {
          onOutput(message.stream, message.text);
          return;
        }
        pid = message.pid;
        groups.add(pid);
        onStarted(pid);
      });
      const cancel = (): void => port1.postMessage({ kind: 'cancel' });
      signal.addEventListener('abort', cancel, { once: true });
      try {
        const job = pool.run({ request, port: port2 }, { transferList: [port2] });
        if (signal.aborted) cancel();
        return (await job) as SpawnResult;
      } catch (error) {
        // The thread died with the child alive: its group must not survive it (architecture §5.6).
        const message = error instanceof Error ? error.message : String(error);
        // What the thread said before it died is still on its way.
        await new Promise((resolve) => setImmediate(resolve));
        if (pid === undefined) return { kind: 'not_started', error: 'spawn_failed', message };
        killGroup(pid, 'SIGKILL');
        return { kind: 'lost', message };
      } finally {
        signal.removeEventListener('abort', cancel);
        port1.close();
        if (pid !== undefined) groups.delete(pid);
      }
    },

    async hash(path: string): Promise<unknown> {
      return (await hashes()).run({ path });
    },

    /** For the way out of the process: no child outlives it. Synchronous. */
    killChildren(signal: 'SIGTERM' | 'SIGKILL'): void {
      for (const pid of groups) killGroup(pid, signal);
    },

    /** Ends children, then threads. Safe to call twice. */
    async close(): Promise<void> {
      const open = opened.splice(0);
      if (groups.size > 0) {
        for (const pid of groups) killGroup(pid, 'SIGTERM');
        await Promise.race([
          Promise.all(open.map(async (pool) => (await pool).close())),
          new Promise((resolve) => setTimeout(resolve, killGraceMs)),
        ]);
        for (const pid of groups) killGroup(pid, 'SIGKILL');
      }
      await Promise.all(open.map(async (pool) => (await pool).destroy()));
    },
  };
}

export type Pools = ReturnType<typeof createPools>;
