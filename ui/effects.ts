import type { RuntimeClient } from '../src/client/operations.ts';
import type { Screen } from './screen.ts';
import type { Effect } from './state.ts';
import type { Store } from './store.ts';
import type { ClientLink } from './use-client.ts';
import { toWire } from '../src/schema/errors.ts';

export type EffectDeps = {
  readonly link: ClientLink;
  readonly client: () => Promise<RuntimeClient>;
  readonly screen: Screen;
  readonly leave: (code: number) => void;
  readonly store: () => Store;
  readonly now: () => number;
};

type Doing = { readonly [K in Effect['do']]?: (effect: Extract<Effect, { do: K }>) => void };

/** Does what the reducer asked for; what comes of it is told by actions. */
export function createEffects(deps: EffectDeps) {
  const { link, screen, now } = deps;
  const dispatch: Store['dispatch'] = (action) => deps.store().dispatch(action);
  const attempt = (work: () => Promise<unknown>): void => {
    work().catch((error: unknown) => dispatch({ type: 'say', text: toWire(error).message, bad: true, now: now() }));
  };

  const cancel = async (runId: string): Promise<void> => {
    await (await deps.client()).cancelRun({ run_id: runId, reason: 'operator' });
  };
  const doing: Doing = {
    send: ({ text, session }) => attempt(() => link.send(text, session)),
    interrupt: ({ run_id }) => attempt(() => cancel(run_id)),
    'load-older': () => attempt(() => link.loadOlder()),
    'switch-session': ({ name }) => attempt(() => link.openSession(name)),
    repaint: () => {
      screen.forget();
      dispatch({ type: 'resize', size: screen.size() });
    },
    suspend: () => {
      screen.leave();
      process.kill(process.pid, 'SIGTSTP');
    },
    abort: () => deps.leave(131),
    quit: () => deps.leave(0),
  };

  return {
    perform: (effect: Effect): void => {
      // The table has a function for exactly this kind of effect.
      const does = doing[effect.do] as ((effect: Effect) => void) | undefined;
      does?.(effect);
    },
    /** A second has passed: drawn only where something shows a time. */
    tick(): void {
      const state = deps.store().state();
      if (state.turn !== null || state.said !== null || state.asks.length > 0) dispatch({ type: 'tick', now: now() });
    },
    async cancelAll(): Promise<void> {
      const runId = deps.store().state().turn?.run_id;
      if (runId == null) return;
      await (await deps.client()).cancelRun({ run_id: runId, reason: 'SIGINT' }).catch(() => undefined);
    },
  };
}
