import type { ServerGround } from '../app-options.ts';
import { RuntimeError } from '../schema/errors.ts';
import { parseAddress } from './address.ts';
import { makeLink } from './links.ts';
import { createOperator } from './operator.ts';
import { userName } from './operator-name.ts';
import { normalise, weaknessOf } from './passwords.ts';
import { ask, localHost, ownAddresses, runningAt } from './running.ts';
import type { SecretSources } from './signing.ts';

const dayMs = 86_400_000;
const note = { by: 'operator:cli' } as const;

export type CommandDeps = {
  readonly ground: ServerGround;
  readonly secrets: SecretSources;
  readonly now: () => number;
};

/** The credentials from the command line (09 §4.13). All act on the database; a running server sees it within a second. */
export function createBeamCommands({ ground, secrets, now }: CommandDeps) {
  const { logins } = ground;
  const operator = createOperator({ logins });
  const overridden =
    secrets.secret !== null ? 'REINS_JWT_SECRET' : secrets.secretFile !== null ? 'REINS_JWT_SECRET_FILE' : null;

  return {
    passwordIsSet: (): boolean => logins.credential() !== null,

    status: () => ({
      password_set: logins.credential() !== null,
      epoch: logins.epoch(),
      default_login_in_force: operator.isUntouched() && ground.settings().allowDefaultLogin,
      live_sessions: logins.sessions(now()).length,
      failed_logins_24h: logins.failedSince(now() - dayMs),
      token_file: ground.token.path,
      token_file_state: tokenState(ground),
      secret_source: overridden ?? 'database',
    }),

    /**
     * Stores a password and ends every login. @param current null = not asked for, which is audited as a reset
     * @throws RuntimeError invalid_current_password, weak_password, password_unchanged, password_changed_meanwhile
     */
    async setPassword(current: string | null, next: string): Promise<{ readonly sessionsRevoked: number }> {
      const expected = logins.epoch();
      const stored = logins.credential() !== null;
      if (stored && current !== null && (await operator.verify(userName, current, false)) === null) {
        throw new RuntimeError('invalid_current_password', 'The current password is wrong.');
      }
      if (current !== null && normalise(current) === normalise(next)) {
        throw new RuntimeError('password_unchanged', 'The new password is the current one.');
      }
      const weakness = weaknessOf(next);
      if (weakness !== null) throw new RuntimeError('weak_password', `The password is not taken. ${weakness}`);
      const hash = await operator.hash(next);
      const as = stored && current === null ? 'credential_reset' : 'password_changed';
      const changed = logins.setPassword({ username: userName, hash, expected, keep: null, as, note });
      if (!changed.ok) {
        throw new RuntimeError('password_changed_meanwhile', 'Somebody else has changed the password just now.');
      }
      return changed;
    },

    resetPassword: () => logins.resetPassword(note),

    /** @throws RuntimeError config_invalid under an override */
    rotateSecret() {
      if (overridden !== null) {
        throw new RuntimeError('config_invalid', `The signing secret comes from ${overridden}; change it there.`);
      }
      return logins.rotateSecret(note);
    },

    token: () => (secrets.token ?? ground.token.ensure()).trim(),
    rotateToken(): void {
      ground.token.rotate();
      logins.note('token_rotated', note);
    },

    /**
     * A login link of a running server of this database.
     * @param ports where it may listen, the first to be asked first
     * @throws RuntimeError not_found
     */
    async link(host: string, ports: readonly [number, ...number[]]): Promise<string> {
      const address = parseAddress(host === 'localhost' ? '127.0.0.1' : host);
      const own = address === null ? host : localHost(address);
      // It may have been started for another address than the one that is configured.
      const addresses = [...new Set([own, ...ownAddresses()])];
      const places = [...new Set(ports)].flatMap((port) => addresses.map((at) => ({ at, port })));
      for (const { at, port } of places) {
        const scheme = await runningAt(at, port);
        const version =
          scheme === null ? null : await ask({ scheme, host: at, port, path: '/api/version', token: this.token() });
        const instance =
          typeof version === 'object' && version !== null && 'instance_id' in version ? version.instance_id : null;
        if (instance === logins.instanceId) return makeLink(logins, `${scheme}://${inUrl(at)}:${port}`, now());
      }
      const name = inUrl(own);
      throw new RuntimeError('not_found', `No server of this database runs on ${name}:${ports[0]}.`, {
        hints: ['reins beam', 'reins beam link --port <port>'],
      });
    },

    sessions: () =>
      logins.sessions(now()).map((row) => ({
        id: row.id,
        auth_method: row.amr,
        created_at: new Date(row.created_at).toISOString(),
        last_seen_at: new Date(row.last_seen_at).toISOString(),
        expires_at: new Date(row.expires_at).toISOString(),
        peer: row.peer,
        user_agent: row.user_agent,
      })),
    /** @throws RuntimeError not_found */
    revoke(id: string): number {
      const revoked = logins.revokeSession(id, note);
      if (revoked === 0)
        throw new RuntimeError('not_found', `There is no live login ${id}.`, { hints: ['reins beam sessions list'] });
      return revoked;
    },
    revokeAll: () => logins.revokeSessions(null, note),
  };
}

const inUrl = (address: string): string => (address.includes(':') ? `[${address}]` : address);

function tokenState(ground: ServerGround): 'absent' | 'private' | 'refused' {
  try {
    return ground.token.read() === null ? 'absent' : 'private';
  } catch {
    return 'refused';
  }
}
