import { RuntimeError } from '../schema/errors.ts';
import type { Finished } from './finish.ts';
import type { LiveRun } from './live-run.ts';

type Going = { readonly live: LiveRun; readonly finished: Promise<Finished> };

/** How many results are kept for who asks late. The events and rows of a run are in the database in any case. */
const keptResults = 64;
/** Of how many of them the whole history is kept too: it has all messages that the run began with. */
const keptWhole = 4;

/** The runs of this process by id: those that are going, and the results of those that ended last. */
export function createLiveRuns() {
  const going = new Map<string, Going>();
  /** Oldest first. */
  const results = new Map<string, Promise<Finished>>();

  const forget = (runId: string, finished: Promise<Finished>): void => {
    going.delete(runId);
    results.set(runId, finished);
    const ids = [...results.keys()];
    const [oldest] = ids;
    if (results.size > keptResults && oldest !== undefined) results.delete(oldest);
    const old = ids.at(-1 - keptWhole);
    if (old !== undefined) letGoOfOutput(old);
  };
  const letGoOfOutput = (runId: string): void => {
    const whole = results.get(runId);
    const shorten = ({ result }: Finished): void => {
      if (results.get(runId) === whole) results.set(runId, Promise.resolve(withoutOutput(result)));
    };
    // One that failed holds nothing, and reaches whoever awaits it.
    whole?.then(shorten, () => undefined);
  };

  return {
    /** Keeps a run that has begun until it has finished. */
    add(runId: string, live: LiveRun, finished: Promise<Finished>): void {
      going.set(runId, { live, finished });
      // A failure to record the end reaches whoever awaits the run; nobody may be there yet.
      const over = (): void => forget(runId, finished);
      finished.then(over, over);
    },

    isGoing: (runId: string): boolean => going.has(runId),

    has: (runId: string): boolean => going.has(runId) || results.has(runId),

    /** @returns null for one that has just ended. @throws RuntimeError run_not_active */
    live(runId: string): LiveRun | null {
      const found = going.get(runId);
      if (found === undefined && !results.has(runId)) throw notHere(runId);
      return found?.live ?? null;
    },

    /** @throws RuntimeError run_not_active */
    finished(runId: string): Promise<Finished> {
      const found = going.get(runId)?.finished ?? results.get(runId);
      if (found === undefined) throw notHere(runId);
      return found;
    },

    all: (): readonly Going[] => [...going.values()],
  };
}

const notHere = (runId: string): RuntimeError =>
  new RuntimeError('run_not_active', `run ${runId} is not running in this process`);

/** Made here, out of reach of what the history is held by. */
const withoutOutput = (result: Finished['result']): Finished => ({
  result,
  output() {
    throw notHere(result.run_id);
  },
});
