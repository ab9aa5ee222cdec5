import { createApp, refusal, type Threads } from '../app.ts';
import type { AppHandle, AppOptions } from '../app-options.ts';
import type { RouteClient } from '../client/routes.ts';
import type { RuntimeClient } from '../client/operations.ts';
import { escapeText } from '../view/escape.ts';
import { type Column, renderTable } from './columns.ts';
import { appOptions, type Globals } from './globals.ts';
import type { Invocation } from './parse.ts';
import { placeCommands } from './placed-command.ts';
import type { Process } from './process.ts';
import { oneLine } from './report-error.ts';
import type { Terminal } from './terminal.ts';

export type App = AppHandle<RuntimeClient, RouteClient>;

/** What a command gets. */
export type Context = {
  readonly invocation: Invocation;
  readonly globals: Globals;
  readonly process: Process;
  readonly terminal: Terminal;
  /** Opens the app once; its warnings go to stderr. The entry point closes it. */
  client(): Promise<RuntimeClient>;
  /** Opens a further app with other options; it is closed with the first. */
  open(change: (options: AppOptions) => AppOptions): Promise<App>;
  /**
   * Refuses a command that carries the marker of a tool run (11 §6.2) and is not for tools. One without the marker is
   * refused when its database is opened. @throws RuntimeError inside_tool
   */
  checkOutside(): Promise<void>;
  /** A line on stdout; foreign text in it is made visible on a terminal (06 §2.1.5). */
  print(line: string): Promise<void>;
  /** JSON on stdout: indented on a terminal, one line elsewhere (06 §2.4.5). */
  printJson(value: unknown): Promise<void>;
  /** A table on stdout, cut to the width of a terminal; cells are made visible there. */
  printTable(heads: readonly Column[], rows: readonly (readonly string[])[]): Promise<void>;
  /** `reins: warning: …` on stderr. */
  warn(message: string): void;
  /** A line on stderr that `--quiet` silences. */
  hint(line: string): void;
  /** Foreign text for stderr. */
  safe(text: string): string;
  /** An advised command as it reaches the place of this invocation (`placed-command.ts`). */
  placed(command: string): string;
};

/** One exit code per command; thrown errors become codes in `start.ts`. */
export type Handler = (context: Context) => Promise<number>;

/** A module of `commands/`: one handler per subcommand, `''` for none. */
export type CommandModule = { readonly handlers: Readonly<Record<string, Handler>> };

/** What `commands/` share, over the parts that `start.ts` made. `opened` collects what must be closed. */
export function createContext(
  parts: Pick<Context, 'invocation' | 'globals' | 'process' | 'terminal'> & { readonly threads?: Threads | undefined },
  opened: App[],
): Context {
  const { process, terminal, globals } = parts;
  // What goes to stderr is for eyes, in a file as well; only stdout has readers that need the very bytes (06 §2.1.5).
  const safe = (text: string) => escapeText(text, { mode: 'prose' });
  const warn = (message: string) => terminal.err(`reins: warning: ${safe(oneLine(message))}\n`);
  const { name, command } = parts.invocation;
  const notInside = command?.insideTool === 'refused' ? name : undefined;
  const options = (): AppOptions =>
    appOptions(globals, {
      root: process.root,
      environment: process.environment,
      cwd: process.cwd,
      terminal: terminal.interactive(),
      version: process.version,
      warn,
      notInside,
      failPoint: process.failPoint,
    });
  const open = async (change: (options: AppOptions) => AppOptions): Promise<App> => {
    const app: App = await createApp(change(options()), opened.length === 0 ? parts.threads : undefined);
    opened.push(app);
    for (const warning of app.warnings) warn(warning);
    return app;
  };
  let first: Promise<App> | undefined;
  return {
    ...parts,
    client: async () => {
      first ??= open((given) => given);
      return (await first).client;
    },
    open,
    async checkOutside() {
      if (notInside !== undefined && (process.environment['REINS_RUN_ID'] ?? '') !== '') {
        throw await refusal(options(), notInside);
      }
    },
    print: (line) => terminal.out(`${terminal.stdoutIsTerminal ? safe(line) : line}\n`),
    printJson: jsonPrinter(terminal),
    printTable: async (heads, rows) => {
      const { stdoutIsTerminal } = terminal;
      const cells = rows.map((row) =>
        row.map((cell) => (stdoutIsTerminal ? escapeText(cell, { mode: 'line' }) : oneLine(cell))),
      );
      await terminal.out(await renderTable(heads, cells, stdoutIsTerminal ? terminal.columns : null));
    },
    warn,
    hint: (line) => {
      if (!terminal.quiet) terminal.err(`${safe(line)}\n`);
    },
    safe,
    placed: placeCommands(parts.invocation.flags),
  };
}

/** JSON on stdout as every command prints it, also where no command was found (06 §2.4.5). */
export const jsonPrinter =
  (terminal: Terminal) =>
  (value: unknown): Promise<void> =>
    terminal.out(
      terminal.stdoutIsTerminal
        ? `${escapeText(JSON.stringify(value, null, 2), { mode: 'prose' })}\n`
        : `${JSON.stringify(value)}\n`,
    );
