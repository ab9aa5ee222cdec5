import { randomBytes } from 'node:crypto';
import type { AuditType } from '../schema/audit-types.ts';
import type { Credential, LoginNote, LoginRecords, LoginSession } from '../schema/login.ts';
import type { Audit } from './audit.ts';
import { createLoginAttempts } from './login-attempts.ts';
import type { Sql } from './sql.ts';

const maxSessions = 100;
const dayMs = 86_400_000;
const keptSessionsMs = 30 * dayMs;

export type LoginsDeps = {
  readonly sql: Sql;
  readonly audit: Audit;
  readonly tenant: string;
  readonly now: () => number;
  /** Milliseconds that no setting of the clock changes; those of this process unless given. */
  readonly elapsed?: () => number;
};

/** Whether a password is stored: without one the default one works from this machine (09 §4.4). */
export const hasPassword = (sql: Sql): boolean => sql.get('SELECT 1 FROM auth_credential LIMIT 1') !== undefined;

/** The credentials of this database: one password, its sessions, codes and attempts (11 §2.6). */
export function createLogins(deps: LoginsDeps): LoginRecords {
  const { sql, now } = deps;
  const note = (type: AuditType, body: LoginNote): void =>
    deps.audit.append({ type, tenant_id: deps.tenant, run_id: null, session_id: null, body }, now());
  const meta = (key: string): string | undefined =>
    sql.get<{ value: string }>('SELECT value FROM meta WHERE key = ?', key)?.value;
  const epoch = (): number => Number(meta('credential_epoch') ?? 0);
  const setEpoch = (value: number): void =>
    void sql.run("UPDATE meta SET value = ? WHERE key = 'credential_epoch'", String(value));
  const credential = (): Credential | null =>
    sql.get<Credential>(
      'SELECT username, password_hash AS hash, updated_at AS updatedAt FROM auth_credential WHERE id = 1',
    ) ?? null;
  const storedSecret = () => sql.get<{ bytes: Uint8Array }>('SELECT secret AS bytes FROM auth_secret WHERE id = 1');
  /** @returns how many were live */
  const revoke = (where: string, ...params: readonly (string | number)[]): number =>
    sql.run(
      `UPDATE auth_sessions SET revoked_at = ? WHERE revoked_at IS NULL AND expires_at > ? AND ${where}`,
      now(),
      now(),
      ...params,
    );
  const replaceSecret = (rotatedAt: number | null): void =>
    void sql.run(
      `INSERT INTO auth_secret (id, secret, created_at, rotated_at) VALUES (1, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET secret = excluded.secret, rotated_at = excluded.rotated_at`,
      randomBytes(32),
      now(),
      rotatedAt,
    );

  /** Durable, and read anew afterwards. */
  const write = <T>(body: () => T): T => {
    known.clear();
    try {
      return sql.write('full', body);
    } finally {
      known.clear();
    }
  };
  /** What a request asks for, kept until any connection has committed: looking at that is a third of looking it up. */
  const known = new Map<string, unknown>();
  let version = sql.dataVersion();
  let looked = false;
  const kept = <T>(key: string, read: () => T): T => {
    if (!looked) {
      const now = sql.dataVersion();
      if (now !== version) known.clear();
      version = now;
      // Requests that have arrived together are answered from one state: those of one turn of the event loop.
      looked = true;
      setImmediate(() => {
        looked = false;
      });
    }
    // What was put under a key was read for it.
    if (known.has(key)) return known.get(key) as T;
    const value = read();
    known.set(key, value);
    return value;
  };

  return {
    instanceId: meta('instance_id') ?? '',
    credential: () => kept('credential', credential),
    epoch: () => kept('epoch', epoch),

    secret() {
      const found = kept('secret', storedSecret);
      if (found !== undefined) return found;
      return write(() => {
        const other = storedSecret();
        if (other !== undefined) return other;
        replaceSecret(null);
        // A database of before there was a server began to count at 1; nobody can have set a password in it.
        if (credential() === null) setEpoch(0);
        // It was just written.
        return storedSecret() as { bytes: Uint8Array };
      });
    },

    rotateSecret: (body) =>
      write(() => {
        replaceSecret(now());
        const sessionsRevoked = revoke('1');
        note('secret_rotated', { ...body, sessions_revoked: sessionsRevoked });
        return { sessionsRevoked };
      }),

    setPassword: ({ username, hash, expected, keep, as, note: body }) =>
      write(() => {
        if (epoch() !== expected) return { ok: false };
        const updatedAt = now();
        sql.run(
          `INSERT INTO auth_credential (id, username, password_hash, updated_at) VALUES (1, ?, ?, ?)
           ON CONFLICT (id) DO UPDATE SET password_hash = excluded.password_hash, updated_at = excluded.updated_at`,
          username,
          hash,
          updatedAt,
        );
        setEpoch(expected + 1);
        const sessionsRevoked = keep === null ? revoke('1') : revoke('id <> ?', keep.id);
        if (keep !== null) {
          sql.run(
            "UPDATE auth_sessions SET jti = ?, epoch = ?, amr = 'pwd', proof_at = ?, expires_at = ? WHERE id = ?",
            keep.jti,
            expected + 1,
            updatedAt,
            keep.expiresAt,
            keep.id,
          );
        }
        sql.run('DELETE FROM auth_codes');
        note(as, { ...body, sessions_revoked: sessionsRevoked });
        return { ok: true, updatedAt, sessionsRevoked, epoch: expected + 1 };
      }),

    rehash(from, to) {
      write(() => sql.run('UPDATE auth_credential SET password_hash = ? WHERE password_hash = ?', to, from));
    },

    resetPassword: (body) =>
      write(() => {
        sql.run('DELETE FROM auth_credential');
        setEpoch(0);
        replaceSecret(now());
        const sessionsRevoked = revoke('1');
        sql.run('DELETE FROM auth_codes');
        sql.run('DELETE FROM auth_attempts');
        note('credential_reset', { ...body, sessions_revoked: sessionsRevoked });
        return { sessionsRevoked };
      }),

    addSession(session, body) {
      write(() => {
        sql.run(
          `INSERT INTO auth_sessions
             (id, jti, epoch, amr, peer, user_agent, created_at, last_seen_at, proof_at, expires_at, ends_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          session.id,
          session.jti,
          session.epoch,
          session.amr,
          session.peer,
          session.user_agent,
          session.created_at,
          session.created_at,
          session.proof_at,
          session.expires_at,
          session.ends_at,
        );
        const newest = `SELECT id FROM auth_sessions WHERE revoked_at IS NULL AND expires_at > ?
          ORDER BY created_at DESC, rowid DESC LIMIT ?`;
        revoke(`id NOT IN (${newest})`, now(), maxSessions);
        note('login', body);
      });
    },

    session: (id) =>
      kept(`session ${id}`, () => sql.get<LoginSession>('SELECT * FROM auth_sessions WHERE id = ?', id) ?? null),

    sessions: (at) =>
      sql.all<LoginSession>(
        'SELECT * FROM auth_sessions WHERE revoked_at IS NULL AND expires_at > ? ORDER BY created_at DESC, rowid DESC',
        at,
      ),

    touchSession(id, at) {
      sql.writeNow(() => void sql.run('UPDATE auth_sessions SET last_seen_at = ? WHERE id = ?', at, id));
      known.clear();
    },

    renewSession: (id, from, to) =>
      write(() => {
        const change =
          'UPDATE auth_sessions SET jti = ?, expires_at = ? WHERE id = ? AND jti = ? AND revoked_at IS NULL';
        return sql.run(change, to.jti, to.expiresAt, id, from) === 1;
      }),

    proveSession(id, at) {
      write(() => sql.run('UPDATE auth_sessions SET proof_at = ? WHERE id = ?', at, id));
    },

    revokeSession: (id, body) =>
      write(() => {
        const revoked = revoke('id = ?', id);
        if (revoked > 0) note('session_revoked', { ...body, sessions_revoked: revoked });
        return revoked;
      }),

    revokeSessions: (except, body) =>
      write(() => {
        const revoked = except === null ? revoke('1') : revoke('id <> ?', except);
        if (revoked > 0) note('session_revoked', { ...body, sessions_revoked: revoked });
        return revoked;
      }),

    addCode(sha256, expiresAt) {
      write(() => {
        sql.run(
          'INSERT INTO auth_codes (sha256, tenant_id, created_at, expires_at) VALUES (?, ?, ?, ?)',
          sha256,
          deps.tenant,
          now(),
          expiresAt,
        );
      });
    },

    redeemCode: (sha256) =>
      write(() => {
        const use =
          'UPDATE auth_codes SET used_at = ? WHERE sha256 = ? AND tenant_id = ? AND used_at IS NULL AND expires_at > ?';
        return sql.run(use, now(), sha256, deps.tenant, now()) === 1;
      }),

    ...createLoginAttempts(sql, now, deps.elapsed ?? (() => Math.floor(performance.now()))),

    prune() {
      write(() => {
        const at = now();
        sql.run('DELETE FROM auth_sessions WHERE coalesce(revoked_at, expires_at) < ?', at - keptSessionsMs);
        sql.run('DELETE FROM auth_codes WHERE expires_at < ?', at - dayMs);
        sql.run('DELETE FROM auth_attempts WHERE updated_at < ?', at - dayMs);
      });
    },

    note(type, body) {
      sql.write('normal', () => note(type, body));
    },

    failedSince: (time) =>
      sql.get<{ n: number }>("SELECT count(*) AS n FROM audit WHERE type = 'login_failed' AND at >= ?", time)?.n ?? 0,
  };
}
