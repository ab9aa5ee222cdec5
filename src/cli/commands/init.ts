import type { RuntimeClient } from '../../client/operations.ts';
import type { Handler } from '../context.ts';

const words = { created: 'Created', kept: 'Kept', replaced: 'Replaced' } as const;

/** How long a person waits without a word. */
const silentMs = 1000;

/** `init` (06 §14): one line per file, then the done line; what to do next goes to stderr. */
const init: Handler = async (context) => {
  const { words: given, flags } = context.invocation;
  const client = await context.client();
  const force = flags.bool('force') ?? false;
  // A backend that is registered already is asked what it serves, and may not answer.
  const late = setTimeout(() => context.hint('Asking the backends that are registered…'), silentMs);
  const made = await client.initialise({ provider: given[0] ?? null, force }).finally(() => clearTimeout(late));
  if (context.globals.format !== 'text') {
    await context.printJson({ dataDir: made.dataDir, files: made.files, settings: made.settings });
  } else {
    for (const file of made.files) {
      await context.print(
        `${words[file.action]} ${file.path}${file.action === 'kept' ? keptWhy(file.path, force) : ''}`,
      );
    }
    for (const setting of made.settings) await context.print(`Set ${setting.key} = ${setting.value}`);
    const kept = made.files.filter((file) => file.action === 'kept').length;
    await context.print(`Done: ${made.files.length - kept} created, ${kept} kept.`);
  }
  for (const note of made.notes) if (!note.startsWith('reins ')) context.hint(note);
  context.hint(`Next: ${next(given[0] ?? null, made)}`);
  return 0;
};

/** A database is never replaced, so nothing says that `--force` would. */
const keptWhy = (path: string, force: boolean): string =>
  !force && /(\.json|\.gitignore)$/.test(path) ? ' (exists; --force overwrites)' : ' (exists)';

function next(
  provider: string | null,
  { files, notes }: Pick<Awaited<ReturnType<RuntimeClient['initialise']>>, 'files' | 'notes'>,
): string {
  // Of a project that was there already it is not known what is missing, if anything is.
  if (provider === null && files.every(({ action }) => action === 'kept')) return 'reins doctor';
  if (provider === null) return 'reins backend add local --type ollama   or   reins init scripted (offline demo)';
  // A note that is a command says what is still missing for this provider.
  return notes.find((note) => note.startsWith('reins ')) ?? 'reins doctor';
}

export const handlers = { '': init };
