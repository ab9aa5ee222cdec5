import type { RuntimeClient } from '../client/operations.ts';
import { waitedFor } from '../schema/ask.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { OnAsk, RunResult, RunStarted, StartRun } from '../schema/run.ts';
import type { Context } from './context.ts';
import { followRun } from './follow.ts';
import type { Output } from './output.ts';
import { failureJson, failureOf } from './report-error.ts';
import { buildStartRun, resolveOnAsk } from './start-run.ts';

/** What a run that sums up a session is started with: the flags of a run, with a chain of the program's own. */
export async function summaryRun(
  context: Context,
): Promise<{ readonly client: RuntimeClient; readonly request: StartRun; readonly onAsk: OnAsk }> {
  const onAsk = await resolveOnAsk(context, context.client);
  const client = await context.client();
  const request = await buildStartRun(context, client, null, { type: 'string', value: '' }, onAsk);
  return { client, request: { ...request, chain_path: null }, onAsk };
}

/**
 * Follows such a run: its progress and its questions stand on stderr, its text is the session's and not printed.
 * @param done prints the answer, once the run has completed
 * @returns the exit code of the run
 */
export function followSummary(
  context: Context,
  client: RuntimeClient,
  started: RunStarted,
  onAsk: OnAsk,
  done: () => Promise<void>,
): Promise<number> {
  return followRun(context, client, started, { onAsk, output: quiet(context, done) });
}

const nothing = async (): Promise<void> => {};

function quiet(context: Context, done: () => Promise<void>): Output {
  const json = context.globals.format !== 'text';
  return {
    full: false,
    started: nothing,
    event: nothing,
    finished: async (result) => {
      if (result.status === 'completed') await done();
      else if (json)
        await context.printJson({ ...failureJson(failureOf(whyNot(result))), exit_code: result.exit_code });
    },
    failed: async (failure) => {
      if (json) await context.printJson(failureJson(failure));
    },
  };
}

/** Why there is no summary. */
function whyNot({ error, status, run_id, asks }: RunResult): RuntimeError {
  if (error !== null) return new RuntimeError(error.class, error.message);
  switch (status) {
    case 'suspended':
      return new RuntimeError(
        'suspended',
        `${run_id} waits for ${waitedFor(asks.find(({ state }) => state === 'pending')?.kind ?? 'permission')}`,
      );
    case 'exhausted':
      return new RuntimeError('compute_exhausted', 'a compute bound was exhausted before the summary was made');
    case 'interrupted':
      return new RuntimeError('interrupted', `${run_id} stopped at its last checkpoint`);
    default:
      return new RuntimeError('cancelled', `${run_id} was cancelled`);
  }
}
