import { existsSync } from 'node:fs';
import { number, object, optional, string } from 'superstruct';
import type { SpawnResult } from '../schema/protocol.ts';
import { parseDuration } from '../text/quantities.ts';
import { cancelled, fail, isFailure, type ToolFailure } from './failure.ts';
import { placeOf, resolvePath } from './files/root.ts';
import { pathText, summaryLine } from './files/subject.ts';
import { between, bytes, inputSchema, own } from './input-schema.ts';
import { listLimit, numberLimit } from './limits.ts';
import { findProgram, notFoundText } from './programs.ts';
import { listFault, operandFault } from './shell-limits.ts';
import { spoolBase } from './spool.ts';
import {
  defineTool,
  type Prepared,
  type Tool,
  type ToolContext,
  type ToolPlace,
  type ToolResult,
  type ToolSite,
} from './tool.ts';

export type ShellDeps = {
  /** Config `shell-timeout`, in seconds. */
  readonly timeoutS: number;
};

type Args = {
  command: string;
  args?: string | readonly string[] | null | undefined;
  cwd?: string | undefined;
  timeout_s?: number | undefined;
  timeout?: string | number | undefined;
  shell?: boolean | null | undefined;
};

type Facts = {
  readonly cwd: { readonly path: string; readonly dev: string; readonly ino: string };
  readonly timeoutS: number;
  /** The chain's cap, when it has lowered what was asked for. */
  readonly loweredTo: number | null;
  readonly budget: number;
  readonly words: readonly string[] | null;
  readonly unexpanded: readonly string[];
  readonly fault: ToolFailure | null;
};

const maxCommandBytes = 65_536;
const maxArguments = 1024;
const maxArgumentBytes = 131_072;
const maxTimeoutS = 3600;
/** Of the result's `command`; the call itself has the whole. */
const maxShownCommand = 2000;

const shellFile = '/bin/sh';

/** Starts programs (05 §3). Registered only where the operator has asked for it. */
export function createShellTool({ timeoutS }: ShellDeps): Tool {
  const args = object({
    command: bytes(string(), 1, maxCommandBytes),
    args: optional(own<string | readonly string[] | null>('args', checkArguments)),
    cwd: optional(pathText()),
    timeout_s: optional(between(number(), 1, maxTimeoutS)),
    timeout: optional(own<string | number>('timeout', (value) => secondsOf(value) !== null || timeoutWords)),
    shell: optional(
      own<boolean | null>('shell', (value) => value === null || typeof value === 'boolean' || 'must be true or false'),
    ),
  });
  return defineTool<Args, Facts>({
    spec: {
      tools: 'local_shell',
      tool: 'local_shell',
      description: describe({ root: 'the root of the run', limits: {} }, timeoutS),
      input_schema: inputSchema(args, {
        command: { description: 'A program, one simple command, or a line for /bin/sh.', minLength: 1 },
        args: {
          description: 'Arguments of the program; then command is the program alone. Not with shell: true.',
          anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'string' }],
        },
        cwd: { description: 'Working directory, relative to the root. Default: the root.' },
        timeout_s: { description: 'Time limit in seconds.', minimum: 1, maximum: maxTimeoutS, default: timeoutS },
        timeout: {
          description: 'The same as a duration such as 90s or 2m.',
          anyOf: [{ type: 'string' }, { type: 'number' }],
        },
        shell: {
          description: 'Absent: as the line needs. true: through /bin/sh. false: never through a shell.',
          type: 'boolean',
        },
      }),
      read_only: false,
    },
    describe: (place) => describe(place, timeoutS),
    args,
    prepare: (given, site, environment) => prepare(given, site, environment, timeoutS),
    unfit: (facts) => facts.fault,
    execute: (given, context) => execute(given, context),
  });
}

const timeoutWords = `must be a duration of 1 s to ${maxTimeoutS} s, such as 90s or 2m`;

function checkArguments(value: unknown): true | string {
  if (value === null) return true;
  if (typeof value === 'string')
    return Buffer.byteLength(value) <= maxCommandBytes || `must be at most ${maxCommandBytes} bytes long`;
  if (!Array.isArray(value) || value.some((element) => typeof element !== 'string')) {
    return 'must be a list of strings, or one string';
  }
  if (value.length > maxArguments) return `must have at most ${maxArguments} elements`;
  const long = value.findIndex((element) => Buffer.byteLength(element) > maxArgumentBytes);
  return long < 0 || `must have elements of at most ${maxArgumentBytes} bytes; element ${long} is longer`;
}

function secondsOf(value: unknown): number | null {
  const seconds = typeof value === 'string' ? (parseDuration(value) ?? Number.NaN) / 1000 : value;
  return typeof seconds === 'number' && seconds >= 1 && seconds <= maxTimeoutS ? seconds : null;
}

