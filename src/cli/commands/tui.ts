import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { RuntimeError } from '../../schema/errors.ts';
import type { Context, Handler } from '../context.ts';
import { editText } from '../editor.ts';
import { buildStartRun, checkRunFlags } from '../start-run.ts';
import { inCi } from '../terminal.ts';
import { refuseUntrusted } from '../trust-prompt.ts';

const usage = (message: string, hints: readonly string[] = []) => new RuntimeError('usage', message, { hints });

/** Flags of one-shot output: they have no meaning on a screen (10 §1.2). */
const refused = ['json', 'output-format', 'raw', 'steps', 'input', 'on-ask'];

/** `tui`, bare `reins` and `chat` without text (10 §1.1). */
export const openTui: Handler = async (context: Context) => {
  const { invocation, globals, process, terminal } = context;
  for (const name of refused) {
    if (invocation.flags.has(name))
      throw usage(`--${name} belongs to one-shot output, not to the full-screen terminal`);
  }
  checkRunFlags(context);
  checkTerminal(context);
  const { startTui } = await import('../../../ui/start.tsx');
  const { builtinTheme } = await import('../../../ui/theme.ts');
  const { environment } = process;
  const theme = builtinTheme(themeName(context), depthOf(context), glyphsOf(context));
  if (theme === null) throw usage(`no theme "${themeName(context)}"`);
  const home = environment['REINS_HOME'] ?? join(environment['HOME'] ?? homedir(), '.reins');
  const keysFile = join(home, 'keys.json');
  const client = async () => (await context.open((options) => ({ ...options, surface: 'tui', terminal: true }))).client;
  let opened: ReturnType<typeof client> | undefined;
  return startTui({
    input: process.stdin(),
    output: process.stdout,
    errors: process.stderr,
    client: () => {
      opened ??= client();
      return opened;
    },
    request: async (made) => {
      // The text is put in by the one who sends it.
      const empty = { type: 'string', value: '' } as const;
      const { input: _input, ...request } = await buildStartRun(context, made, 'chat', empty, 'ask', refuseUntrusted);
      return { ...request, timeout_ms: globals.timeoutMs ?? 0 };
    },
    session: invocation.flags.text('session') ?? emptyAsNull(environment['REINS_SESSION']),
    theme,
    keys: existsSync(keysFile) ? readFileSync(keysFile, 'utf8') : null,
    cwd: shortDirectory(process.cwd, environment['HOME']),
    shell: globals.shell,
    thinkOpen: globals.think.show,
    edit: (name, text) => editText({ EDITOR: 'vi', ...environment }, name, text),
    home,
    mostHistory,
    root: process.cwd,
    wheel: false,
    inTmux: (environment['TMUX'] ?? '') !== '',
    clipboard: 'osc52',
    now: () => process.now(),
    trace: () => undefined,
    exit: (code) => process.exit(code),
    say: (line) => terminal.err(`reins: ${context.safe(line)}\n`),
  });
};

/** Entries of the composer's history that are kept. */
const mostHistory = 1000;

const emptyAsNull = (text: string | undefined): string | null => (text === undefined || text === '' ? null : text);

/** @throws RuntimeError usage, when there is no terminal to take */
function checkTerminal({ terminal, process }: Context): void {
  if (terminal.stdinKind() !== 'terminal' || !terminal.stdoutIsTerminal)
    throw usage('the terminal UI needs a terminal on stdin and stdout');
  if (inCi(process.environment)) throw usage('the terminal UI does not open where CI is set; unset CI to open it');
}

const themeName = ({ invocation, process }: Context): string =>
  invocation.flags.text('theme') ?? emptyAsNull(process.environment['REINS_THEME']) ?? 'default';

function depthOf({ invocation, process: { environment } }: Context): 'none' | 'plain' | 'rich' {
  if ((environment['NO_COLOR'] ?? '') !== '' || invocation.flags.bool('color') === false) return 'none';
  if (environment['FORCE_COLOR'] === '0') return 'none';
  return /256|truecolor|24bit/.test(`${environment['TERM'] ?? ''} ${environment['COLORTERM'] ?? ''}`)
    ? 'rich'
    : 'plain';
}

/** Signs of Unicode only where the locale has them. */
function glyphsOf({ invocation, process: { environment } }: Context): 'unicode' | 'ascii' {
  const wanted = invocation.flags.text('glyphs') ?? 'auto';
  if (wanted === 'unicode' || wanted === 'ascii') return wanted;
  const locale = environment['LC_ALL'] || environment['LC_CTYPE'] || environment['LANG'] || '';
  return /utf-?8/i.test(locale) ? 'unicode' : 'ascii';
}

const shortDirectory = (cwd: string, home: string | undefined): string =>
  home !== undefined && (cwd === home || cwd.startsWith(`${home}/`)) ? `~${cwd.slice(home.length)}` : cwd;

export const handlers = { '': openTui };
