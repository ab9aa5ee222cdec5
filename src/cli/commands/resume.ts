import type { Handler } from '../context.ts';
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
  return followRun(context, client, started, { onAsk });
};

export const handlers = { resume };