/** What the model must know to use it well (amendment 21). */
function describe({ root, limits }: ToolPlace, timeoutS: number): string {
  const own = limits['local_shell'] ?? {};
  const allowed = listLimit(own, '_allowed_commands');
  const denied = listLimit(own, '_denied_commands');
  const lines = [
    `Starts a program in ${root}. Nothing persists between calls: no cd (pass cwd), no variables, no background processes.`,
    'One simple command runs as it is, with no expansion of * or ?; other lines run through /bin/sh. Join steps with &&, not ;.',
    `Standard input is empty. The time limit is ${timeoutS} s unless timeout_s says otherwise.`,
  ];
  if (allowed !== null) lines.push(`Only these programs may be used: ${allowed.join(', ')}.`);
  if (denied !== null) lines.push(`These programs are refused: ${denied.join(', ')}.`);
  return lines.join(' ');
}

function prepare(
  given: Args,
  site: ToolSite,
  environment: Readonly<Record<string, string>>,
  defaultTimeoutS: number,
): Prepared<Facts> {
  const reading = site.command;
  if (reading === null) return fail('unsupported', 'The command was not read; nothing is started.');
  if (reading.form === 'none') return fail(reading.error, reading.message, { path: 'command' });
  if (reading.refusal !== null) return fail('needs_shell', reading.refusal, { path: 'command' });
  if (reading.form === 'sh' && !existsSync(shellFile)) {
    return fail('unsupported', 'This system has no /bin/sh. Use one simple command, or command with args.');
  }
  if (given.timeout !== undefined && given.timeout_s !== undefined) {
    return fail('invalid_arguments', 'Give "timeout_s" or "timeout", not both.', { path: 'timeout' });
  }
  const place = placeOf(site);
  if (isFailure(place)) return place;
  const cwd = resolvePath(given.cwd ?? '.', place, site);
  if (isFailure(cwd)) return cwd;
  if (cwd.stat?.isDirectory() !== true) {
    return fail('not_found', `The working directory "${cwd.given}" does not exist or is not a directory.`, {
      similar: [],
    });
  }
  const cap = numberLimit(site.limits, '_max_timeout_s', { fallback: maxTimeoutS, min: 1, max: maxTimeoutS });
  if (isFailure(cap)) return cap;
  const budget = numberLimit(site.limits, '_max_output_bytes', { fallback: 65_536, min: 1024, max: 1_048_576 });
  if (isFailure(budget)) return budget;
  const path = environment['PATH'] ?? '';
  const limited = listFault(reading, site.limits, cwd.real, path) ?? operandFault(reading, place, cwd.real);
  if (limited !== null) return limited;
  const wanted = given.timeout_s ?? secondsOf(given.timeout) ?? defaultTimeoutS;
  const words = reading.form === 'argv' ? reading.words : null;
  const [word = ''] = words ?? [];
  const missing = words !== null && findProgram(word, cwd.real, path) === null;
  return {
    ok: true,
    facts: {
      cwd: { path: cwd.real, dev: String(cwd.stat.dev), ino: String(cwd.stat.ino) },
      timeoutS: Math.min(wanted, cap),
      loweredTo: wanted > cap ? cap : null,
      budget,
      words,
      unexpanded: reading.form === 'argv' ? reading.unexpanded : [],
      fault: missing ? fail('program_not_found', notFoundText(word)) : null,
    },
    looked: { ...cwd, given: cwd.real },
    cwd: cwd.real,
    summary: summaryLine(commandLine(given.command, given.args, words)),
  };
}

/** The line as a person would write it. */
function commandLine(command: string, args: Args['args'], words: readonly string[] | null): string {
  return args == null || words === null ? command : words.map(quoteWord).join(' ');
}

const quoteWord = (word: string): string =>
  /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

