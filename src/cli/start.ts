import { resolve } from 'node:path';
import { prefetch, startThreads, type Threads } from '../app.ts';
import { usage } from '../schema/errors.ts';
import { checkWords } from './check-words.ts';
import type { Command } from './command.ts';
import { type App, type CommandModule, type Context, createContext, jsonPrinter } from './context.ts';
import { type FailureForm, formOf, guessForm } from './failure-form.ts';
import { readGlobals } from './globals.ts';
import { withShownIds } from './ids.ts';
import { modules } from './load.ts';
import { parse } from './parse.ts';
import { withPlaces } from './placed-command.ts';
import type { Process } from './process.ts';
import { type Failure, failureJson, failureOf, printFailure } from './report-error.ts';
import { type Scan, scan } from './scan.ts';
import { findCommand } from './table.ts';
import { createTerminal, inCi, type Terminal } from './terminal.ts';
import { withUsageHint } from './usage-hint.ts';
import type { ValueSite } from './values.ts';
import { withVariableHint } from './variable-hint.ts';

/** Commands that open the database at once: it is read while the command line is. */
const listing: ReadonlySet<string> = new Set([
  'session',
  'config',
  'approvals',
  'approvals-watch',
  'state',
  'state-show',
]);

/** How long handles that outlive a command may keep the process once everything is written. */
const lingerMs = 1000;

/** Runs one command line to its exit code. Never throws. */
export async function start(process: Process): Promise<void> {
  const opened: App[] = [];
  let terminal: Terminal | null = null;
  let code: number;
  try {
    if (process.argv[0] === '__complete') code = await completeLine(process, opened);
    else {
      const scanned = chooseCommand(process);
      terminal = createTerminal(process, { colour: given(scanned, 'color') !== 'false', quiet: has(scanned, 'quiet') });
      code = await dispatch(process, terminal, scanned, opened);
    }
  } catch (error) {
    // The scanner failed: there is no invocation yet.
    terminal ??= createTerminal(process, { colour: true, quiet: false });
    code = await report(error, process, terminal, guessForm(process.argv, process.environment), null);
  }
  let isHeld = false;
  for (const app of opened.reverse()) {
    try {
      isHeld = !(await app.close()) || isHeld;
    } catch (error) {
      terminal ??= createTerminal(process, { colour: true, quiet: false });
      printFailure(failureOf(error), terminal, process.argv.includes('--trace'));
      code = code === 0 ? 1 : code;
    }
  }
  await terminal?.flush();
  process.setExitCode(code);
  if (isHeld) return process.leave(code);
  setTimeout(() => process.exit(code), lingerMs).unref();
}

const given = (scanned: Scan, name: string): string | null =>
  scanned.flags.find((entry) => entry.flag.name === name)?.text ?? null;
const has = (scanned: Scan, name: string): boolean => given(scanned, name) === 'true';

/** The scan, with the command that stands for "no words" (06 §1.3). */
function chooseCommand(process: Process): Scan {
  const scanned = scan(process.argv);
  if (scanned.path.length > 0 || has(scanned, 'help') || has(scanned, 'version')) return scanned;
  const terminal = createTerminal(process, { colour: false, quiet: true });
  const stdin = terminal.stdinKind();
  // `--input` names the input, whatever stdin is.
  const word = stdin === 'piped' || given(scanned, 'input') !== null ? 'run' : null;
  const screen = stdin === 'terminal' && terminal.stdoutIsTerminal && !inCi(process.environment);
  const command = findCommand(word ?? (screen ? 'tui' : ''));
  return command === undefined ? scanned : { ...scanned, path: [command] };
}

