import { plural } from '../../view/format.ts';
import type { Handler } from '../context.ts';
import { followSummary, summaryRun } from '../summary-run.ts';

/** `session compact` (06 §12, 07 §2.9). */
const compact: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const { client, request, onAsk } = await summaryRun(context);
  const keep = flags.number('keep') ?? 8;
  const started = await client.compactSession({ ...request, name: words[0] ?? null, keep });
  return followSummary(context, client, started, onAsk, async () => {
    const { session, messages, covers_to } = started.compacted;
    if (context.globals.format === 'text') {
      await context.print(`Compacted ${plural(messages, 'message')} of "${session}" into a summary.`);
    } else await context.printJson({ session, messages, covers_to, run_id: started.run_id });
  });
};

export const handlers = { compact };
