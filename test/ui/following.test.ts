import { expect, it } from 'vitest';
import { createClientLink } from '../../ui/use-client.ts';

/** A link whose client has runs that never end. @returns it, and what is followed: `run_1 from 3` */
function link() {
  const watched: string[] = [];
  const client = {
    async *watch({ run_id, after, signal }: { run_id: string; after: number; signal: AbortSignal }) {
      watched.push(`${run_id} from ${after}`);
      yield [];
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
    resumeRun: async ({ run_id }: { run_id: string }) => ({ run_id, resumed: { from_seq: 3, ask_ids: [] } }),
  };
  const made = createClientLink({
    client: async () => client as never,
    dispatch: () => undefined,
    now: () => 0,
    session: () => null,
    busy: () => false,
    resting: () => null,
    elsewhere: () => null,
    opened: async () => undefined,
    planChanged: () => undefined,
    definitions: async () => undefined,
    goOnWithPlan: () => undefined,
    policy: () => null,
    model: null,
    root: async () => '/w',
    key: () => null,
    settings: () => undefined,
    request: async () => ({ timeout_ms: 0 }) as never,
  });
  return { made, watched };
}

it('a run that was followed while another process drove it is followed on where it is resumed here', async () => {
  const { made, watched } = link();
  void made.watch('run_1', false);
  await expect.poll(() => watched).toEqual(['run_1 from 0']);
  await made.resume('run_1');
  expect(watched).toEqual(['run_1 from 0']);
  await made.resume('run_2');
  await expect.poll(() => watched).toEqual(['run_1 from 0', 'run_2 from 3']);
  made.close();
});
