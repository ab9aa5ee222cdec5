import type { WriteStream } from 'node:tty';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { RuntimeError } from '../schema/errors.ts';
import type { Environment } from './globals.ts';
import { createOutlet } from './outlet.ts';
import type { Process } from './process.ts';

export type Style = 'dim' | 'bold' | 'red' | 'yellow' | 'green' | 'cyan';
const codes: Readonly<Record<Style, string>> = {
  dim: '2',
  bold: '1',
  red: '31',
  yellow: '33',
  green: '32',
  cyan: '36',
};

export type StdinKind = 'terminal' | 'piped' | 'none';

/** Both ends of the pipe. Texts given here are already visible (view/escape.ts) where they were foreign. */
export type Terminal = {
  readonly stdoutIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
  /** Progress may be shown and redrawn on stderr (06 §2.4). */
  readonly live: boolean;
  readonly quiet: boolean;
  readonly columns: number;
  /** `piped`: a pipe, socket or file; `none`: closed or a device such as /dev/null (06 §7). */
  stdinKind(): StdinKind;
  /** A person can be asked: stdin and stderr are terminals, there is a controlling one, `CI` is unset (06 §9). */
  interactive(): boolean;
  /** Writes to stdout; resolves when the text was taken. A broken pipe is not an error: `stdoutClosed` tells. */
  out(text: string): Promise<void>;
  /** Writes to stderr, on a fresh line when streamed text stands on the terminal. */
  err(text: string): void;
  /** A piece of streamed text for stderr, dimmed; other output begins on a fresh line. */
  copy(text: string): void;
  /** A progress line that the next output replaces; null removes it. Nothing where `live` is false. */
  status(text: string | null): void;
  stdoutClosed(): boolean;
  /** For who listens to a stream or writes to it without the others here. */
  stream(of: 'out' | 'err'): WriteStream;
  /** Gives the terminal to another program while the body runs: Ctrl-C is for that one. */
  lend<T>(body: () => Promise<T>): Promise<T>;
  lent(): boolean;
  style(stream: 'out' | 'err', name: Style, text: string): string;
  /** Resolves when everything written to both streams was taken. */
  flush(): Promise<void>;
};

/** `CI` set, neither empty nor `false`, means that nobody sits there (06 §4, 10 §1.1). */
export const inCi = (environment: Environment): boolean => !['', 'false'].includes(environment['CI'] ?? '');

const hasColour = (isTerminal: boolean, wanted: boolean, environment: Environment): boolean => {
  if (!wanted || (environment['NO_COLOR'] ?? '') !== '') return false;
  if (environment['FORCE_COLOR'] === '1') return true;
  return isTerminal && environment['TERM'] !== 'dumb' && !inCi(environment);
};

/** @param options `colour`: false for --no-color; `quiet`: --quiet */
export function createTerminal(
  process: Process,
  options: { readonly colour: boolean; readonly quiet: boolean },
): Terminal {
  const { environment } = process;
  const [stdoutIsTerminal, stderrIsTerminal] = [process.isTerminal(1), process.isTerminal(2)];
  const live = stderrIsTerminal && environment['TERM'] !== 'dumb' && !inCi(environment) && !options.quiet;
  const colours = {
    out: hasColour(stdoutIsTerminal, options.colour, environment),
    err: hasColour(stderrIsTerminal, options.colour, environment),
  };
  let closed = false;
  let failure: Error | null = null;
  let midLine = false;
  let lent = false;
  let shown = '';

  const stdout = createOutlet({
    fd: 1,
    isTerminal: stdoutIsTerminal,
    stream: process.stdout,
    onError: (error) => {
      closed = true;
      // A reader that left (or a terminal that is gone) is no failure of ours (06 §2.1.4).
      if (error.code === 'EPIPE' || error.code === 'EIO') return;
      failure = new RuntimeError('storage', `standard output cannot be written (${error.code ?? error.message})`, {
        cause: error,
      });
    },
  });
  const stderr = createOutlet({
    fd: 2,
    isTerminal: stderrIsTerminal,
    stream: process.stderr,
    // Nothing can be reported about a broken stderr.
    onError: () => undefined,
  });

  const clear = () => {
    if (shown === '') return;
    shown = '';
    // Where nothing is coloured no escape byte is sent at all (06, acceptance 36).
    void stderr.write(colours.err ? '\r\u001b[K' : `\r${' '.repeat((stderr.columns || 80) - 1)}\r`);
  };

  const style: Terminal['style'] = (stream, name, text) =>
    colours[stream] && text !== '' ? `\u001b[${codes[name]}m${text}\u001b[0m` : text;

  return {
    stdoutIsTerminal,
    stderrIsTerminal,
    live,
    quiet: options.quiet,
    // Read each time: a terminal may be resized while a run goes on.
    get columns() {
      return Math.max(20, (stdoutIsTerminal ? stdout.columns : stderr.columns) || 80);
    },
    stdinKind: () => stdinKind(process),
    interactive: () =>
      stderrIsTerminal && !inCi(environment) && stdinKind(process) === 'terminal' && hasControllingTerminal(),
    out: async (text) => {
      if (failure !== null) throw failure;
      if (closed || text === '') return;
      clear();
      if (stdoutIsTerminal) midLine = !text.endsWith('\n');
      await stdout.write(text);
      if (failure !== null) throw failure;
    },
    err: (text) => {
      clear();
      const fresh = midLine && stderrIsTerminal ? '\n' : '';
      midLine = false;
      void stderr.write(fresh + text);
    },
    copy: (text) => {
      if (text === '') return;
      clear();
      midLine = !text.endsWith('\n');
      void stderr.write(style('err', 'dim', text));
    },
    status: (text) => {
      if (!live || midLine || text === shown) return;
      if (text === null) return clear();
      clear();
      shown = text;
      void stderr.write(text);
    },
    stdoutClosed: () => closed,
    stream: (of) => (of === 'out' ? stdout : stderr).stream(),
    lend: async (body) => {
      clear();
      lent = true;
      try {
        return await body();
      } finally {
        lent = false;
      }
    },
    lent: () => lent,
    style,
    flush: async () => {
      clear();
      if (!closed) await stdout.write('');
      await stderr.write('');
    },
  };
}

function stdinKind(process: Process): StdinKind {
  try {
    const stat = fstatSync(0);
    if (stat.isFIFO() || stat.isSocket() || stat.isFile()) return 'piped';
    return process.isTerminal(0) ? 'terminal' : 'none';
  } catch {
    return 'none';
  }
}

function hasControllingTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r+'));
    return true;
  } catch {
    return false;
  }
}
