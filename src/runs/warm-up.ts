import type { ToolSpec } from '../schema/message.ts';
import type { Pools } from './pools.ts';

/** A model that is silent for longer is thinking; until then its answer may come any moment and goes first. A busy machine makes gaps of 30 ms. */
const quietMs = 100;
/** While a model talks it asks for no command, and its text needs the processors; but after this time it may stop soon. */
const anywayMs = 1000;

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
