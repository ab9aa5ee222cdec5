import { RuntimeError } from '../../schema/errors.ts';
import type { SessionFork } from '../../schema/session.ts';
import { plural } from '../../view/format.ts';
import type { Context, Handler } from '../context.ts';

/** `session fork` (06 §12, 07 §2.8). */
const fork: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const wanted = { name: flags.text('from'), new_name: words[0] ?? null, at: flags.number('at') };
  if (flags.bool('summary') === true) {
    const { followSummary, summaryRun } = await import('../summary-run.ts');
    const { client, request, onAsk } = await summaryRun(context);
    const keep = flags.number('keep') ?? 8;
    const started = await client.forkWithSummary({ ...request, ...wanted, keep });
    return followSummary(context, client, started, onAsk, async () => {
      const { session_id, from, summarised, moved_back } = started.fork;
      const { session } = await client.exportSession({ session: { id: session_id }, after: 0 });
      const made = { session, from, messages: session.message_count, moved_back };
      await tell(context, { ...made, summarised, run_id: started.run_id });
    });
  }
  if (flags.number('keep') !== null) throw new RuntimeError('usage', '--keep needs --summary');
  await tell(context, await (await context.client()).forkSession(wanted));
  return 0;
};

/** A copy, and of one that begins with a summary how many messages that replaces, and the run that made it. */
type Made = SessionFork & { readonly summarised?: number; readonly run_id?: string };

async function tell(context: Context, made: Made): Promise<void> {
  if (context.globals.format === 'text') {
    const count = plural(made.messages, 'message');
    await context.print(`Forked "${made.from}" to "${made.session.name}" (${count}). Now active.`);
  } else await context.printJson(made);
  if (made.moved_back === null) return;
  const { wanted, cut } = made.moved_back;
  context.hint(
    `copied up to message ${cut}: message ${wanted} lies among calls and their results, or is not whole yet`,
  );
}

export const handlers = { fork };
