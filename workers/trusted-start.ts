import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { TrustedFile } from '../src/schema/policy.ts';
import type { SpawnRequest } from '../src/schema/protocol.ts';
import { isSame, lookAt } from './identity.ts';
import { rebuiltWith } from './rebuilt-line.ts';

/** What starts in place of the request as it was sent; the files stay open until the child has ended. */
export type Opened =
  | { readonly ok: true; readonly request: SpawnRequest; close(): Promise<void> }
  | { readonly ok: false; readonly error: 'path_changed' | 'spawn_failed'; readonly message: string };

const blockBytes = 1024 * 1024;

/**
 * Opens every file that `trusted_binaries` judged, compares it with what was judged, and puts descriptors in the place
 * of paths (02 §10.6): a binary starts by the descriptor that was compared; a script is given by its real path to its
 * interpreter, which starts by descriptor (amendment 16). Where no digest was required, or elsewhere than on Linux, the
 * comparison is all there is; `changedFile` makes it once more, immediately before the start. An abort ends it early:
 * nothing is to be started then. Never rejects.
 */
export async function openTrusted(request: SpawnRequest, signal: AbortSignal): Promise<Opened> {
  const handles: FileHandle[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(handles.splice(0).map((handle) => handle.close().catch(() => {})));
  };
  const files = new Map<TrustedFile, FileHandle>();
  for (const file of (request.trusted ?? []).flatMap(({ binary, scripts }) => [...scripts, binary])) {
    const handle = await openSame(file, signal);
    if (handle === null) {
      await close();
      const cancelled = 'The call was cancelled before it was started.';
      return signal.aborted
        ? { ok: false, error: 'spawn_failed', message: cancelled }
        : { ok: false, error: 'path_changed', message: changedText(file.real) };
    }
    handles.push(handle);
    files.set(file, handle);
  }
  const placed = inPlace(request, files);
  if (placed !== null) return { ok: true, request: placed, close };
  await close();
  return { ok: false, error: 'spawn_failed', message: 'The line does not start what was judged; nothing was started.' };
}

/** A judged file that is another one now, or null. One stat call each, for the moment before the start. */
export function changedFile({ trusted = [] }: SpawnRequest): string | null {
  const files = trusted.flatMap(({ binary, scripts }) => [...scripts, binary]);
  const changed = files.find(({ real, identity }) => !isSame(identity, lookAt(real)));
  return changed === undefined ? null : changedText(changed.real);
}

const changedText = (real: string): string =>
  `The program ${real} was replaced or changed after it was judged; nothing was started. Call again.`;

/** The open file if it is the one that was judged, by its digest too where its times alone do not tell. */
async function openSame(file: TrustedFile, signal: AbortSignal): Promise<FileHandle | null> {
  let handle: FileHandle | null = null;
  try {
    if (signal.aborted) return null;
    // Non-blocking, so that a FIFO in its place does not hold the call.
    handle = await open(file.real, constants.O_RDONLY | constants.O_NONBLOCK);
    const now = await handle.stat({ bigint: true });
    if (isSame(file.identity, now) && (!file.young || (await digest(handle, signal)) === file.sha256)) return handle;
  } catch {
    // Gone, or closed to us: not the file that was judged.
  }
  await handle?.close().catch(() => {});
  return null;
}

/** Null when it was given up. */
async function digest(handle: FileHandle, signal: AbortSignal): Promise<string | null> {
  const hash = createHash('sha256');
  const block = Buffer.allocUnsafe(blockBytes);
  for (let at = 0; !signal.aborted; ) {
    const { bytesRead } = await handle.read(block, 0, blockBytes, at);
    if (bytesRead === 0) return hash.digest('hex');
    hash.update(block.subarray(0, bytesRead));
    at += bytesRead;
  }
  return null;
}

type Files = ReadonlyMap<TrustedFile, FileHandle>;

/** Null when the request has another shape than what was judged. */
function inPlace(request: SpawnRequest, files: Files): SpawnRequest | null {
  const { trusted = [] } = request;
  const byDescriptor = process.platform === 'linux' && trusted.every(({ binary }) => binary.sha256 !== null);
  if (!byDescriptor || trusted.length === 0) return request;
  const [, line] = request.args;
  if (request.file === '/bin/sh' && request.args[0] === '-c' && request.identity === null) {
    // A line starts its programs later and by itself: it finds the descriptors in this process, which keeps them open.
    const own = (file: TrustedFile): string => `/proc/${process.pid}/fd/${files.get(file)?.fd}`;
    const rebuilt = rebuiltWith(line ?? '', trusted, own);
    return rebuilt === null ? null : { ...request, args: ['-c', rebuilt] };
  }
  const [start, ...more] = trusted;
  if (start === undefined || more.length > 0 || start.program !== request.file) return null;
  return {
    ...request,
    // The child still has the descriptor when it names it, and loses it by being started.
    file: `/proc/self/fd/${files.get(start.binary)?.fd}`,
    argv0: start.argv0 ?? request.argv0,
    args: [...start.before, ...request.args],
  };
}
