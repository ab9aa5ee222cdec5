import { plural, runSpan } from '../../view/format.ts';
import { runTitle } from '../../view/run-title.ts';
import { stuckText } from '../../view/stuck-text.ts';
import type { Handler } from '../context.ts';
import { shownIds } from '../ids.ts';
import { when } from '../times.ts';
import { callSummary } from '../../view/call-summary.ts';

const list: Handler = async (context) => {
  const { flags } = context.invocation;
  const client = await context.client();
  const status = flags.text('status');
  const { runs, total } = await client.listRuns({ status, session: null, limit: flags.number('limit') ?? 20 });
  if (context.globals.format !== 'text') {
    await context.printJson(runs);
    return 0;
  }
  if (runs.length === 0) {
    context.hint(status === null ? 'no runs yet' : `no runs are ${status}`);
    return 0;
  }
  const ids = runs.map(({ id }) => id);
  const shown = await shownIds(context, client, 'out', ids);
  await context.printTable(
    [
      { title: 'RUN' },
      { title: 'STATUS' },
      { title: 'CHAIN' },
      { title: 'STARTED' },
      { title: 'DURATION', align: 'right' },
      { title: 'TURNS', align: 'right' },
      { title: 'TOOLS', align: 'right' },
      { title: 'INPUT', flexible: true },
    ],
    runs.map((run) => [
      shown(run.id),
      run.status,
      run.chain.id,
      when(context, run.started_at ?? run.created_at),
      runSpan(run),
      String(run.num_turns),
      String(run.num_tool_calls),
      runTitle(run),
    ]),
  );
  for (const run of runs) {
    const stuck = stuckText(run);
    if (stuck !== null) context.hint(`${shown(run.id)} ${stuck}`);
  }
  if (total > runs.length) context.hint(`${total - runs.length} more; --limit shows them`);
  return 0;
};

/** Waits until the run has ended: of a live one of another process that takes at most some seconds. */
const cancel: Handler = async (context) => {
  const client = await context.client();
  const { id } = await client.showRun({ run_id: context.invocation.words[0] ?? '' });
  const { terminal } = context;
  terminal.status('waiting for the run to end');
  try {
    await client.cancelRun({ run_id: id, reason: 'state cancel', wait: true });
  } finally {
    terminal.status(null);
  }
  if (context.globals.format !== 'text') {
    await context.printJson(await client.showRun({ run_id: id }));
    return 0;
  }
  const shown = await shownIds(context, client, 'out', [id]);
  await context.print(`Cancelled ${shown(id)}.`);
  // Nobody is asked any more what became of these.
  for (const call of (await client.showRun({ run_id: id })).calls) {
    if (call.state !== 'unknown') continue;
    context.warn(
      `${call.tools}.${call.tool} ${callSummary(call.args)} had started: it may have run, in part or not at all`,
    );
  }
  return 0;
};

const remove: Handler = async (context) => {
  const client = await context.client();
  const { id } = await client.showRun({ run_id: context.invocation.words[0] ?? '' });
  // Asked before: an id that is gone has no short form.
  const shown = await shownIds(context, client, 'out', [id]);
  const deleted = await client.deleteRun({ run_id: id });
  if (context.globals.format !== 'text') await context.printJson(deleted);
  else await context.print(`Deleted ${shown(id)}.`);
  return 0;
};

const prune: Handler = async (context) => {
  const before = context.invocation.flags.number('older-than');
  const pruned = await (await context.client()).pruneRuns({ before });
  if (context.globals.format !== 'text') {
    await context.printJson(pruned);
    return 0;
  }
  const cleared = pruned.cleared === 0 ? '' : ` Removed the steps of ${pruned.cleared} more.`;
  await context.print(`Removed ${plural(pruned.removed, 'run')}.${cleared}`);
  return 0;
};

export const handlers = { list, cancel, delete: remove, prune };
