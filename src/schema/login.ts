/** Who may call a route (09 §4.6). */
const accessClasses = ['public', 'bootstrap', 'any', 'operator', 'recent'] as const;
export type AccessClass = (typeof accessClasses)[number];

/** How a login session began: with the password, a one-time link, or the default credentials. */
export type LoginMethod = 'pwd' | 'link' | 'default';

/** A valid credential of a request. */
export type Principal =
  | {
      readonly kind: 'session';
      /** Of the row in `auth_sessions`. */
      readonly id: string;
      readonly method: LoginMethod;
      readonly viaCookie: boolean;
      /** Milliseconds since the epoch, as all times here. */
      readonly expiresAt: number;
      /** End of the time in which guarded routes need no further proof. */
      readonly recentUntil: number;
    }
  | { readonly kind: 'token'; readonly scope: 'run' | 'full'; readonly digest: string };

/** Name of a credential in counters and stored replies; says nothing about its value. */
export const principalKey = (principal: Principal): string =>
  principal.kind === 'session' ? `session:${principal.id}` : `token:${principal.digest.slice(0, 16)}`;

/** A row of `auth_sessions`. */
export type LoginSession = {
  readonly id: string;
  /** Of the one token that is good for it. */
  readonly jti: string;
  readonly epoch: number;
  readonly amr: LoginMethod;
  readonly peer: string;
  readonly user_agent: string;
  readonly created_at: number;
  readonly last_seen_at: number;
  /** The last time that the operator proved to be there. */
  readonly proof_at: number;
  readonly expires_at: number;
  /** No refresh goes beyond it. */
  readonly ends_at: number;
  readonly revoked_at: number | null;
};

export type Credential = { readonly username: string; readonly hash: string; readonly updatedAt: number };

/** What an audit entry of a login says beside its type. */
export type LoginNote = Readonly<Record<string, string | number | boolean | null>>;

/** Outcome of a change of the password: the first of two that change the same one wins. */
export type PasswordChange =
  | { readonly ok: true; readonly updatedAt: number; readonly sessionsRevoked: number; readonly epoch: number }
  | { readonly ok: false };

/** The stored credentials of one database (11 §2.6). Every change is durable when its call returns. */
export type LoginRecords = {
  readonly instanceId: string;
  credential(): Credential | null;
  /** 0 = no password was ever stored. */
  epoch(): number;
  /** Made when it is first asked for. */
  secret(): { readonly bytes: Uint8Array };
  rotateSecret(note: LoginNote): { readonly sessionsRevoked: number };
  /**
   * Stores a hash, raises the epoch, ends every session but `keep`, deletes the one-time codes, writes the audit entry.
   * @param expected the epoch that the caller saw; another one loses
   */
  setPassword(change: {
    readonly username: string;
    readonly hash: string;
    readonly expected: number;
    readonly keep: { readonly id: string; readonly jti: string; readonly expiresAt: number } | null;
    /** `credential_reset`: nobody has given the current one. */
    readonly as: 'password_changed' | 'credential_reset';
    readonly note: LoginNote;
  }): PasswordChange;
  /** A hash of the same password at another cost. */
  rehash(from: string, to: string): void;
  /** Back to the default credentials: no hash, epoch 0, another secret, no sessions. */
  resetPassword(note: LoginNote): { readonly sessionsRevoked: number };
  /** At most 100 live ones: the oldest gives way. */
  addSession(session: Omit<LoginSession, 'last_seen_at' | 'revoked_at'>, note: LoginNote): void;
  session(id: string): LoginSession | null;
  /** Live ones, newest first. */
  sessions(now: number): readonly LoginSession[];
  /** Lost when another process is writing just now. */
  touchSession(id: string, now: number): void;
  /** Another token for the session. @returns false when the old one is no longer its own */
  renewSession(id: string, from: string, to: { readonly jti: string; readonly expiresAt: number }): boolean;
  proveSession(id: string, now: number): void;
  /** @returns how many were live */
  revokeSession(id: string, note: LoginNote): number;
  revokeSessions(except: string | null, note: LoginNote): number;
  addCode(sha256: string, expiresAt: number): void;
  /** @returns true once */
  redeemCode(sha256: string): boolean;
  /** Milliseconds until a bucket may try again; 0 = now. */
  blockedFor(bucket: string): number;
  fail(bucket: string, free: number): void;
  succeed(bucket: string): void;
  /** Removes what has been over for long (11 §2.11): sessions after 30 days, codes and attempts after one. */
  prune(): void;
  note(type: 'login' | 'login_failed' | 'token_rotated', note: LoginNote): void;
  /** Failed logins since a time. */
  failedSince(time: number): number;
};
