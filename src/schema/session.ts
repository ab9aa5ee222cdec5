import { array, boolean, enums, type Infer, nullable, number, string, type, unknown } from 'superstruct';

/** Session as every surface reads it (07 §2.10). Times are RFC 3339. */
export const Session = type({
  id: string(),
  name: string(),
  active: boolean(),
  message_count: number(),
  created_at: string(),
  last_message_at: nullable(string()),
  /** First 80 characters of the newest user message. */
  preview: string(),
  forked_from: nullable(string()),
  active_run_id: nullable(string()),
  suspended_run_id: nullable(string()),
});
export type Session = Infer<typeof Session>;

/** A stored message as people and programs see it (07 §2.10). */
export const SessionMessage = type({
  seq: number(),
  id: string(),
  role: enums(['system', 'user', 'assistant', 'tool']),
  kind: enums(['message', 'summary', 'note']),
  status: enums(['complete', 'partial', 'failed']),
  text: string(),
  thinking: nullable(string()),
  tool_calls: array(type({ id: string(), name: string(), arguments: string() })),
  tool_call_id: nullable(string()),
  run_id: nullable(string()),
  error: unknown(),
  created_at: string(),
});
export type SessionMessage = Infer<typeof SessionMessage>;

export const SessionView = type({ session: Session, total: number(), messages: array(SessionMessage) });
export type SessionView = Infer<typeof SessionView>;
