import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { GroupGuard } from '../../children/group-guard.ts';
import { endGroup, signalGroup, within } from '../../children/process-group.ts';
import { parseExactJson } from '../../text/exact-json.ts';
import { codeOf } from '../../text/thrown.ts';
import { createLineReader } from './lines.ts';
import { fault, hasTooManyParts, notKept, type Pipe, type PipeListener, tooLargeCode } from './pipe.ts';
import { lastWords } from './last-words.ts';
import type { Ring } from './ring.ts';
import { formless } from './shallow-messages.ts';
import { isObject } from '../../text/json-object.ts';

export type StdioLaunch = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child (05 §2.8). */
  readonly environment: Readonly<Record<string, string>>;
};

export type StdioDeps = { readonly guard: GroupGuard; readonly ring: Ring };

type Ends = { readonly head: string; readonly tail: string };
/** How much of each end of a message its id is looked for in. */
const endUnits = 512;

/** How long a server has to end by itself once its input is closed, and again after SIGTERM (05 §10.3). */
const endMs = 2_000;
/** How long the end of a server that does not read any more is waited for. */
const lastWordsMs = 500;
/** Messages that a server has not read: our calls are four at a time, so the rest are answers to what it asked for. */
const maxUnread = 1000;

/**
 * A server as a child process that leads its own session and group (05 §10.3): messages are lines of its standard input and
 * output, and what it writes beside them goes to the ring. The group ends with `close`, and with this process by the guard.
 */
