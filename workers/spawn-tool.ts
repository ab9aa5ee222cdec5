import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { StringDecoder } from 'node:string_decoder';
import type { SpawnMessage, SpawnRequest, SpawnResult } from '../src/schema/protocol.ts';
import { codeOf } from '../src/text/thrown.ts';
import { type Capture, createCapture, type StreamName, shares } from './capture.ts';
import { createStdio } from './descriptors.ts';
import { createGroupGuard } from '../src/children/group-guard.ts';
import { isSame, lookAt } from './identity.ts';
import { pipeHolders } from '../src/children/pipe-holders.ts';
import { createStop, type Exit, endGroup, killProcess, signalGroup } from '../src/children/process-group.ts';
import { changedFile, openTrusted } from './trusted-start.ts';

/** Who asked for a child: hears what becomes of it, and may end it. */
export type SpawnCaller = { readonly report: (message: SpawnMessage) => void; readonly signal: AbortSignal };

/** 05 §3.6. */
const maxOutputBytes = 64 * 1024 * 1024;
const liveEveryMs = 50;
const liveChars = 16 * 1024;

/** Of this process; nothing is started or opened before the first job. */
const guard = createGroupGuard();
const stdio = createStdio();
/** The leaders of the groups that run, and who else holds their output. */
const holdersOf = new Map<number, () => readonly number[]>();

/** Kills all children at once, also those that left their groups: the guard, which comes after, knows only groups. */
export function killChildren(): void {
  for (const [pid, holders] of holdersOf) {
    signalGroup(pid, 'SIGKILL');
    for (const holder of holders()) killProcess(holder);
  }
}

/**
 * Runs one child as the leader of its own session and process group until it ends, or until time, an abort or the
 * output limit ends it. Its pid is reported before anything else. Never rejects: a child that did not start is a result.
 */
export async function spawnTool(request: SpawnRequest, caller: SpawnCaller): Promise<SpawnResult> {
  const opened = await openTrusted(request, caller.signal);
  if (!opened.ok) return caller.signal.aborted ? cancelledBefore : notStarted(opened.error, opened.message);
  try {
    // A child that is ended at once might have done its work by then.
    if (caller.signal.aborted) return cancelledBefore;
    const changed = identityChange(request) ?? changedFile(request);
    return changed === null ? await runChild(opened.request, caller) : notStarted('path_changed', changed);
  } finally {
    opened.close();
  }
}

const notStarted = (error: 'path_changed' | 'spawn_failed' | 'cancelled', message: string): SpawnResult => ({
  kind: 'not_started',
  error,
  message,
});

const cancelledBefore = notStarted('cancelled', 'It was cancelled before it was started.');

/** What was judged is what starts: compared immediately before the start (05 §3.3.3, §3.4.1). */
function identityChange(request: SpawnRequest): string | null {
  const { identity, cwd_identity: place } = request;
  if (identity !== null && !isSame(identity, lookAt(request.file))) {
    return 'The program was replaced or changed after it was judged; nothing was started. Call again.';
  }
  if (place !== null) {
    const now = lookAt(request.cwd);
    const same = now?.isDirectory() === true && String(now.dev) === place.dev && String(now.ino) === place.ino;
    if (!same) return 'The working directory was replaced after it was judged; nothing was started. Call again.';
  }
  return null;
}