async function dispatch(process: Process, terminal: Terminal, scanned: Scan, opened: App[]): Promise<number> {
  const runs = scanned.path[0]?.name === 'run' || scanned.path[0]?.name === 'chat';
  let context: Context | null = null;
  let threads: Threads | undefined;
  try {
    const { format } = formOf(scanned, process.environment);
    if (has(scanned, 'version')) {
      if (format === 'text') await terminal.out(`reins ${process.version}\n`);
      else await jsonPrinter(terminal)(await (await import('./commands/version.ts')).versionJson(process));
      return 0;
    }
    const command = scanned.path.at(-1);
    const site: ValueSite = { now: process.now(), absolute: (path) => resolve(process.cwd, path) };
    if (has(scanned, 'help') && format !== 'text') {
      await jsonPrinter(terminal)((await import('./help-json.ts')).commandJson(scanned.path));
      return 0;
    }
    if (has(scanned, 'help')) return await help(process, terminal, scanned.path, command);
    if (command === undefined) {
      // A flag that took the text for its value is told before the help that would hide it.
      const globals = readGlobals((await parse(scanned, process.importMeta, site)).flags, process.environment, site);
      if (globals.format !== 'text') throw usage('no command and no input', ['reins --help']);
      return await help(process, terminal, scanned.path, command);
    }
    checkWords(scanned.path, scanned.words);
    const { meant } = scanned;
    const asked = meant !== null && terminal.interactive();
    if (asked) {
      const answer = await (await import('./ask-meant.ts')).askMeant(process, terminal, meant);
      if (answer === 'quit') return 2;
      if (answer === 'command')
        return await dispatch({ ...process, argv: meant.argv }, terminal, scan(meant.argv), opened);
    }
    // A thread takes longer to start than everything else here: it starts while the command line is read.
    if (runs) threads = await startThreads(process.root);
    else if (listing.has(command.module ?? '')) prefetch();
    const invocation = await parse(scanned, process.importMeta, site);
    const globals = readGlobals(invocation.flags, process.environment, site);
    const made = createContext({ invocation, globals, process, terminal, threads }, opened);
    await made.checkOutside();
    if (command.module === undefined) throw new TypeError(`no module for "${invocation.name}"`);
    context = made;
    if (meant !== null && !asked) {
      context.warn(`"${meant.given}" is not a command (did you mean "${meant.command}"?); it is sent as a prompt`);
    }
    const module: CommandModule = await modules[command.module]();
    const handler = module.handlers[scanned.path[1]?.name ?? ''];
    if (handler === undefined) throw new TypeError(`no handler for "${invocation.name}"`);
    return await handler(context);
  } catch (error) {
    return await report(error, process, terminal, formOf(scanned, process.environment), context);
  } finally {
    // An app that was opened closes them itself.
    if (opened.length === 0) await threads?.close();
  }
}

/** What failed before or beside a run: on stderr, and in a JSON format on stdout too (06 §8.4, §8.5). */
async function report(
  error: unknown,
  process: Process,
  terminal: Terminal,
  form: FailureForm,
  context: Context | null,
): Promise<number> {
  const told = withVariableHint(withUsageHint(failureOf(error), form.path), form.path, process);
  const failure = context === null ? told : withPlaces(told, context.placed);
  try {
    if (form.format !== 'text') await printObject(failure, process, terminal, form);
  } catch {
    // The first failure is the one to tell, often the very one of stdout.
  }
  const shown = context === null ? failure : await withShownIds(context, failure);
  printFailure(shown, terminal, form.trace);
  return failure.exit;
}

/** The failure as the object of a JSON format. @throws RuntimeError storage when stdout cannot be written */
async function printObject(failure: Failure, process: Process, terminal: Terminal, form: FailureForm): Promise<void> {
  const printJson = jsonPrinter(terminal);
  if (!form.ofRun) return printJson(failureJson(failure));
  const { createOutput } = await import('./output.ts');
  const globals = { format: form.format, raw: false };
  return createOutput({ process, terminal, printJson, globals }).failed(failure);
}

/** Help to stdout when it was asked for, else to stderr (06 §2.1). */
async function help(
  process: Process,
  terminal: Terminal,
  path: readonly Command[],
  command: Command | undefined,
): Promise<number> {
  const asked = command !== undefined || process.argv.some((token) => token === '-h' || token === '--help');
  const text = command === undefined ? process.rootHelp : (await import('./help.ts')).renderCommandHelp(path);
  if (asked) {
    await terminal.out(text);
    return 0;
  }
  terminal.err(text);
  return 2;
}

/** `reins __complete <words…>`: one candidate per line; never fails (06 §28). */
async function completeLine(process: Process, opened: App[]): Promise<number> {
  const { complete } = await import('./complete.ts');
  const terminal = createTerminal(process, { colour: false, quiet: true });
  const lookup = async () => {
    try {
      const site: ValueSite = { now: process.now(), absolute: (path) => resolve(process.cwd, path) };
      const invocation = await parse(scan(['session', 'list']), process.importMeta, site);
      const globals = readGlobals(invocation.flags, process.environment, site);
      return await createContext({ invocation, globals, process, terminal }, opened).client();
    } catch {
      return null;
    }
  };
  const found = await complete(process.argv.slice(1), lookup, process.cwd);
  if (found.length > 0) await terminal.out(`${found.join('\n')}\n`);
  return 0;
}
