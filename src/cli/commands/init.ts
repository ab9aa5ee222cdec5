import type { Handler } from '../context.ts';

const words = { created: 'Created', kept: 'Kept', replaced: 'Replaced' } as const;

/** `init` (06 §14): one line per file, then the done line; what to do next goes to stderr. */
const init: Handler = async (context) => {
  const { words: given, flags } = context.invocation;
  const client = await context.client();
  const made = await client.initialise({ provider: given[0] ?? null, force: flags.bool('force') ?? false });
  if (context.globals.format !== 'text') {
    await context.printJson({ dataDir: made.dataDir, files: made.files, settings: made.settings });
  } else {
    for (const file of made.files) {
      const tail = file.action === 'kept' ? ' (exists; --force overwrites)' : '';
      await context.print(`${words[file.action]} ${file.path}${tail}`);
    }
    for (const setting of made.settings) await context.print(`Set ${setting.key} = ${setting.value}`);
    const kept = made.files.filter((file) => file.action === 'kept').length;
    await context.print(`Done: ${made.files.length - kept} created, ${kept} kept.`);
  }
  for (const note of made.notes) if (!note.startsWith('reins ')) context.hint(note);
  context.hint(`Next: ${next(given[0] ?? null, made.notes)}`);
  return 0;
};

function next(provider: string | null, notes: readonly string[]): string {
  if (provider === null) return 'reins backend add local --type ollama   or   reins init scripted (offline demo)';
  // A note that is a command says what is still missing for this provider.
  return notes.find((note) => note.startsWith('reins ')) ?? 'reins doctor';
}

export const handlers = { '': init };
