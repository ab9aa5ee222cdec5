import { once } from 'node:events';
import type { MessagePort, Worker } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import type { HashResult, RunJob } from '../schema/protocol.ts';
import type { YamlJson } from '../text/yaml-json.ts';
import type { LineSearch } from '../text/line-search.ts';
import type { Spawner } from './spawner.ts';

export type PoolsDeps = {
  /** Directory URL of the installation; worker files lie under it (amendment 1). */
  readonly root: URL;
  /** Threads of the run pool. */
  readonly runThreads?: number;
  /** Heap of a run thread in MiB: one that outgrows it dies alone (architecture §4). */
  readonly runHeapMb?: number;
};

/**
 * The most runs of a server (`beam-max-runs`), and for each of them one that it waits for: fewer threads, and a
 * run that waits for another one could keep that one from beginning. A thread is started when none is free.
 */
const mostRunThreads = 64;
/** A run thread that has had nothing to do for this long ends. */
const idleMs = 30_000;
/** Ten MiB of YAML take ten seconds. */
const yamlMs = 30_000;
/** How long threads that were told to end are waited for; one ends within milliseconds, also out of an endless loop. */
const closeGraceMs = 2_000;
/** What a thread has just made; the engine would let it grow to 48 and keep that while the thread rests. */
const youngMb = 12;

/**
 * The thread pools, the only importer of Piscina: `runs` executes chains, `hash` reads binaries, `find`
 * searches lines that take long, `yaml` reads descriptions of services. Never one pool: a run that
 * waits for a thread of its own pool would wait for ever (architecture §4). Each starts when it is first needed; `warm`
 * starts the first run thread early.
 */
export function createPools(deps: PoolsDeps) {
  const opened: Promise<Piscina>[] = [];
  /** Threads that have not ended; a pool forgets one whose job was given up. */
  const going = new Set<Worker>();

  const open = (options: { name: string; maxThreads: number; heapMb?: number }) => {
    let pool: Promise<Piscina> | undefined;
    return (): Promise<Piscina> => {
      if (pool !== undefined) return pool;
      pool = import('piscina').then(({ Piscina }) => {
        const made = new Piscina({
          filename: new URL(`workers/${options.name}.js`, deps.root).href,
          minThreads: 1,
          maxThreads: options.maxThreads,
          concurrentTasksPerWorker: 1,
          idleTimeout: idleMs,
          atomics: 'disabled',
          env: {},
          execArgv: [],
          ...(options.heapMb === undefined
            ? {}
            : { resourceLimits: { maxOldGenerationSizeMb: options.heapMb, maxYoungGenerationSizeMb: youngMb } }),
          recordTiming: false,
        });
        // A thread that dies after its job was given up has nobody else to tell; its run has been recorded.
        made.on('error', () => {});
        made.on('workerCreate', () => {
          for (const thread of made.threads) {
            if (going.has(thread)) continue;
            going.add(thread);
            thread.once('exit', () => going.delete(thread));
          }
        });
        return made;
      });
      opened.push(pool);
      return pool;
    };
  };

  const runs = open({
    name: 'run-chain',
    maxThreads: deps.runThreads ?? mostRunThreads,
    heapMb: deps.runHeapMb ?? 1024,
  });
  const hashes = open({ name: 'hash-binary', maxThreads: 2, heapMb: 128 });
  const finders = open({ name: 'find-in-line', maxThreads: 2, heapMb: 512 });
  const yamlReaders = open({ name: 'read-yaml', maxThreads: 1, heapMb: 1024 });
  let spawner: Promise<Spawner> | undefined;
  const children = (): Promise<Spawner> => {
    spawner ??= import('./spawner.ts').then(({ createSpawner }) => createSpawner(deps.root));
    return spawner;
  };

  /** @returns false when one is still there after the time */
  const endThreads = async (): Promise<boolean> => {
    // Most commands have none, and what waits for them loads modules that they do not need.
    if (opened.length === 0 && going.size === 0) return true;
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), closeGraceMs);
    const destroyed = Promise.all(opened.splice(0).map(async (pool) => (await pool).destroy()));
    const ends = [...going].map((thread) => once(thread, 'exit', { signal: over.signal }));
    const ended = (await Promise.allSettled(ends)).every(({ status }) => status === 'fulfilled');
    clearTimeout(timer);
    if (ended) await destroyed;
    else destroyed.catch(() => {});
    return ended;
  };

  return {
    /** Starts the first run thread, which goes on by itself while the caller does. Never rejects. */
    async warm(): Promise<void> {
      try {
        await runs();
      } catch {
        // The run that needs the pool meets the same failure and reports it.
      }
    },

    /** Runs one chain. Resolves or rejects when the thread is done with it; the port's `end` is the end (§5.1). */
    async runChain(job: RunJob, port: MessagePort, signal: AbortSignal): Promise<void> {
      const pool = await runs();
      await pool.run({ job, port }, { transferList: [port], signal });
    },

    /** Starts the process that starts children, which otherwise waits for the first of them. Never rejects. */
    async warmSpawner(): Promise<void> {
      try {
        (await children()).warm();
      } catch {
        // The call that needs it meets the same failure and reports it.
      }
    },

    /** As `Spawner.spawn`. */
    async spawn(...given: Parameters<Spawner['spawn']>): ReturnType<Spawner['spawn']> {
      return (await children()).spawn(...given);
    },

    /** Hashes a file in a thread of its own. Rejects when the thread is lost. */
    async hash(path: string): Promise<HashResult> {
      // Of our own worker, whose only output this is.
      return (await hashes()).run({ path }) as Promise<HashResult>;
    },

    /** Where a line matches first, -1 when it does not; an abort ends the thread. Rejects when the thread is lost or ended. */
    async findInLine(search: LineSearch, line: string, signal: AbortSignal): Promise<number> {
      // Of our own worker, whose only output this is.
      return (await finders()).run({ ...search, line }, { signal }) as Promise<number>;
    },

    /** Reads YAML in a thread of its own, which ends after half a minute. Never rejects. */
    async readYaml(text: string): Promise<YamlJson> {
      try {
        const signal = AbortSignal.timeout(yamlMs);
        // Of our own worker, whose only output this is.
        return (await (await yamlReaders()).run({ text }, { signal })) as YamlJson;
      } catch {
        return { fault: 'takes too much time or memory to read' };
      }
    },

    /**
     * Ends children and threads. Safe to call twice.
     * @returns false when a thread goes on: nothing interrupts what it does in native code
     */
    async close(): Promise<boolean> {
      const [ended] = await Promise.all([endThreads(), spawner?.then((one) => one.close())]);
      return ended;
    },
  };
}

export type Pools = ReturnType<typeof createPools>;
