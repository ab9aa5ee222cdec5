import { constants, createReadStream, openSync, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { RuntimeError, usage } from '../schema/errors.ts';
import { pause } from '../text/pause.ts';
import { systemReason } from '../text/system-reason.ts';
import { codeOf } from '../text/thrown.ts';
import { formatBytes } from '../view/format.ts';
import type { Process } from './process.ts';
import type { Terminal } from './terminal.ts';

/** The limit of instruction and content together (06 §7). */
export const maxInputBytes = 10 * 1024 * 1024;

export type InputSite = {
  readonly process: Process;
  readonly terminal: Terminal;
  warn(message: string): void;
};

/** @param bytes null when only the limit is known to be passed */
export const tooLarge = (what: string, bytes: number | null): RuntimeError =>
  usage(
    `${what} is ${bytes === null ? 'more than' : `${bytes} bytes, more than`} the limit of ${maxInputBytes} bytes (10 MiB)`,
  );

/**
 * A file that a flag names, or what comes through a pipe of that name.
 * @param shown the path as it was typed
 * @param flag the flag, for what is said of a file that cannot be read
 * @throws RuntimeError usage when it cannot be read or is too large, cancelled at Ctrl-C before a pipe has ended
 */
export async function readFileBytes(path: string, shown: string, site: InputSite, flag = '--input'): Promise<Buffer> {
  const named = `${flag}: ${shown}`;
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) throw usage(`${named} is a directory`);
    if (stat.isFIFO()) return await readPipe(path, shown, site, named);
    if (stat.isFile() && stat.size > maxInputBytes) throw tooLarge(named, stat.size);
    return await collect(createReadStream(path), named, () => undefined);
  } catch (error) {
    if (error instanceof RuntimeError) throw error;
    throw new RuntimeError('usage', `${named} cannot be read (${reasonOf(error)})`, { cause: error });
  }
}

/** Opened without waiting for a writer: a thread that waits in `open` keeps the whole process from ending. */
async function readPipe(path: string, shown: string, site: InputSite, named: string): Promise<Buffer> {
  const { Socket } = await import('node:net');
  const stream = new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), writable: false });
  const names = { first: `somebody to write to ${shown}`, rest: `the end of ${shown}` };
  return whileWaiting(stream, names, site, (got) => collect(stream, named, got));
}

/**
 * All of stdin; null when `waitMs` passed before the first byte or the end. Stops reading at the limit.
 * @throws RuntimeError usage when it cannot be read or is too large, cancelled at Ctrl-C
 */
export async function readStdin(waitMs: number | null, site: InputSite): Promise<Buffer | null> {
  const stream = site.process.stdin();
  // What is typed on a terminal shows that it is waited for.
  const isTyped = site.terminal.stdinKind() === 'terminal';
  const names = isTyped ? null : { first: 'standard input', rest: 'the end of standard input' };
  let late = false;
  try {
    return await whileWaiting(stream, names, site, (got) => {
      // Left open on purpose by whoever started us: let go of it, or the process would not end.
      const letGo = () => {
        late = true;
        stream.destroy();
      };
      const timer = waitMs === null ? undefined : setTimeout(letGo, waitMs);
      return collect(stream, 'standard input', (size) => {
        clearTimeout(timer);
        got(size);
      }).finally(() => clearTimeout(timer));
    });
  } catch (error) {
    if (late) return null;
    if (error instanceof RuntimeError) throw error;
    throw new RuntimeError('usage', `standard input cannot be read (${reasonOf(error)})`, { cause: error });
  }
}

/** @param got is told the size after each piece. @throws RuntimeError usage at the limit, and what the stream fails with */
async function collect(stream: Readable, what: string, got: (size: number) => void): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop closes the stream.
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxInputBytes) throw tooLarge(what, null);
    got(size);
  }
  return Buffer.concat(chunks);
}

const tickMs = 1000;
/** How long after the end of its writer the signal of a Ctrl-C may still reach us, where somebody was told to wait. */
const lateSignalMs = 200;

/** What is waited for before the first byte, and after it. */
type Names = { readonly first: string; readonly rest: string };

/**
 * Reads a stream that somebody else feeds: a terminal is told after a second what is waited for (06 §2.4.2). Ctrl-C closes
 * the stream.
 * @param names null where nothing is to be told
 * @throws RuntimeError cancelled at Ctrl-C
 */
async function whileWaiting(
  stream: Readable,
  names: Names | null,
  { process, terminal }: InputSite,
  read: (got: (size: number) => void) => Promise<Buffer>,
): Promise<Buffer> {
  const began = process.now();
  let size = 0;
  let told = false;
  const interrupted = new AbortController();
  const tell = (names: Names) => {
    const what = `waiting for ${size === 0 ? names.first : names.rest}`;
    const so = size === 0 ? '' : `, ${formatBytes(size)} received`;
    const line = `${what}, ${Math.floor((process.now() - began) / tickMs)} s${so}`;
    if (terminal.live) terminal.status(terminal.style('err', 'dim', line.slice(0, terminal.columns - 1)));
    else if (!told) terminal.err(`${what}\n`);
    told = true;
  };
  const tells = names !== null && terminal.stderrIsTerminal && !terminal.quiet;
  const timer = tells ? setInterval(tell, tickMs, names) : undefined;
  timer?.unref();
  const ignore = process.onSignal('SIGINT', () => {
    interrupted.abort();
    stream.destroy();
  });
  try {
    const bytes = await read((now) => {
      size = now;
    });
    // The Ctrl-C that ended whoever was writing is ours too, and may be heard behind the end.
    if (told) await pause(lateSignalMs, interrupted.signal);
    else await new Promise((resume) => setImmediate(resume));
    if (!interrupted.signal.aborted) return bytes;
    throw interruption();
  } catch (error) {
    throw interrupted.signal.aborted ? interruption() : error;
  } finally {
    clearInterval(timer);
    ignore();
    terminal.status(null);
  }
}

const interruption = (): RuntimeError => new RuntimeError('cancelled', 'interrupted while the input was read');

const reasonOf = (error: unknown): string => (codeOf(error) === 'ENOENT' ? 'no such file' : systemReason(error));
