import { array, boolean, enums, nullable, number, object, optional, string } from 'superstruct';
import { returns, route, shown } from '../operation.ts';

const facts = { expires_at: string(), user_id: string(), username: string(), must_change_password: boolean() };
/** A browser gets a cookie instead. */
const token = { token: optional(string()), token_type: optional(string()) };
/** `username` is taken in the place of `email`. */
const credentials = object({ email: optional(string()), username: optional(string()), password: string() });

/**
 * The login of the operator (09 §4.8). These exist on a server alone, which answers them itself because they set cookies;
 * here is what its clients and its description know of them.
 */
export const accountRoutes = {
  login: route('POST', '/api/login', 'public', credentials, shown(object({ ...facts, ...token }))),
  loginHere: route('POST', '/api/ui/login', 'public', credentials, shown(object(facts))),
  openLink: route('POST', '/api/auth/link', 'public', object({ code: string() }), shown(object(facts))),
  logout: route('POST', '/api/auth/logout', 'public', object({}), returns<null>(), { status: 204 }),
  getLoginStatus: route(
    'GET',
    '/api/auth/status',
    'public',
    object({}),
    shown(object({ authenticated: boolean(), must_change_password: boolean(), default_login_in_force: boolean() })),
  ),
  getMe: route(
    'GET',
    '/api/auth/me',
    'bootstrap',
    object({}),
    shown(
      object({
        user_id: string(),
        username: string(),
        auth_method: enums(['pwd', 'link', 'default', 'token']),
        expires_at: nullable(string()),
        session_id: nullable(string()),
        must_change_password: boolean(),
        password_set: boolean(),
        recent_until: nullable(string()),
      }),
    ),
  ),
  refreshLogin: route('POST', '/api/auth/refresh', 'any', object({}), shown(object({ ...facts, ...token }))),
  /** Proves with the password, or a code, that the operator is there. */
  proveLogin: route(
    'POST',
    '/api/auth/verify',
    'any',
    object({ password: optional(string()), code: optional(string()) }),
    shown(object({ recent_until: string() })),
  ),
  changePassword: route(
    'POST',
    '/api/auth/change-password',
    'bootstrap',
    object({ current_password: string(), new_password: string() }),
    shown(object({ updated_at: string(), expires_at: string(), sessions_revoked: number(), ...token })),
  ),
  listLogins: route(
    'GET',
    '/api/auth/sessions',
    'any',
    object({}),
    shown(
      object({
        items: array(
          object({
            id: string(),
            auth_method: enums(['pwd', 'link', 'default']),
            created_at: string(),
            last_seen_at: string(),
            expires_at: string(),
            peer: string(),
            user_agent: string(),
            current: boolean(),
          }),
        ),
      }),
    ),
  ),
  endLogin: route('DELETE', '/api/auth/sessions/{id}', 'any', object({ id: string() }), returns<null>(), {
    status: 204,
  }),
  /** All but the one that asks. */
  endOtherLogins: route('DELETE', '/api/auth/sessions', 'any', object({}), shown(object({ revoked: number() }))),
} as const;
