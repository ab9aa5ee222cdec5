import type { RuntimeClient } from '../../client/operations.ts';
import type { ChangedFile, RunChanges } from '../../schema/file-change.ts';
import { RuntimeError } from '../../schema/errors.ts';
import { plural } from '../../view/format.ts';
import { confirmed } from '../confirm.ts';
import type { Context, Handler } from '../context.ts';

/** Puts files back after a look at them; 1 where one had to stay as it is. */
const undo: Handler = async (context) => {
  const { flags, words } = context.invocation;
  const client = await context.client();
  const run_id = words[0] ?? (await newest(client));
  const changes = await client.showChanges({ run_id });
  const wanted = changes.files.filter(({ state }) => state === 'changed');
  if (flags.bool('dry-run') === true) return shown(context, changes);
  if (wanted.length === 0) {
    await shown(context, changes);
    return stays(changes).length === 0 ? 0 : 1;
  }
  if (flags.bool('yes') !== true) await ask(context, changes, wanted.length);
  const after = await client.undoChanges({ run_id: changes.run_id });
  if (context.globals.format !== 'text') await context.printJson(after);
  else for (const line of wanted.flatMap((file) => doneLine(file, after))) await context.print(context.safe(line));
  return left(context, after);
};

/** @throws RuntimeError not_found where there is none */
async function newest(client: RuntimeClient): Promise<string> {
  const { runs } = await client.listRuns({ status: null, session: null, limit: 1 });
  const [run] = runs;
  if (run === undefined) throw new RuntimeError('not_found', 'there are no runs yet');
  return run.id;
}

/** What would be done, as the answer. */
async function shown(context: Context, changes: RunChanges): Promise<0> {
  if (context.globals.format !== 'text') await context.printJson(changes);
  else if (changes.files.length === 0) context.hint('the file tools of this run have changed no file');
  else {
    await context.printTable(
      [{ title: 'FILE', flexible: true }, { title: 'CALLS', align: 'right' }, { title: 'UNDO' }],
      changes.files.map((file) => [context.safe(file.path), String(file.calls), undoText(file)]),
    );
  }
  commandHint(context, changes);
  return 0;
}

const undoText = ({ state, created }: ChangedFile): string => {
  switch (state) {
    case 'changed':
      return created ? 'is taken away' : 'is put back';
    case 'undone':
      return 'is as before';
    case 'changed_since':
      return 'stays: changed since';
    case 'not_kept':
      return 'stays: what it held is not kept';
  }
};

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

function left(context: Context, changes: RunChanges): number {
  const kept = stays(changes);
  for (const file of kept) context.warn(`${file.path} ${file.error ?? undoText({ ...file, state: whyLeft(file) })}`);
  commandHint(context, changes);
  return kept.length === 0 ? 0 : 1;
}

const stays = ({ files }: RunChanges): readonly ChangedFile[] => files.filter(({ state }) => state !== 'undone');

/** One that was as the run left it a moment ago, and is so still, was changed in between. */
const whyLeft = ({ state }: ChangedFile): ChangedFile['state'] => (state === 'changed' ? 'changed_since' : state);

function commandHint(context: Context, { commands, files }: RunChanges): void {
  if (commands > 0 && files.length > 0) {
    context.hint(`${plural(commands, 'command')} of this run ran: what these have changed is not undone`);
  }
}

export const handlers = { undo };
