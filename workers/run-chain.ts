import { setTimeout as wait } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import { runChain } from '../src/engine/run-chain.ts';
import type { RunHost } from '../src/engine/host.ts';
import { createModel } from '../src/models/providers.ts';
import { defaultDeps } from '../src/models/wire-model.ts';
import { toWire } from '../src/schema/errors.ts';
import type { RunJob } from '../src/schema/protocol.ts';
import { newId, ulid } from '../src/text/ids.ts';
import { longestTimerMs } from '../src/text/quantities.ts';
import { createPortHost } from './port-host.ts';
import { withinTime } from './within-time.ts';

declare const FAIL_POINTS: boolean;

// What every adapter over the wire needs is loaded while the thread waits for its first run.
for (const part of [import('node:http'), import('../src/models/exchange.ts')]) part.catch(() => {});

/** Kept over the runs of this thread: fields that a server has refused are not tried again (08 §5.3). */
const wire = defaultDeps();

/** An aborted wait ends at once; the engine looks at the signal itself. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  let left = ms;
  do {
    await wait(Math.min(left, longestTimerMs), undefined, { signal }).catch(() => {});
    left -= longestTimerMs;
  } while (left > 0 && !signal.aborted);
}

/** Engine, models and port put together. Catches everything: what it cannot explain becomes a failed end. */
export default async function run({ job, port }: { job: RunJob; port: MessagePort }): Promise<void> {
  const { host: portHost, signal, end } = createPortHost(port);
  let host = portHost;
  try {
    if (FAIL_POINTS) host = await failPoint(job, host);
    end(
      await runChain(
        job,
        host,
        {
          createModel: (route) => createModel(route, wire),
          now: Date.now,
          newId: (kind) => (kind === 'message' ? ulid(Date.now()) : newId(kind, Date.now())),
          sleep,
          within: withinTime,
          random: Math.random,
        },
        signal,
      ),
    );
  } catch (error) {
    const { code, message } = toWire(error);
    end({ kind: 'failed', error: { class: code, message } });
  }
}

/** Crash hooks of the test build: a thread cannot be killed from outside, so it dies from within (amendment 11). */
async function failPoint(job: RunJob, host: RunHost): Promise<RunHost> {
  const point = job.variables['fail_point'];
  if (point === 'worker_exit') process.exit(1);
  if (point === 'worker_throw')
    setImmediate(() => {
      throw new Error('fail point');
    });
  if (point === 'worker_loop') for (;;);
  // A read from a pipe that nobody writes to: nothing interrupts it.
  if (point === 'worker_native') (await import('node:fs')).readFileSync(job.variables['fail_file'] ?? '');
  if (point === 'worker_oom') {
    const kept: unknown[] = [];
    for (;;) kept.push(new Array(100_000).fill(kept.length));
  }
  if (point !== 'worker_exit_in_call') return host;
  return {
    ...host,
    callTool(input) {
      setTimeout(() => process.exit(1), 300);
      return host.callTool(input);
    },
  };
}
