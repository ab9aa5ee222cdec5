import { createHash } from 'node:crypto';
import { pause } from '../text/pause.ts';
import { ownerIsDead } from './owner.ts';
import type { Sql } from './sql.ts';

type ReadMark = {
  readonly sha256: string;
  readonly full: boolean;
  readonly ranges: readonly (readonly [number, number])[];
};

/** Texts as they governed or were executed, each under the digest of its bytes. */
type PolicySnapshot = {
  readonly sha256: string;
  readonly name: string;
  readonly source: string;
  readonly text: string;
};
type ChainSnapshot = {
  readonly sha256: string;
  readonly id: string;
  readonly path: string | null;
  readonly text: string;
};

export type DocumentDeps = {
  readonly now: () => number;
  /** Who takes locks here: `processOwner(surface)`. */
  readonly owner: string;
};

/** How long a read mark counts (05 §4.5.1). */
const markMs = 24 * 60 * 60 * 1000;
/** A lock not given back by then is free, also when its owner cannot be judged. */
const lockMs = 60_000;
/** How long a writer waits for its turn (05 §4.6.4). */
const lockWaitMs = 10_000;
const lockPollMs = 25;

/** Texts that runs used, blobs, read marks and the turns of file writers (11 §2.4). */
export function createDocuments(sql: Sql, deps: DocumentDeps) {
  let locks = 0;

  /** One try. An owner that is gone, or a lock past its time, is taken over. */
  const tryLock = (path: string, owner: string): boolean =>
    sql.write('normal', () => {
      const now = deps.now();
      const held = sql.get<{ owner: string; until: number }>(
        'SELECT owner, until FROM path_locks WHERE path = ?',
        path,
      );
      if (held !== undefined && held.until > now && !ownerIsDead(held.owner)) return false;
      sql.run('INSERT OR REPLACE INTO path_locks (path, owner, until) VALUES (?, ?, ?)', path, owner, now + lockMs);
      return true;
    });

  return {
    /** Keeps the text of a policy under its hash; the first use stays noted. */
    putPolicySnapshot({ sha256, name, source, text }: PolicySnapshot, now: number): void {
      sql.write('normal', () =>
        sql.run(
          'INSERT OR IGNORE INTO policy_snapshots (sha256, name, source, text, first_used_at) VALUES (?, ?, ?, ?, ?)',
          sha256,
          name,
          source,
          text,
          now,
        ),
      );
    },

    policyText(sha256: string): string | null {
      return sql.get<{ text: string }>('SELECT text FROM policy_snapshots WHERE sha256 = ?', sha256)?.text ?? null;
    },

    /** Keeps the text that a run executes, also after its file has changed (04 §2.5). */
    putChainSnapshot({ sha256, id, path, text }: ChainSnapshot, now: number): void {
      sql.write('normal', () =>
        sql.run(
          'INSERT OR IGNORE INTO chain_snapshots (sha256, id, path, text, first_used_at) VALUES (?, ?, ?, ?, ?)',
          sha256,
          id,
          path,
          text,
          now,
        ),
      );
    },

    chainText(sha256: string): string | null {
      return sql.get<{ text: string }>('SELECT text FROM chain_snapshots WHERE sha256 = ?', sha256)?.text ?? null;
    },

    /** @returns the SHA-256 under which the bytes can be had again. */
    putBlob(bytes: Uint8Array, now: number): string {
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      sql.write('normal', () =>
        sql.run('INSERT OR IGNORE INTO blobs (sha256, bytes, created_at) VALUES (?, ?, ?)', sha256, bytes, now),
      );
      return sha256;
    },

    blob(sha256: string): Uint8Array | null {
      return sql.get<{ bytes: Uint8Array }>('SELECT bytes FROM blobs WHERE sha256 = ?', sha256)?.bytes ?? null;
    },

    /** What a session, or a run without one, has read (05 §4.5). */
    marks: {
      get(scope: string, path: string): ReadMark | null {
        const row = sql.get<{ sha256: string; full: number; ranges: string }>(
          'SELECT sha256, "full" AS "full", ranges FROM read_marks WHERE scope = ? AND path = ? AND at > ?',
          scope,
          path,
          deps.now() - markMs,
        );
        if (row === undefined) return null;
        // Written by `put` below.
        const ranges = JSON.parse(row.ranges) as ReadMark['ranges'];
        return { sha256: row.sha256, full: row.full === 1, ranges };
      },
      put(scope: string, path: string, mark: ReadMark): void {
        sql.write('normal', () =>
          sql.run(
            'INSERT OR REPLACE INTO read_marks (scope, path, sha256, "full", ranges, at) VALUES (?, ?, ?, ?, ?, ?)',
            scope,
            path,
            mark.sha256,
            mark.full ? 1 : 0,
            JSON.stringify(mark.ranges),
            deps.now(),
          ),
        );
      },
    },

    /**
     * Takes the turn of a writer of this real path, across processes and within this one (05 §4.6.4).
     * @returns the function that gives it back; null after 10 s, or when the signal aborts
     */
    async lockPath(path: string, signal: AbortSignal): Promise<(() => void) | null> {
      locks += 1;
      const owner = `${deps.owner} lock-${locks}`;
      const deadline = deps.now() + lockWaitMs;
      while (!signal.aborted) {
        if (tryLock(path, owner)) {
          return () => {
            sql.write('normal', () => sql.run('DELETE FROM path_locks WHERE path = ? AND owner = ?', path, owner));
          };
        }
        if (deps.now() >= deadline) return null;
        await pause(lockPollMs, signal);
      }
      return null;
    },
  };
}

export type Documents = ReturnType<typeof createDocuments>;
