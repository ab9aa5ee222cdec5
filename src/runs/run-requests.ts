import { createHash } from 'node:crypto';
import { assert, type Struct } from 'superstruct';
import type { Gate } from '../gate/call.ts';
import { admitTurn, type TurnDeps } from '../gate/turn.ts';
import { BackendRequest, CallRequest, CheckpointRequest, TurnRequest } from '../schema/protocol.ts';
import { RuntimeError } from '../schema/errors.ts';
import { takenOver } from '../store/run-leases.ts';
import type { Runs } from '../store/runs.ts';
import { checkpointText } from './checkpoint-text.ts';
import { isRecorded, type LiveRun } from './live-run.ts';
import type { RequestPlaces } from './request-places.ts';
import type { createRunRows } from './run-rows.ts';

export type RunRequestDeps = TurnDeps & {
  readonly runs: Runs;
  readonly gate: Gate;
  /** Of all runs of this process. */
  readonly places: RequestPlaces;
  /** Masks known secrets before a state is stored (11 §5.3). */
  readonly mask: <T>(value: T) => T;
  /** Masks known secrets only: what runs once the run goes on is exact otherwise (11 §5.3.3). */
  readonly maskKnown: <T>(value: T) => T;
};

/** A wait for a place at a backend is told when it lasts this long (ms). */
const waitToldMs = 1_000;

/** What the thread of one run may ask for. What does not parse is a StructError, thrown before anything is done. */
export function createRunRequests(deps: RunRequestDeps, live: LiveRun, rows: ReturnType<typeof createRunRows>) {
  const { gate } = live;
  const calls = new Set<Promise<unknown>>();
  const waitedFor = new Set<string>();
  let endRequest = (): void => {};

  /** Whoever looks at the run would see nothing happen, maybe for minutes. */
  const tellWait = (backend: string): void => {
    const { task } = gate.ref;
    if (!task || waitedFor.has(backend) || !isRecorded(live)) return;
    waitedFor.add(backend);
    const message = `${backend} has ${deps.places.most} requests to answer; this one begins when one of them ends.`;
    rows.add({ ...task, kind: 'notice', level: 'info', code: 'backend_busy', message });
    rows.flushSoon();
  };

  /** A run has one request at a time. */
  const openRequest = async ({ backend, type }: BackendRequest): Promise<null> => {
    endRequest();
    // No server is behind a script.
    if (type === 'scripted') return null;
    return new Promise((resolve, reject) => {
      const waits = setTimeout(tellWait, waitToldMs, backend);
      const leave = deps.places.enter(backend, () => {
        clearTimeout(waits);
        resolve(null);
      });
      endRequest = () => {
        clearTimeout(waits);
        leave();
        reject(new RuntimeError('cancelled', 'cancelled'));
      };
    });
  };

  return {
    async answer(op: 'openTurn' | 'openRequest' | 'callTool', input: unknown): Promise<unknown> {
      if (op === 'openRequest') return openRequest(checked(input, BackendRequest));
      if (live.resting) return { kind: 'suspended' };
      if (op === 'openTurn') return admitTurn(deps, gate, checked(input, TurnRequest), live.defaults);
      rows.flushBehindHeld();
      const call = deps.gate.call(gate, checked(input, CallRequest));
      calls.add(call);
      return call.finally(() => calls.delete(call));
    },

    /** Gives back the place of the run's request, also the one in the line; nothing where it has none. */
    endRequest: (): void => endRequest(),

    /**
     * `goOn` is called once it is on the disk. Ahead of a model the thread gets the request ready meanwhile, so the
     * admission that came with it is answered first, and sends it then.
     */
    storeCheckpoint(input: unknown, goOn: () => void): void {
      const { state, ahead_of } = checked(input, CheckpointRequest);
      if (!isRecorded(live)) {
        // It would stand behind messages that are not recorded any more.
        if (ahead_of === 'rest') goOn();
        return;
      }
      const payload = checkpointText(deps.maskKnown(state));
      const digest = createHash('sha256').update(payload).digest('hex');
      const write = (): void => {
        if (!deps.runs.checkpoint(gate.ref.run_id, gate.owner, payload, digest, deps.now())) throw takenOver();
      };
      if (ahead_of === 'call') rows.hold(write);
      else if (ahead_of === 'model') rows.hold(write, goOn);
      else {
        rows.flush(write, 'full');
        goOn();
      }
    },

    /** Resolves when no call runs any more, or after so many milliseconds. */
    async callsEnded(withinMs: number): Promise<void> {
      if (calls.size === 0) return;
      let timer: NodeJS.Timeout | undefined;
      const over = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, withinMs);
      });
      await Promise.race([Promise.allSettled(calls), over]);
      clearTimeout(timer);
    },
  };
}

/** No defaults are filled in: what the worker sends is complete, and a check costs half of a coercion. */
function checked<T, S>(input: unknown, struct: Struct<T, S>): T {
  assert(input, struct);
  return input;
}
