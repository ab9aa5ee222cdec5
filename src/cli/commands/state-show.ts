import { type RunShown, runLines, stepLines } from '../../view/run-lines.ts';
import type { Handler } from '../context.ts';
import { shownIds } from '../ids.ts';
import { when } from '../times.ts';

const show: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const client = await context.client();
  const run_id = words[0] ?? '';
  const index = flags.number('step');
  const json = context.globals.format !== 'text';
  const shownAt = (at: string): string => when(context, at);
  if (index !== null) {
    const step = await client.showRunStep({ run_id, index });
    if (json) await context.printJson(step);
    else await context.print(stepLines(step, { id: (id) => id, when: shownAt }).join('\n'));
    return 0;
  }
  const run = await client.showRun({ run_id, full: json });
  if (json) {
    await context.printJson(run);
    return 0;
  }
  const shown: RunShown = { id: await shownIds(context, client, 'out', [run.id, ...run.asks]), when: shownAt };
  await context.print(runLines(run, shown).join('\n'));
  return 0;
};

export const handlers = { show };
