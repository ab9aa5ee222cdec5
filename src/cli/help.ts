import type { Argument, Command, Flag } from './command.ts';
import { commands } from './table.ts';
import { flagText } from './values.ts';

const width = 80;

/** One row of a two-column list: a term and its text, which is wrapped beside or below it. */
export type HelpRow = readonly [term: string, text: string];

/** Words of `text` in lines of at most `columns` characters; a longer word stands alone. */
export function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines;
}

/** The widest term that has its text beside it. */
const widestTerm = 26;

/** Terms at the left, texts in one column; a term that is too long has its text below it. */
export function renderRows(rows: readonly HelpRow[]): readonly string[] {
  const column = Math.min(widestTerm, Math.max(0, ...rows.map(([term]) => term.length)));
  const out: string[] = [];
  for (const [term, text] of rows) {
    const [first = '', ...rest] = wrap(text, width - column - 4);
    if (term.length > column) out.push(`  ${term}`, `${' '.repeat(column + 4)}${first}`);
    else out.push(`  ${term.padEnd(column)}  ${first}`.trimEnd());
    out.push(...rest.map((line) => `${' '.repeat(column + 4)}${line}`));
  }
  return out;
}

const section = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : ['', title, ...lines]);
const examples = (command: { readonly examples: readonly string[] }) =>
  section(
    'Examples',
    command.examples.flatMap((line) => wrapExample(line)),
  );

/** A long example is continued with a backslash, so that it can still be pasted. */
function wrapExample(line: string): readonly string[] {
  if (line.length + 2 <= width) return [`  ${line}`];
  const cut = line.lastIndexOf(' --', width - 6);
  return cut < 0 ? [`  ${line}`] : [`  ${line.slice(0, cut)} \\`, `      ${line.slice(cut + 1)}`];
}

/** `--model <name>`, `-q, --quiet`, `--think[=<level>]`. */
function flagTerm(flag: Flag): string {
  const short = flag.short === undefined ? '' : `-${flag.short}, `;
  if (flag.kind === 'boolean') return `${short}${flagText(flag)}`;
  if (flag.kind === 'optional') return `${flagText(flag)}[=<${flag.value ?? 'value'}>]`;
  return `${short}${flagText(flag)} <${flag.value ?? 'value'}>${flag.kind === 'list' ? '…' : ''}`;
}

function flagHelp(flag: Flag): string {
  const words = flag.words === undefined || flag.kind === 'list' ? '' : ` One of ${flag.words.join(', ')}.`;
  const notes = [
    ...(flag.default === undefined ? [] : [`default ${flag.default}`]),
    ...(flag.env === undefined ? [] : [flag.env]),
    ...(flag.config === undefined ? [] : [`config ${flag.config}`]),
  ];
  return `${flag.help}${words}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`;
}

/** Rows of flags, sorted as given. */
export const flagRows = (flags: readonly Flag[]): readonly HelpRow[] =>
  flags.map((flag) => [flagTerm(flag), flagHelp(flag)] as const);

/** What exit codes mean (06 §2.2), for help of a command and for the topic. */
export const exitCodes: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'Done; help; version; an empty list.'],
  [1, 'Failed; a named object was not found or is busy.'],
  [2, 'Usage: a bad flag, word or value, a name taken, or missing input. Nothing changed.'],
  [3, 'Set-up invalid, missing or untrusted: chain, policy, config, database, registration.'],
  [4, 'Suspended: the run waits for a person.'],
  [5, 'Denied; or refused because it was called from inside a tool run.'],
  [6, 'A bound is exhausted, or the policy leaves no model or backend.'],
  [7, 'Model or backend failure after retries; readiness of category health.'],
  [124, '--timeout elapsed.'],
  [130, 'SIGINT: the run was cancelled.'],
  [131, 'SIGQUIT, in the full-screen terminal.'],
  [143, 'SIGTERM or SIGHUP: the run stopped at its last checkpoint.'],
];

const exitRows = (codes: readonly number[]): readonly HelpRow[] =>
  exitCodes.filter(([code]) => codes.includes(code)).map(([code, meaning]) => [String(code), meaning] as const);

/** What the program is for. */
export const rootPurpose = 'agents on your own machine, every tool call under your policy.';

/** Text of `reins --help`. */
export function renderRootHelp(): string {
  return `${[
    `reins: ${rootPurpose}`,
    ...section('Usage', [
      '  reins [run] [flags] <text>…    one instruction, one answer',
      '  reins <command> [flags] …      a command of the list below',
      '  reins                          the full-screen terminal',
    ]),
    ...section('Commands', renderRows(commands.map((entry) => [entry.name, entry.purpose] as const))),
    ...section('Flags', [
      ...renderRows([
        ['--model <name>', 'Model to use.'],
        ['--policy <name|path>', 'Policy of this invocation.'],
        ['--shell', 'Enable local_shell; the policy still rules every call.'],
        ['--json', 'Machine-readable output.'],
        ['-h, --help', 'Help; of a command: reins help <command>.'],
        ['-v, --version', 'Version.'],
      ]),
      '  All global flags: reins help flags',
    ]),
    ...examples({
      examples: [
        'reins demo',
        'reins init && reins doctor',
        'reins summarise the last five commits --shell',
        'git diff | reins review this',
      ],
    }),
  ].join('\n')}\n`;
}

const argumentTerm = (argument: Argument) => {
  const many = argument.many === true ? '…' : '';
  return argument.required === true ? `<${argument.name}>${many}` : `[${argument.name}]${many}`;
};

/** `reins session show [<name>] [flags]`. */
export function usageOf(path: readonly Command[]): string {
  const command = path.at(-1);
  return [
    'reins',
    ...path.map(({ name }) => name),
    ...(command?.commands === undefined ? [] : [command.bare === true ? '[<subcommand>]' : '<subcommand>']),
    ...(command?.arguments ?? []).map(argumentTerm),
    '[flags]',
  ].join(' ');
}

/**
 * Help of a command or subcommand (06 §2.6), at most 80 columns.
 * @param path the command, then its subcommand
 */
export function renderCommandHelp(path: readonly Command[]): string {
  const command = path.at(-1);
  if (command === undefined) return renderRootHelp();
  const own = command.flags ?? [];
  return `${[
    command.purpose,
    ...section('Usage', [
      `  ${usageOf(path)}`,
      ...(command.aliases === undefined ? [] : [`  also: ${command.aliases.join(', ')}`]),
    ]),
    ...section('Commands', renderRows((command.commands ?? []).map((entry) => [entry.name, entry.purpose] as const))),
    ...section(
      'Arguments',
      renderRows((command.arguments ?? []).map((entry) => [argumentTerm(entry), argumentHelp(entry)] as const)),
    ),
    ...section('Flags', [...renderRows(flagRows(own)), '  Global flags: reins help flags']),
    ...examples(command),
    ...section('Exit codes', command.exits === undefined ? [] : renderRows(exitRows([0, 1, 2, ...command.exits]))),
  ].join('\n')}\n`;
}

const argumentHelp = (argument: Argument) =>
  argument.words === undefined ? argument.help : `${argument.help} One of ${argument.words.join(', ')}.`;
