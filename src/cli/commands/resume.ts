import type { RuntimeClient } from '../../client/operations.ts';
import type { Context, Handler } from '../context.ts';
import { followRun } from '../follow.ts';
import { resolveOnAsk, resolveTimeout } from '../start-run.ts';

/** `state resume` (06 §25): goes on with a run that rests; output and exit code are those of `run`. */
const resume: Handler = async (context) => {
  const { words, flags } = context.invocation;
  const client = await context.client();
  const onAsk = await resolveOnAsk(context, context.client);
  const started = await client.resumeRun({
    run_id: words[0] ?? '',
    accept_changed_chain: flags.bool('accept-changed-chain') === true,
    on_ask: onAsk,
    timeout_ms: await resolveTimeout(context, client),
  });
  const exit = await followRun(context, client, started, { onAsk });
  if (exit === 0) await sayWhatIsLeft(context, client, started.run_id);
  return exit;
};

/** What a run of a planner or explorer was for was to be made of its answer by the process that is gone (07 §4.4). */
async function sayWhatIsLeft(context: Context, client: RuntimeClient, run_id: string): Promise<void> {
  const { kind, plan } = await client.showRun({ run_id });
  if (kind === 'plan_new') context.hint('no plan was made of these steps; reins plan new --from <file> takes them');
  if (kind === 'plan_replan') context.hint(`the plan ${plan ?? ''} is as it was; reins plan replan plans it anew`);
  if (kind === 'plan_explore') context.hint('nothing was kept of this; reins plan explore looks again');
}

export const handlers = { resume };
