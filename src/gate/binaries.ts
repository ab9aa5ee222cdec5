import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { headBytes } from '../policy/interpreter.ts';
import type { BinaryFact, FileIdentity } from '../schema/policy.ts';
import type { HashResult } from '../schema/protocol.ts';
import { codeOf, messageOf } from '../text/thrown.ts';

/** Digests that are kept (02 §10.5), and the age from which the times of a file tell its contents apart. */
const maxDigests = 1024;
const youngMs = 2_000;

export type BinariesDeps = {
  /** Hashes a file in a thread. */
  readonly hash: (path: string) => Promise<HashResult>;
  readonly now: () => number;
};

/** One call's view: every file is looked at once, so that what was judged is what is started. */
type BinaryView = {
  look(real: string, hashed: boolean): BinaryFact;
  /** Takes the digests that were asked for and are not there. @returns false when there were none. Never rejects. */
  hashAsked(): Promise<boolean>;
};

/**
 * Digests of program files (02 §10.5), kept for the whole process: a digest counts only while device, inode, size, mtime
 * and ctime are what they were when it was taken, so a swap that keeps size and mtime is seen by its ctime.
 */
export function createBinaries(deps: BinariesDeps) {
  const digests = new Map<string, string>();

  /** A use makes a digest the youngest of its map. */
  const kept = (key: string): string | undefined => {
    const sha256 = digests.get(key);
    if (sha256 === undefined) return undefined;
    digests.delete(key);
    digests.set(key, sha256);
    return sha256;
  };
  const keep = (key: string, sha256: string): void => {
    digests.set(key, sha256);
    const [oldest] = digests.keys();
    if (digests.size > maxDigests && oldest !== undefined) digests.delete(oldest);
  };

  /** A content whose ctime is this close to now, or ahead of it, may be followed by another with the same times. */
  const isYoung = ({ ctime_ns }: FileIdentity): boolean => deps.now() - Number(BigInt(ctime_ns) / 1_000_000n) < youngMs;

  const hashNow = async (real: string): Promise<BinaryFact> => {
    // Judged before the bytes are read: a file that changes afterwards is younger than this.
    const before = readHead(real);
    const young = before.state !== 'read' || isYoung(before.identity);
    const hashed = await deps.hash(real).catch((error: unknown): HashResult => {
      return { kind: 'unreadable', message: messageOf(error) };
    });
    if (before.state !== 'read') return before;
    if (hashed.kind === 'unreadable') return { state: 'unreadable', message: hashed.message };
    const key = keyOf(before.identity);
    if (keyOf(hashed) !== key) return { state: 'unreadable', message: `${real} changed while it was judged` };
    if (!young) keep(key, hashed.sha256);
    return { ...before, sha256: hashed.sha256, young };
  };

  return {
    /** Digest and identity of one file, for a policy that is to name it. Never rejects. */
    read: hashNow,

    view(): BinaryView {
      const known = new Map<string, BinaryFact>();
      const asked = new Set<string>();
      return {
        look(real, hashed) {
          const old = known.get(real);
          if (old !== undefined && (!hashed || old.state !== 'read' || old.sha256 !== null)) return old;
          const fact = old ?? readHead(real);
          known.set(real, fact);
          if (!hashed || fact.state !== 'read') return fact;
          const sha256 = kept(keyOf(fact.identity));
          if (sha256 === undefined) {
            asked.add(real);
            return { state: 'unhashed' };
          }
          const whole = { ...fact, sha256 };
          known.set(real, whole);
          return whole;
        },
        async hashAsked() {
          const files = [...asked];
          asked.clear();
          const facts = await Promise.all(files.map(hashNow));
          for (const [index, file] of files.entries()) {
            const fact = facts[index];
            if (fact !== undefined) known.set(file, fact);
          }
          return files.length > 0;
        },
      };
    },
  };
}

export type Binaries = ReturnType<typeof createBinaries>;

const keyOf = ({ dev, ino, size, mtime_ns, ctime_ns }: FileIdentity): string =>
  [dev, ino, size, mtime_ns, ctime_ns].join(':');

export const identityFact = (found: BigIntStats): FileIdentity => ({
  dev: String(found.dev),
  ino: String(found.ino),
  size: String(found.size),
  mtime_ns: String(found.mtimeNs),
  ctime_ns: String(found.ctimeNs),
});

/** By the mode of a file or directory. */
export const othersMayWrite = (mode: bigint): boolean => (mode & 0o002n) !== 0n;

/** The beginning of a regular file and which file that was, without a digest. Never throws, never waits on a FIFO. */
function readHead(real: string): BinaryFact {
  let file: number;
  try {
    file = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return unreadable(error);
  }
  try {
    const found = fstatSync(file, { bigint: true });
    if (!found.isFile()) return { state: 'unreadable', message: 'it is not a regular file' };
    const head = Buffer.alloc(headBytes);
    const count = readSync(file, head, 0, headBytes, 0);
    const identity = identityFact(found);
    if (keyOf(identityFact(fstatSync(file, { bigint: true }))) !== keyOf(identity)) {
      return { state: 'unreadable', message: 'it changed while it was read' };
    }
    return {
      state: 'read',
      identity,
      others_write: othersMayWrite(found.mode),
      head: head.toString('latin1', 0, count),
      sha256: null,
      young: false,
    };
  } catch (error) {
    return unreadable(error);
  } finally {
    closeSync(file);
  }
}

const unreadable = (error: unknown): BinaryFact => ({
  state: 'unreadable',
  message: codeOf(error) ?? messageOf(error),
});
