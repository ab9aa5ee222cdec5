import type { RuntimeClient } from '../client/operations.ts';
import type { RunService } from '../runs/runs.ts';
import type { RoomsInput } from './rooms-input.ts';

type Deps = Pick<RoomsInput['store'], 'sessions' | 'runs' | 'actor' | 'services'> & {
  readonly going: Pick<RunService, 'isGoing' | 'cancelRun' | 'awaitRun'>;
};

/**
 * Deletes a session. Its runs in this process are cancelled first: the word by which other processes learn of a deletion
 * does not reach them.
 */
export function deleteSessionWith({ sessions, runs, actor, services, going }: Deps): RuntimeClient['deleteSession'] {
  return async (wanted) => {
    const row = wanted.force ? sessions.byName(wanted.name.normalize('NFC')) : undefined;
    const own = row === undefined ? [] : runs.openOfSession(row.id).filter(({ id }) => going.isGoing(id));
    for (const { id } of own) {
      await going.cancelRun({ run_id: id, reason: 'session deleted' }, actor.by);
      await going.awaitRun({ run_id: id });
    }
    return services.deleteSession(wanted);
  };
}
