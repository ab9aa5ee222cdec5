import type { RuntimeClient } from '../src/client/operations.ts';
import type { RunStatus } from '../src/schema/run.ts';
import type { Action } from './actions.ts';
import type { Effect } from './effect.ts';
import type { Overlay } from './overlays/overlay.ts';
import type { PlanEffects } from './plan/plan-effects.ts';
import type { State } from './state.ts';
import type { ClientLink } from './use-client.ts';

export type QuittingDeps = {
  readonly client: () => Promise<RuntimeClient>;
  readonly link: Pick<ClientLink, 'sent' | 'started'>;
  readonly plans: Pick<PlanEffects, 'runs'>;
  readonly state: () => State;
  readonly dispatch: (action: Action) => void;
  readonly say: (text: string) => void;
  readonly leave: (code: number) => void;
};

/** Runs of this program that have not ended, with how they stand. */
export type OwnRun = { readonly id: string; readonly status: RunStatus };

const unended: readonly RunStatus[] = ['running', 'waiting', 'suspended', 'interrupted'];
/** A call that is being executed may end before the run rests; somebody who waits so long is offered the other way. */
const patienceMs = 5000;
const restMs = 24 * 3_600_000;

/** How the program is left while something runs (10 §1.5). */
export function createQuitting({ client: clientOf, link, plans, state, dispatch, say, leave }: QuittingDeps) {
  const ownRuns = async (): Promise<readonly OwnRun[]> => {
    // A message that is on its way is a run in a moment.
    await link.sent();
    const own = new Set([...link.started(), ...plans.runs()]);
    if (own.size === 0) return [];
    const client = await clientOf();
    const found = await Promise.all(
      unended.map(async (status) => (await client.listRuns({ status, session: null, limit: 200 })).runs),
    );
    return found.flat().filter(({ id }) => own.has(id));
  };
  const going = async (): Promise<readonly OwnRun[]> =>
    (await ownRuns()).filter(({ status }) => status === 'running' || status === 'waiting');

  const cancelAll = async (reason: string): Promise<void> => {
    const client = await clientOf();
    const ended = (await going()).map(async ({ id }) => {
      await client.cancelRun({ run_id: id, reason });
      await client.awaitRun({ run_id: id });
    });
    // One that has ended meanwhile needs no end.
    await Promise.allSettled(ended);
  };
  const restAll = async (): Promise<void> => {
    const client = await clientOf();
    const patience = setTimeout(() => dispatch({ type: 'overlay', overlay: stillGoing }), patienceMs);
    try {
      await Promise.all(
        (await going()).map(({ id }) =>
          // One that has ended meanwhile needs no rest.
          client.stopRun({ run_id: id, reason: 'shutdown', within_ms: restMs }).catch(() => undefined),
        ),
      );
    } finally {
      clearTimeout(patience);
    }
  };

  return {
    ownRuns,
    cancelAll,
    /** Leaves, or asks what is to become of the runs that work. One that only waits for an answer rests without a question. */
    async quit(): Promise<void> {
      const runs = state().phase === 'starting' ? [] : await going();
      if (runs.some(({ status }) => status === 'running')) dispatch({ type: 'overlay', overlay: question });
      else {
        if (runs.length > 0) await restAll();
        leave(0);
      }
    },
    async end({ cancel }: Extract<Effect, { do: 'leave' }>): Promise<void> {
      say(cancel ? 'cancelling…' : 'suspending…');
      await (cancel ? cancelAll('operator') : restAll()).finally(() => leave(0));
    },
  };
}

export type Quitting = ReturnType<typeof createQuitting>;

const cancelChoice = { key: 'c', words: 'cancel and quit', effects: [{ do: 'leave', cancel: true }] } as const;

const question: Overlay = {
  kind: 'question',
  title: 'A run is going on',
  lines: ['It can stop at its next checkpoint and go on later (reins state resume), or be cancelled.'],
  choices: [{ key: 's', words: 'suspend and quit', effects: [{ do: 'leave', cancel: false }] }, cancelChoice],
  at: 0,
};

const stillGoing: Overlay = {
  kind: 'question',
  title: 'A call is still being executed',
  lines: ['The program quits when it has ended. Cancelled, what the call has done is not known.'],
  choices: [cancelChoice],
  at: 0,
};
