import type { RuntimeClient } from '../../client/operations.ts';
import type { ChangedFile, RunChanges } from '../../schema/file-change.ts';
import { RuntimeError } from '../../schema/errors.ts';
import { plural } from '../../view/format.ts';
import { commandsStay, mostLookedThrough, newestToUndo, noFiles, stayed, undoText } from '../../view/undo-text.ts';
import { confirmed } from '../confirm.ts';
import type { Context, Handler } from '../context.ts';
import { shownIds } from '../ids.ts';

/** Puts files back after a look at them; 1 where one had to stay as it is. */
const undo: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const client = await context.client();
  const run_id = words[0] ?? (await newest(context, client));
  const changes = await client.showChanges({ run_id });
  const wanted = changes.files.filter(({ state }) => state === 'changed');
  if (flags.bool('dry-run') === true) return shown(context, changes);
  if (wanted.length === 0) {
    await shown(context, changes);
    return stayed(changes).length === 0 && !changes.forgotten ? 0 : 1;
  }
  if (flags.bool('yes') !== true) await ask(context, changes, wanted.length);
  const after = await client.undoChanges({ run_id: changes.run_id });
  if (context.globals.format !== 'text') await context.printJson(after);
  else for (const line of wanted.flatMap((file) => doneLine(file, after))) await context.print(context.safe(line));
  return left(context, after);
};

/** @throws RuntimeError not_found where there is none */
async function newest(context: Context, client: RuntimeClient): Promise<string> {
  const { runs } = await client.listRuns({ status: null, session: null, limit: mostLookedThrough });
  const run = newestToUndo(runs);
  if (run === undefined) throw new RuntimeError('not_found', 'there are no runs yet');
  // Whoever names none sees which one it is.
  const [input = ''] = run.input.trim().split('\n');
  const shown = await shownIds(context, client, 'err', [run.id]);
  context.hint(context.safe(`the newest run, ${shown(run.id)}: ${input}`));
  return run.id;
}

/** What would be done, as the answer. */
async function shown(context: Context, changes: RunChanges): Promise<0> {
  if (context.globals.format !== 'text') await context.printJson(changes);
  else if (changes.files.length === 0) context.hint(noFiles(changes));
  else {
    await context.printTable(
      [{ title: 'FILE', flexible: true }, { title: 'CALLS', align: 'right' }, { title: 'UNDO' }],
      changes.files.map((file) => [context.safe(file.path), String(file.calls), undoText(file)]),
    );
  }
  commandHint(context, changes);
  return 0;
}

/** @throws RuntimeError usage where nobody can be asked, and where the answer is no */
async function ask(context: Context, changes: RunChanges, wanted: number): Promise<void> {
  if (!context.terminal.interactive()) {
    throw new RuntimeError('usage', 'undo changes files: without a terminal it needs --yes', {
      hints: [`reins state undo ${changes.run_id} --dry-run`, `reins state undo ${changes.run_id} --yes`],
    });
  }
  for (const file of changes.files) context.terminal.err(context.safe(`  ${file.path}  ${undoText(file)}\n`));
  if (!(await confirmed(context, `Undo ${plural(wanted, 'file')}? [y] yes, any other key no`))) {
    throw new RuntimeError('usage', 'nothing was undone');
  }
}

const doneLine = (file: ChangedFile, after: RunChanges): readonly string[] => {
  const now = after.files.find(({ path }) => path === file.path);
  return now?.state === 'undone' ? [`${file.created ? 'Took away' : 'Put back'} ${file.path}.`] : [];
};

/** @returns 1 where a file stays as it is */
function left(context: Context, changes: RunChanges): 0 | 1 {
  const lines = stayed(changes);
  for (const line of lines) context.warn(line);
  commandHint(context, changes);
  return lines.length === 0 ? 0 : 1;
}

function commandHint(context: Context, changes: RunChanges): void {
  const hint = commandsStay(changes);
  if (hint !== null) context.hint(hint);
}

export const handlers = { undo };
