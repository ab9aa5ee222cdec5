import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  read,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { TrustedFile } from '../src/schema/policy.ts';
import type { SpawnRequest } from '../src/schema/protocol.ts';
import { isSame, lookAt } from './identity.ts';
import { rebuiltWith } from './rebuilt-line.ts';

/** What starts in place of the request as it was sent; the files stay open until the child has ended. */
export type Opened =
  | { readonly ok: true; readonly request: SpawnRequest; close(): void }
  | { readonly ok: false; readonly error: 'path_changed' | 'spawn_failed'; readonly message: string };

const blockBytes = 1024 * 1024;

/**
 * Opens every file that `trusted_binaries` judged by its digest, compares it with what was judged, and puts descriptors
 * in the place of paths (02 §10.6): a binary starts by the descriptor that was compared; a script is given by its real
 * path to its interpreter, which starts by descriptor (amendment 16). Where no digest was required, or elsewhere than on
 * Linux, `changedFile` compares immediately before the start, as it does for all. An abort ends it early, and
 * then what it says is of no use. Never rejects.
 */
export async function openTrusted(request: SpawnRequest, signal: AbortSignal): Promise<Opened> {
  const files = new Map<TrustedFile, number>();
  const names = createNames();
  const close = (): void => {
    for (const file of files.values()) closeSync(file);
    files.clear();
    names.remove();
  };
  for (const judged of filesOf(request).filter(({ sha256 }) => sha256 !== null)) {
    const file = openSame(judged);
    if (file !== null) files.set(judged, file);
    // Its times alone do not tell that it is what was hashed.
    const same = file !== null && (!judged.young || (await digest(file, signal)) === judged.sha256);
    if (same) continue;
    close();
    return { ok: false, error: 'path_changed', message: changedText(judged.real) };
  }
  const placed = inPlace(request, files, names);
  if (placed !== null) return { ok: true, request: placed, close };
  close();
  return { ok: false, error: 'spawn_failed', message: 'The line does not start what was judged; nothing was started.' };
}

const filesOf = ({ trusted = [] }: SpawnRequest): readonly TrustedFile[] =>
  trusted.flatMap(({ binary, scripts }) => [...scripts, binary]);

/** A judged file that is another one now, or null. One stat call each, for the moment before the start. */
export function changedFile(request: SpawnRequest): string | null {
  const changed = filesOf(request).find(({ real, identity }) => !isSame(identity, lookAt(real)));
  return changed === undefined ? null : changedText(changed.real);
}

const changedText = (real: string): string =>
  `The program ${real} was replaced or changed after it was judged; nothing was started. Call again.`;

/** The open file if it is the one that was judged. */
function openSame({ real, identity }: TrustedFile): number | null {
  let file: number | null = null;
  try {
    // Non-blocking, so that a FIFO in its place does not hold the call.
    file = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK);
    if (isSame(identity, fstatSync(file, { bigint: true }))) return file;
  } catch {
    // Gone, or closed to us: not the file that was judged.
  }
  if (file !== null) closeSync(file);
  return null;
}

/** Other children are heard while it reads. Null when it cannot be read, or was given up. */
async function digest(file: number, signal: AbortSignal): Promise<string | null> {
  const hash = createHash('sha256');
  const block = Buffer.allocUnsafe(blockBytes);
  for (let at = 0; !signal.aborted; ) {
    const count = await readBlock(file, block, at);
    if (count === 0) return hash.digest('hex');
    if (count === null) return null;
    hash.update(block.subarray(0, count));
    at += count;
  }
  return null;
}

const readBlock = (file: number, block: Buffer, at: number): Promise<number | null> =>
  new Promise((resolve) =>
    read(file, block, 0, blockBytes, at, (error, count) => resolve(error === null ? count : null)),
  );

type Files = ReadonlyMap<TrustedFile, number>;

/** Null when the request has another shape than what was judged. */
function inPlace(request: SpawnRequest, files: Files, names: Names): SpawnRequest | null {
  const { trusted = [] } = request;
  const byDescriptor = process.platform === 'linux' && trusted.every(({ binary }) => binary.sha256 !== null);
  if (!byDescriptor || trusted.length === 0) return request;
  const [, line] = request.args;
  if (request.file === '/bin/sh' && request.args[0] === '-c' && request.identity === null) {
    // A line starts its programs later and by itself: it finds the descriptors in this process, which keeps them open.
    const rebuilt = rebuiltWith(line ?? '', trusted, (start, written) => {
      if (written !== start.program && realOf(written) !== start.program) return null;
      const name = basename(start.argv0 ?? written);
      const file = `/proc/${process.pid}/fd/${files.get(start.binary)}`;
      return name === basename(start.binary.real) ? file : names.link(name, file);
    });
    return rebuilt === null ? null : { ...request, args: ['-c', rebuilt] };
  }
  const [start, ...more] = trusted;
  if (start === undefined || more.length > 0 || start.program !== request.file) return null;
  return {
    ...request,
    // The child still has the descriptor when it names it, and loses it by being started.
    file: `/proc/self/fd/${files.get(start.binary)}`,
    argv0: start.argv0 ?? request.argv0,
    args: [...start.before, ...request.args],
  };
}

/** Null for what does not exist. */
function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

type Names = ReturnType<typeof createNames>;

/** Names for descriptors, in a directory of our own: many programs are what they are called, and a line cannot say it. */
function createNames() {
  let directory: string | null = null;
  let count = 0;
  return {
    /** Null where none can be made: then the line is not started. */
    link(name: string, target: string): string | null {
      try {
        directory ??= mkdtempSync(join(tmpdir(), 'reins-'));
        const place = join(directory, String(count));
        count += 1;
        mkdirSync(place);
        symlinkSync(target, join(place, name));
        return join(place, name);
      } catch {
        return null;
      }
    },
    remove(): void {
      if (directory !== null) rmSync(directory, { recursive: true, force: true });
    },
  };
}