export function createStdioPipe(launch: StdioLaunch, { guard, ring }: StdioDeps): Pipe {
  let child: ChildProcess | null = null;
  let gone: Promise<void> = Promise.resolve();
  let isGone = true;
  let failure: string | null = null;
  let lastWords: string | null = null;
  let closing: Promise<void> | null = null;
  let unread = 0;

  const listen = (own: ChildProcess, pid: number, listener: PipeListener): void => {
    const closed = new Promise<void>((resolve) => own.once('close', () => resolve()));
    gone = new Promise<void>((resolve) => {
      own.once('exit', (code, signal) => {
        isGone = true;
        // What it started does not outlive it, and may hold its pipes open.
        void endGroup(own, pid, closed).then(() => {
          guard.remove(pid);
          lastWords = failure ?? ending(code, signal, ring);
          listener.closed(lastWords);
          resolve();
        });
      });
    });
    const refuse = (ends: Ends, what: keyof typeof notKept): void => {
      const id = requestId(ends);
      if (id === null) fail(`the server sent a message ${what === 'bytes' ? 'above 16 MiB' : 'of too many parts'}`);
      else listener.message(unkept(id, what));
    };
    const read = createLineReader({
      message: (line) => {
        if (!hasTooManyParts(line)) return deliver(line, listener);
        refuse({ head: line.slice(0, endUnits), tail: line.slice(-endUnits) }, 'parts');
        return true;
      },
      noise: (bytes) => ring.push(bytes),
      tooLong: (ends) => refuse(ends, 'bytes'),
      flooded: (reason) => fail(reason),
    });
    own.stdout?.on('data', (chunk: Buffer) => {
      if (failure === null) read(chunk);
    });
    own.stderr?.on('data', (chunk: Buffer) => ring.push(chunk));
    for (const stream of [own.stdin, own.stdout, own.stderr]) stream?.on('error', ignored);
  };

  const fail = (reason: string): void => {
    failure ??= reason;
    if (child?.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
  };

  const end = async (own: ChildProcess, pid: number): Promise<void> => {
    own.stdin?.end();
    if (await within(gone, endMs)) return;
    signalGroup(pid, 'SIGTERM');
    if (await within(gone, endMs)) return;
    signalGroup(pid, 'SIGKILL');
    await within(gone, endMs);
  };

  return {
    async start(listener) {
      const own = spawn(launch.command, [...launch.args], {
        cwd: launch.cwd,
        env: launch.environment,
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe'],
        windowsHide: true,
      });
      child = own;
      await new Promise<void>((resolve, reject) => {
        own.once('spawn', resolve);
        own.once('error', (error) => reject(new Error(startFault(error, launch))));
      });
      const { pid } = own;
      if (pid === undefined) throw new Error(`"${launch.command}" was not started`);
      isGone = false;
      guard.add(pid);
      own.on('error', ignored);
      listen(own, pid, listener);
    },

    send(message) {
      const stdin = child?.stdin;
      if (stdin == null || isGone || !stdin.writable) {
        return Promise.reject(fault('the server has ended', { kind: 'network', sent: false }));
      }
      unread += 1;
      if (unread > maxUnread) fail('the server asks on and on, and does not read what it is answered');
      return new Promise((resolve, reject) => {
        stdin.write(`${JSON.stringify(message)}\n`, (error) => {
          unread -= 1;
          if (error == null) {
            resolve();
            return;
          }
          // Mostly its end, which says more, is on its way.
          void within(gone, lastWordsMs).then(() => {
            const why = lastWords ?? `the server does not read: ${codeOf(error) ?? error.message}`;
            reject(fault(why, { kind: 'network', sent: true }));
          });
        });
      });
    },

    close() {
      if (child?.pid === undefined || isGone) return gone;
      closing ??= end(child, child.pid);
      return closing;
    },
  };
}

/** A pipe that breaks is told by the end of its process. */
const ignored = (): void => {};

/** @returns false when the line is no message */
function deliver(line: string, listener: PipeListener): boolean {
  let value: unknown;
  try {
    value = parseExactJson(line);
  } catch {
    return false;
  }
  const messages = Array.isArray(value) ? value : [value];
  if (messages.length === 0 || !messages.every(isMessage)) return false;
  for (const message of messages) listener.message(isFormless(message) ? formless(message.id) : message);
  return true;
}

/** The library drops such an answer, and whoever waits for it would wait until his time is over. */
const isFormless = (message: object): message is { readonly id: string | number } => {
  if (!('id' in message) || 'method' in message) return false;
  if (typeof message.id !== 'string' && typeof message.id !== 'number') return false;
  if ('result' in message) return !isObject(message.result);
  return !('error' in message && isObject(message.error) && isFault(message.error));
};

const isFault = (error: object): boolean =>
  'code' in error && Number.isInteger(error.code) && 'message' in error && typeof error.message === 'string';

const isMessage = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';

/** Which request an answer belonged to that was not kept: its id stands at one of its ends. Ours are numbers. */
function requestId({ head, tail }: Ends): number | null {
  const found =
    /^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d+)\s*,/.exec(head) ??
    /^\s*\{\s*"id"\s*:\s*(\d+)\s*,/.exec(head) ??
    /,\s*"id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  return found?.[1] === undefined ? null : Number(found[1]);
}

const unkept = (id: number, what: keyof typeof notKept): object => ({
  jsonrpc: '2.0',
  id,
  error: { code: tooLargeCode, message: notKept[what] },
});

function startFault(error: Error, { command, cwd }: StdioLaunch): string {
  const code = codeOf(error);
  if (code === 'ENOENT' && !existsSync(cwd))
    return `the directory ${cwd}, in which it is to be started, does not exist`;
  if (code === 'ENOENT' && command.includes(' '))
    return `the program "${command}" was not found; what stands behind its name is given by --arg or --args`;
  if (code === 'ENOENT') return `the program "${command}" was not found`;
  // A bare name is looked for in PATH, and a directory there that may not be looked into gives the same answer.
  if (code === 'EACCES' && !command.includes('/'))
    return `the program "${command}" was not found where PATH may be read, or it is not an executable file`;
  if (code === 'EACCES') return `"${command}" is not an executable file`;
  return `"${command}" could not be started: ${code ?? error.message}`;
}

function ending(code: number | null, signal: string | null, ring: Ring): string {
  const how = signal === null ? `with exit code ${code ?? 0}` : `by ${signal}`;
  const last = lastWords(ring.lines(40));
  return `the server ended ${how}${last === undefined ? '' : `: ${last.slice(0, 300)}`}`;
}