async function execute(given: Args, context: ToolContext<Facts>): Promise<ToolResult> {
  const { facts, exec, ports, signal } = context;
  if (facts.fault !== null) return facts.fault;
  const [argv0 = ''] = exec?.argv ?? [];
  if (exec === null || exec.file === null) return fail('program_not_found', notFoundText(facts.words?.[0] ?? argv0));
  if (exec.cwd !== facts.cwd.path) {
    return fail(
      'path_changed',
      'The working directory is not the one that was judged; nothing was started. Call again.',
    );
  }
  if (signal.aborted) return cancelled();
  const command = commandLine(given.command, given.args, facts.words);
  const frame: Frame = {
    cwd: facts.cwd.path,
    program: exec.file,
    command: command.length > maxShownCommand ? `${command.slice(0, maxShownCommand)}…`.toWellFormed() : command,
    shell: exec.form === 'sh',
  };
  const { program } = exec;
  const outcome = await ports.spawn(
    {
      file: exec.file,
      argv0,
      args: exec.argv.slice(1),
      cwd: facts.cwd.path,
      env: { ...without(context.environment, exec.env_clear), TERM: 'dumb', ...exec.env_set },
      timeout_ms: Math.round(facts.timeoutS * 1000),
      max_output_bytes: Math.max(facts.budget - frameBytes(frame), minOutputBytes),
      spool: { directory: ports.spool.directory(context.run_id), name: spoolBase(context.call_id) },
      identity: program,
      ...(exec.trusted === undefined ? {} : { trusted: exec.trusted }),
      cwd_identity: { dev: facts.cwd.dev, ino: facts.cwd.ino },
    },
    signal,
    context.output,
    () => {},
  );
  switch (outcome.kind) {
    case 'not_started':
      return fail(outcome.error, outcome.message);
    case 'lost':
      return fail(
        'outcome_unknown',
        `The command was started, then its thread was lost (${outcome.message}): it was ended and may have had effects.`,
      );
    case 'ended':
      return ended(outcome, frame, context);
  }
}

const without = (
  environment: Readonly<Record<string, string>>,
  prefixes: readonly string[],
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(environment).filter(([name]) => !prefixes.some((prefix) => name.startsWith(prefix))),
  );

type Frame = { readonly cwd: string; readonly program: string; readonly command: string; readonly shell: boolean };
type Ended = Extract<SpawnResult, { kind: 'ended' }>;

/** What the result says beside the output has its place in the budget. */
const frameBytes = (frame: Frame): number => Buffer.byteLength(JSON.stringify(frame)) + 640;
const minOutputBytes = 384;

/** 05 §3.7, in the order of its members. A program that failed is a result; one that was stopped may be an error. */
function ended(run: Ended, frame: Frame, { facts, exec, emit }: ToolContext<Facts>): ToolResult {
  if (run.spool_fault !== null) {
    const message = `The full output of a command could not be kept ${run.spool_fault}`;
    emit({ kind: 'notice', level: 'warn', code: 'spool_full', message });
  }
  const error = endText(run, facts);
  const value = {
    exit_code: run.exit_code,
    signal: run.signal,
    success: run.exit_code === 0,
    timed_out: run.timed_out,
    stdout: run.stdout,
    stderr: run.stderr,
    stdout_bytes: run.stdout_bytes,
    stderr_bytes: run.stderr_bytes,
    truncated: run.truncated,
    duration_seconds: Math.round(run.duration_ms) / 1000,
    ...frame,
    ...(facts.unexpanded.length === 0 ? {} : { not_expanded: notExpanded(facts.unexpanded) }),
    ...(exec?.searched === true ? { not_searched: notSearched } : {}),
    ...(namesOwnStream.test(run.stderr) ? { not_opened: notOpened } : {}),
    ...(run.spooled.stdout === undefined && run.spooled.stderr === undefined ? {} : { output: run.spooled }),
    ...(run.spool_truncated ? { spool_truncated: true } : {}),
    ...(run.background_killed ? { background_killed: true } : {}),
    ...(facts.loweredTo === null ? {} : { timeout_lowered_to_s: facts.loweredTo }),
    ...(error === null ? {} : { error }),
  };
  const partial = Object.fromEntries(Object.entries(value).filter(([name]) => name !== 'error'));
  if (run.cancelled)
    return fail('cancelled', 'The command was cancelled while it ran; it may have had effects.', partial);
  if (run.output_limit) {
    return fail(
      'output_limit',
      'The command wrote more than 64 MiB and was stopped. Write to a file or narrow the output.',
      partial,
    );
  }
  return { ok: true, value, ...(run.spooled.stdout === undefined ? {} : { output_ref: run.spooled.stdout }) };
}

const notSearched = 'files whose names say that they hold secrets, and .reins; name one to be asked about it';

/** The pipes that Node makes are sockets, and those have no second end to open: the system's words explain nothing. */
const namesOwnStream = /\/dev\/(?:std(?:out|err)|fd\/[12])\b.*(?:No such device or address|ENXIO)/;
const notOpened = '/dev/stdout and /dev/stderr cannot be opened by name here; write to them with >&1 and >&2';

const notExpanded = (words: readonly string[]): string =>
  `${words.join(' ').slice(0, 500)} reached the program as written; shell: true expands * ? and [`;

function endText(run: Ended, { timeoutS }: Facts): string | null {
  if (run.timed_out) return `stopped at the time limit of ${timeoutS} s`;
  return run.signal === null ? null : `ended by ${run.signal}`;
}