async function runChild(request: SpawnRequest, { report, signal }: SpawnCaller): Promise<SpawnResult> {
  const startedAt = performance.now();
  const child = start(request);
  if (child instanceof Error) return notStarted('spawn_failed', failureText(child));
  const failed = new Promise<Error>((resolve) => child.once('error', resolve));
  const { pid, stdout, stderr } = child;
  if (pid === undefined || stdout === null || stderr === null)
    return notStarted('spawn_failed', failureText(await failed));
  const holders = pipeHolders(child, request.env['REINS_RUN_ID']);
  report({ kind: 'started', pid });
  guard.add(pid);
  holdersOf.set(pid, holders);

  const exited = new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stopping = createStop(pid);
  const captures = {
    stdout: createCapture('stdout', request.max_output_bytes, request.spool),
    stderr: createCapture('stderr', request.max_output_bytes, request.spool),
  };
  const live = createLive(report);
  const listen = (stream: StreamName, chunk: Buffer): void => {
    // After the limit the pipes are still drained, so that the group can die.
    if (stopping.reason() === 'output') return;
    captures[stream].push(chunk);
    live.push(stream, chunk);
    if (captures.stdout.bytes() + captures.stderr.bytes() > maxOutputBytes) stopping.stop('output');
  };
  stdout.on('data', (chunk: Buffer) => listen('stdout', chunk));
  stderr.on('data', (chunk: Buffer) => listen('stderr', chunk));
  const timer = setTimeout(() => stopping.stop('timeout'), request.timeout_ms);
  const cancel = (): void => stopping.stop('cancel');
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();

  const exit = await Promise.race([exited, stopping.gaveUp]);
  clearTimeout(timer);
  signal.removeEventListener('abort', cancel);
  // What happens from here on is no reason any more: the main process has ended.
  stopping.done();
  const background = await endGroup(child, pid, closed, holders);
  guard.remove(pid);
  holdersOf.delete(pid);
  live.flush();
  const reason = stopping.reason();
  return {
    kind: 'ended',
    exit_code: reason === 'timeout' ? 124 : exitCode(exit),
    signal: reason === 'timeout' ? null : exit.signal,
    timed_out: reason === 'timeout',
    cancelled: reason === 'cancel',
    output_limit: reason === 'output',
    background_killed: background && reason === null,
    ...render(captures, request.max_output_bytes),
    duration_ms: performance.now() - startedAt,
  };
}

function start(request: SpawnRequest): ChildProcess | Error {
  try {
    return spawn(request.file, [...request.args], {
      argv0: request.argv0,
      cwd: request.cwd,
      env: request.env,
      detached: true,
      stdio: stdio(),
      windowsHide: true,
    });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const failureText = (error: Error): string => `The system did not start it: ${codeOf(error) ?? error.message}.`;

function exitCode({ code, signal }: Exit): number {
  return signal === null ? (code ?? 1) : 128 + constants.signals[signal];
}

type Captures = Readonly<Record<StreamName, Capture>>;

/**
 * Both streams within the budget. The budget counts bytes of JSON text, in which a line feed or a quote has two, since
 * that is what the result becomes: so a result that fits here is not cut again.
 */
function render({ stdout, stderr }: Captures, budget: number) {
  let room = budget;
  let out = { text: '', cut: false };
  let err = out;
  for (let tries = 0; tries < 4; tries += 1) {
    const [outShare, errShare] = shares(room, stdout.bytes(), stderr.bytes());
    out = stdout.inline(outShare);
    err = stderr.inline(errShare);
    const size = jsonBytes(out.text) + jsonBytes(err.text);
    if (size <= budget) break;
    room = Math.floor(((room * budget) / size) * 0.98);
  }
  const outName = stdout.close();
  const errName = stderr.close();
  return {
    stdout: out.text,
    stderr: err.text,
    stdout_bytes: stdout.bytes(),
    stderr_bytes: stderr.bytes(),
    truncated: out.cut || err.cut,
    spooled: { ...(outName === null ? {} : { stdout: outName }), ...(errName === null ? {} : { stderr: errName }) },
    spool_truncated: stdout.spoolTruncated() || stderr.spoolTruncated(),
    spool_fault: stdout.spoolFault() ?? stderr.spoolFault(),
  };
}

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

/** Live output: at most one message a stream in 50 ms, and of more than 16 KiB the end. */
function createLive(report: SpawnCaller['report']) {
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  const pending = { stdout: '', stderr: '' };
  let timer: NodeJS.Timeout | undefined;
  const post = (): void => {
    timer = undefined;
    for (const stream of ['stdout', 'stderr'] as const) {
      if (pending[stream] === '') continue;
      report({ kind: 'output', stream, text: pending[stream] });
      pending[stream] = '';
    }
  };
  return {
    push(stream: StreamName, chunk: Buffer): void {
      const text = pending[stream] + decoders[stream].write(chunk);
      pending[stream] = text.length > liveChars ? text.slice(-liveChars).toWellFormed() : text;
      timer ??= setTimeout(post, liveEveryMs);
    },
    /** What is pending at the end comes with the result. */
    flush(): void {
      clearTimeout(timer);
    },
  };
}
