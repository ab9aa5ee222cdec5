import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { userDirectories } from '../../app-options.ts';
import type { RuntimeClient } from '../../client/operations.ts';
import { toWire, usage } from '../../schema/errors.ts';
import type { TuiOptions } from '../../../ui/options.ts';
import type { App, Context, Handler } from '../context.ts';
import { editText } from '../editor.ts';
import { gitExcludes } from '../git-excludes.ts';
import { readOwnFile } from '../own-file.ts';
import { buildStartRun, planOptions, readImages } from '../start-run.ts';
import { inCi } from '../terminal.ts';
import { themesOf } from '../themes.ts';
import { toTmux } from '../tmux-buffer.ts';
import { tracedClient } from '../traced-client.ts';
import { writeWhole } from '../write-file.ts';
import { refuseUntrusted, untrustedContent } from '../trust-prompt.ts';

/** Flags of one-shot output: they have no meaning on a screen (10 §1.2). */
const refused = ['json', 'output-format', 'raw', 'steps', 'input', 'on-ask'];

/** `tui`, bare `reins` and `chat` without text (10 §1.1). */
export const openTui: Handler = async (context: Context) => {
  const { invocation, globals, process, terminal } = context;
  for (const name of refused) {
    if (invocation.flags.has(name))
      throw usage(`--${name} belongs to one-shot output, not to the full-screen terminal`);
  }
  checkTerminal(context);
  const { startTui } = await import('../../../ui/start.tsx');
  const { environment } = process;
  const { home: userHome, reinsHome: home } = userDirectories(process);
  const themed = await themesOf(context);
  const wanted = themeName(context);
  themed.named(wanted ?? 'default', null);
  let glyphs: string | null = null;
  const keysFile = join(home, 'keys.json');
  let opened: Promise<App> | undefined;
  const app = (): Promise<App> => {
    opened ??= context.open((given) => ({ ...given, surface: 'tui', terminal: true }));
    return opened;
  };
  const trace = tracer(context);
  let client: Promise<RuntimeClient> | undefined;
  const editing = { ...environment, EDITOR: emptyAsNull(environment['EDITOR']) ?? 'vi' };
  const mode = modeOf(context);
  const once = new Set<string>();
  const consent: typeof refuseUntrusted = (given, made, uses) => refuseUntrusted(given, made, uses, [...once]);
  const options: TuiOptions = {
    input: process.stdin(),
    output: terminal.stream('out'),
    errors: terminal.stream('err'),
    client: () => {
      client ??= app().then((made) => (trace === null ? made.client : tracedClient(made.client, trace)));
      return client;
    },
    request: async (made) => {
      // The text is put in by the one who sends it.
      const empty = { type: 'string', value: '' } as const;
      const { input: _input, ...request } = await buildStartRun(context, made, 'chat', empty, 'ask', consent);
      return { ...request, timeout_ms: globals.timeoutMs ?? 0 };
    },
    untrusted: (made, all) =>
      untrustedContent(
        context,
        made,
        all ? ['chat', 'planner', 'explorer', 'executor', 'summarizer'] : ['chat'],
        [...once],
        all,
      ),
    trustOnce: (sha256) => void once.add(sha256),
    planOptions: async (made, uses) => ({
      ...(await planOptions(context, made, uses, 'ask', consent)),
      timeout_ms: globals.timeoutMs ?? 0,
    }),
    session: invocation.flags.text('session') ?? emptyAsNull(environment['REINS_SESSION']),
    theme: (configured) => {
      glyphs = configured.glyphs;
      return themed.named(wanted ?? configured.theme ?? 'default', glyphs);
    },
    themeNamed: (name) => themed.named(name, glyphs),
    themeNames: themed.names,
    policy: globals.policy?.value ?? null,
    model: globals.model?.value ?? null,
    keys: () => readOwnFile(keysFile),
    cwd: shortDirectory(process.cwd, environment['HOME']),
    shell: globals.shell,
    thinkOpen: globals.think.show,
    edit: (name, text) => editText({ environment: editing, onSignal: process.onSignal }, name, text),
    home,
    mostHistory,
    root: async () => (await app()).workspace,
    async checkImage(path) {
      readImages([path], process.cwd);
    },
    gitExcludes: (root) => gitExcludes(environment, userHome, root),
    // There is no flag here that could be wrong.
    writeFile: async (path, force, pieces) => {
      try {
        await writeWhole(path, force, pieces);
      } catch (error) {
        const { code, message } = toWire(error);
        throw code === 'usage' ? usage(message.replace(/^--out: /, '')) : error;
      }
    },
    inTmux: (environment['TMUX'] ?? '') !== '',
    toTmux: (text) => toTmux(environment, text),
    now: () => process.now(),
    terminalProgram: environment['TERM_PROGRAM'] ?? '',
    trace: trace ?? (() => undefined),
    exit: (code) => process.leave(code),
    say: (line) => terminal.err(`${line}\n`),
    modeIsOpen: mode.from === 'default',
    editsLines: environment['TERM'] !== 'dumb',
  };
  const startPlain = async (reader: ReaderSource): Promise<number> =>
    (await import('../../../ui/plain/start-plain.ts')).startPlain({ ...options, reader });
  if (mode.is === 'plain') return startPlain(null);
  if (mode.is === 'screen-reader') return startPlain(mode.from === 'default' ? 'config' : mode.from);
  const left = await startTui(options);
  return typeof left === 'number' ? left : startPlain(left === 'plain' ? null : 'config');
};

