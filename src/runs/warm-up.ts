import type { ToolSpec } from '../schema/message.ts';
import type { Pools } from './pools.ts';

/** A model that takes longer is thinking; one that does not is answered first. */
const quietMs = 30;
/** Nor is one that talks about to ask for a command, and its text needs the processors; but it may stop at any time. */
const anywayMs = 300;

/**
 * Gets what starts commands ready while the model thinks that may ask for one. Not while its request is being made: the
 * thread of the run and the server need the processors then, and a fork stops this process (decision 36).
 * @param offered the tools of the run: where none starts commands, nothing gets ready
 */
export function createWarmUp(pools: Pick<Pools, 'warmSpawner'>, offered: readonly Pick<ToolSpec, 'tools'>[]) {
  const callsCommands = offered.some(({ tools }) => tools === 'local_shell');
  let timer: NodeJS.Timeout | undefined;
  let by = 0;
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    /** The request of a turn is on its way. */
    asked(): void {
      if (!callsCommands) return;
      stop();
      by = performance.now() + anywayMs;
      timer = setTimeout(() => {
        timer = undefined;
        void pools.warmSpawner();
      }, quietMs);
    },

    /** The model has said something. */
    talked(): void {
      if (performance.now() < by) timer?.refresh();
    },

    /** The turn is over, or the run. */
    stop,
  };
}
