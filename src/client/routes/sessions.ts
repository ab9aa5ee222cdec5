import { array, boolean, enums, type Infer, nullable, object, optional, size, string, type, union } from 'superstruct';
import { Session, SessionMessage } from '../../schema/session.ts';
import { whole } from '../../schema/shape.ts';
import { count, flag, page, text } from '../fields.ts';
import { masked, returns, route, shown } from '../operation.ts';

const named = object({ session: string() });
const sessions = object({ items: array(Session), next_cursor: nullable(string()) });
const messages = object({ items: array(SessionMessage), next_cursor: nullable(string()) });
/** The answer to what starts a run. */
export const Accepted = object({ run_id: string(), events: string() });
const Started = object({ run_id: string() });
const keep = optional(count(1, 100_000));
/** A file to be saved, in pieces as they come: reading them fails where the file is not whole. */
export const Attachment = object({
  file: string(),
  content_type: string(),
  pieces: whole<AsyncIterable<string>>(),
});
export type Attachment = Infer<typeof Attachment>;

/** What a run may be told beside its input; each names something that the server knows (09 §6.3). */
export const runOptions = {
  model: optional(string()),
  provider: optional(string()),
  policy: optional(string()),
  shell: optional(boolean()),
  allowed_dir: optional(string()),
  timeout_s: optional(count(1, 86_400)),
};

/** Chat sessions and messages (09 §6.3). */
export const sessionRoutes = {
  /** Newest activity first. With `query` those whose name has it, or that have a message with all its words. */
  pageSessions: route(
    'GET',
    '/api/sessions',
    'any',
    object({ query: optional(size(string(), 0, 256)), ...page }),
    shown(sessions),
  ),
  createSession: route('POST', '/api/sessions', 'any', object({ name: optional(string()) }), shown(Session), {
    status: 201,
    repeatable: true,
  }),
  getSession: route('GET', '/api/sessions/{session}', 'any', named, shown(Session)),
  activateSession: route('POST', '/api/sessions/{session}/activate', 'any', named, shown(Session)),
  patchSession: route(
    'PATCH',
    '/api/sessions/{session}',
    'any',
    object({ session: string(), name: string() }),
    shown(Session),
  ),
  /**
   * Copies messages 1 to `at` into a new session, which becomes active. With `summary` a run sums up all but the last `keep`
   * of them, and the copy is there and active when it has completed.
   */
  copySession: route(
    'POST',
    '/api/sessions/{session}/fork',
    'any',
    object({
      session: string(),
      name: optional(string()),
      at: optional(count(0, Number.MAX_SAFE_INTEGER)),
      summary: optional(boolean()),
      keep,
    }),
    masked(union([type({ ...Session.schema }), Started])),
    { status: { among: [201, 202], of: (made) => ('run_id' in made ? 202 : 201) }, repeatable: true },
  ),
  /** Starts the run that sums up all but the last `keep` messages (07 §2.9). */
  compactMessages: route(
    'POST',
    '/api/sessions/{session}/compact',
    'any',
    object({ session: string(), keep }),
    shown(Started),
    {
      status: 202,
      repeatable: true,
    },
  ),
  /** Cancels the suspended run of a session (07 §2.7). */
  abandonSession: route('POST', '/api/sessions/{session}/abandon', 'operator', named, shown(Session)),
  downloadSession: route(
    'GET',
    '/api/sessions/{session}/export',
    'any',
    object({ session: string(), format: optional(enums(['md', 'json'])) }),
    shown(Attachment),
    { form: 'attachment' },
  ),
  removeSession: route(
    'DELETE',
    '/api/sessions/{session}',
    'operator',
    object({ session: string(), force: optional(flag()) }),
    returns<null>(),
    { status: 204 },
  ),
  pageMessages: route(
    'GET',
    '/api/sessions/{session}/messages',
    'any',
    object({ session: string(), order: optional(enums(['asc', 'desc'])), ...page }),
    shown(messages),
  ),
  /** The message is committed before the reply; the answer comes as events of the run. */
  postMessage: route(
    'POST',
    '/api/sessions/{session}/messages',
    'any',
    object({
      session: string(),
      text: text(256 * 1024),
      trim: optional(count(0, 1_000_000)),
      chain: optional(string()),
      think: optional(enums(['auto', 'off', 'minimal', 'low', 'medium', 'high', 'xhigh'])),
      ...runOptions,
    }),
    shown(object({ run_id: string(), message_id: string(), events: string() })),
    {
      status: 202,
      repeatable: true,
      accessFor: ({ policy, shell, chain }) =>
        policy !== undefined || shell === true || chain !== undefined ? 'operator' : null,
    },
  ),
} as const;