/** Entries of the composer's history that are kept. */
const mostHistory = 1000;

/** Takes lines that would have gone to stderr; null where nobody wants them (10 §1.2). @throws RuntimeError usage */
function tracer({ invocation, globals }: Context): ((text: string) => void) | null {
  const path = invocation.flags.text('trace-file');
  if (path === null) {
    if (globals.trace) throw usage('--trace needs --trace-file <path>: stderr belongs to the screen');
    return null;
  }
  return (text) => appendFileSync(path, text, { mode: 0o600 });
}

type ReaderSource = 'flag' | 'environment' | 'config' | null;
type Mode = { readonly is: 'full' | 'plain' | 'screen-reader'; readonly from: 'flag' | 'environment' | 'default' };

/** How it is drawn: flag > environment > what the terminal can do (10 §1.2). */
function modeOf({ invocation: { flags }, process: { environment }, terminal }: Context): Mode {
  const given =
    flags.bool('plain') === true
      ? 'plain'
      : flags.bool('screen-reader') === true
        ? 'screen-reader'
        : flags.text('tui-mode');
  const variable = emptyAsNull(environment['REINS_TUI']);
  if (variable !== null && !['auto', 'full', 'plain', 'screen-reader'].includes(variable))
    throw usage(`REINS_TUI: "${variable}" is not one of auto, full, plain, screen-reader`);
  const from = given !== null ? 'flag' : variable !== null ? 'environment' : 'default';
  const wanted = given ?? variable ?? 'auto';
  if (wanted === 'plain' || wanted === 'screen-reader') return { is: wanted, from };
  const dumb = ['', 'dumb'].includes(environment['TERM'] ?? '');
  if (dumb && wanted === 'full') terminal.err('reins: TERM is dumb: plain mode\n');
  return { is: dumb ? 'plain' : 'full', from };
}

const emptyAsNull = (text: string | undefined): string | null => (text === undefined || text === '' ? null : text);

/** @throws RuntimeError usage, when there is no terminal to take */
function checkTerminal({ terminal, process }: Context): void {
  if (terminal.stdinKind() !== 'terminal' || !terminal.stdoutIsTerminal)
    throw usage('the terminal UI needs a terminal on stdin and stdout');
  if (inCi(process.environment)) throw usage('the terminal UI does not open where CI is set; unset CI to open it');
}

const themeName = ({ invocation, process }: Context): string | null =>
  invocation.flags.text('theme') ?? emptyAsNull(process.environment['REINS_THEME']);

const shortDirectory = (cwd: string, home: string | undefined): string =>
  home !== undefined && (cwd === home || cwd.startsWith(`${home}/`)) ? `~${cwd.slice(home.length)}` : cwd;

export const handlers = { '': openTui };
