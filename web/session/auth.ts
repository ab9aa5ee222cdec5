import { refusalOf } from '../../src/client/http-refusal.ts';
import { fetchAnswered } from '../data/unanswered.ts';

/** What a login answers, and what the page needs of it. */
export type Login = { readonly must_change_password: boolean };
export type AuthStatus = Login & { readonly authenticated: boolean; readonly default_login_in_force: boolean };
type Me = {
  readonly username: string;
  readonly auth_method: 'pwd' | 'link' | 'default' | 'token';
  readonly expires_at: string;
  readonly session_id: string | null;
  readonly must_change_password: boolean;
  readonly password_set: boolean;
  readonly recent_until: string | null;
};

type LoginSession = {
  readonly id: string;
  readonly auth_method: 'pwd' | 'link' | 'default';
  readonly created_at: string;
  readonly last_seen_at: string;
  readonly expires_at: string;
  readonly peer: string;
  readonly user_agent: string;
  readonly current: boolean;
};

/**
 * The routes of a login, which set cookies and so are no entries of the table of operations (09 §4.8).
 * @throws RuntimeError with the code of the reply; TypeError when no server is there
 */
export const auth = {
  status: () => get<AuthStatus>('/api/auth/status'),
  me: () => get<Me>('/api/auth/me'),
  login: (email: string, password: string) => post<Login>('/api/ui/login', { email, password }),
  link: (code: string) => post<Login>('/api/auth/link', { code }),
  verify: (password: string) => post<{ readonly recent_until: string }>('/api/auth/verify', { password }),
  /** The old cookie is dead at once, so the reply that brings the new one is taken even where the page is being left. */
  refresh: () => ask<Login>('/api/auth/refresh', { method: 'POST', keepalive: true }),
  changePassword: (current: string, next: string) =>
    post<{ readonly sessions_revoked: number }>('/api/auth/change-password', {
      current_password: current,
      new_password: next,
    }),
  sessions: () => get<{ readonly items: readonly LoginSession[] }>('/api/auth/sessions'),
  revoke: (id: string) => remove<null>(`/api/auth/sessions/${encodeURIComponent(id)}`),
  /** All but this one. */
  revokeOthers: () => remove<{ readonly revoked: number }>('/api/auth/sessions'),
  logout: () => post<null>('/api/auth/logout'),
} as const;

const get = <T>(path: string): Promise<T> => ask<T>(path, { method: 'GET' });

const remove = <T>(path: string): Promise<T> => ask<T>(path, { method: 'DELETE' });

const post = <T>(path: string, body?: unknown): Promise<T> =>
  ask<T>(path, {
    method: 'POST',
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });

async function ask<T>(path: string, init: RequestInit): Promise<T> {
  const response = await fetchAnswered(path, init);
  if (!response.ok) throw await refusalOf(response);
  // Our own server's reply to this route; `T` is what the chapter says of it.
  return (response.status === 204 ? null : await response.json()) as T;
}
