import type { RunStarted } from './run.ts';
import { array, boolean, enums, type Infer, nullable, number, optional, string, type, unknown } from 'superstruct';

/** A passage of a message. `matches` are the places of what was looked for in it, in UTF-16 units. */
const Passage = type({ snippet: string(), matches: array(type({ start: number(), end: number() })) });
export type Passage = Infer<typeof Passage>;

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
  /** Where something was looked for and said in it. */
  said: optional(Passage),
});
export type Session = Infer<typeof Session>;

/** A session as a list of names shows it. */
export type SessionName = {
  readonly name: string;
  readonly active: boolean;
  readonly message_count: number;
  /** Of its last message, or when it was made. */
  readonly at: string;
};

/** What is on record of a call: who let it through or did not, and how long it took. */
export const CallRecord = type({
  /** The tool that it was, whatever the model has called it. */
  tools: string(),
  tool: string(),
  /** Null for a call that was refused before anybody decided. */
  decision: nullable(
    type({
      action: enums(['allow', 'approve', 'deny']),
      /** From 0; null where no rule matched. */
      matched_rule: nullable(number()),
      reason: string(),
      detail: nullable(string()),
      policy: string(),
    }),
  ),
  ask_id: nullable(string()),
  /** In the words of its event (03 §13); null while the ask is open, or where nobody was asked. */
  verdict: nullable(type({ verdict: string(), treat_as: optional(string()), by: string(), at: string() })),
  /** `started`, and `unknown` where its run was stopped meanwhile: without a result nobody knows what became of it. */
  state: enums(['planned', 'started', 'done', 'failed', 'unknown', 'skipped']),
  /** Null for a call that did not run to its end. */
  duration_ms: nullable(number()),
});
export type CallRecord = Infer<typeof CallRecord>;

/** A stored message as people and programs see it (07 §2.10). */
export const SessionMessage = type({
  seq: number(),
  id: string(),
  role: enums(['system', 'user', 'assistant', 'tool']),
  kind: enums(['message', 'summary', 'note']),
  status: enums(['complete', 'partial', 'failed']),
  text: string(),
  /** What was sent along; absent where nothing was. The bytes are in no view. */
  images: optional(array(type({ name: nullable(string()), mime_type: string(), bytes: nullable(number()) }))),
  thinking: nullable(string()),
  /** `record` is absent where nothing is on record, or not any more. */
  tool_calls: array(type({ id: string(), name: string(), arguments: string(), record: optional(CallRecord) })),
  tool_call_id: nullable(string()),
  run_id: nullable(string()),
  error: unknown(),
  created_at: string(),
});
export type SessionMessage = Infer<typeof SessionMessage>;

export const SessionView = type({
  session: Session,
  total: number(),
  messages: array(SessionMessage),
  /** The summary that requests begin with, in the place of all before and the messages up to `covers_to`; null = none. */
  summary: nullable(type({ seq: number(), covers_to: number() })),
});
export type SessionView = Infer<typeof SessionView>;

/** A new session made of another one's messages (07 §2.8). */
export const SessionFork = type({
  session: Session,
  /** Name of the session that was copied. */
  from: string(),
  messages: number(),
  /** The cut moved to the end of a unit; null when it stands where it was wanted. */
  moved_back: nullable(type({ wanted: number(), cut: number() })),
});
export type SessionFork = Infer<typeof SessionFork>;

/** A run that sums up older messages of a session (07 §2.9). */
export type CompactionStarted = RunStarted & {
  readonly compacted: {
    /** Its name. */
    readonly session: string;
    /** Messages that the summary replaces, beside a former summary. */
    readonly messages: number;
    /** `seq` of the last of them. */
    readonly covers_to: number;
  };
};

/** A turn whose process is gone, or that was stopped (07 §2.7). */
export type InterruptedTurn = {
  readonly session: string;
  readonly run_id: string;
  /** Calls that have started and of which nobody knows whether they took effect, as `<tools>.<tool>`. */
  readonly unknown: readonly string[];
};

/** A run with whose end a copy is made that begins with a summary (07 §2.8). */
export type SummaryForkStarted = RunStarted & {
  readonly fork: {
    /** Id of the copy. */
    readonly session_id: string;
    readonly from: string;
    /** Messages that the summary replaces. */
    readonly summarised: number;
    readonly moved_back: SessionFork['moved_back'];
  };
};

/** A part of a session, whole messages in order. */
export const SessionPage = type({
  session: Session,
  messages: array(SessionMessage),
  /** Where the next page begins; null behind the last message. */
  next: nullable(number()),
});
export type SessionPage = Infer<typeof SessionPage>;

/** A message that was found. */
export const MessageHit = type({
  session: string(),
  session_id: string(),
  seq: number(),
  id: string(),
  role: enums(['system', 'user', 'assistant', 'tool']),
  kind: enums(['message', 'summary']),
  run_id: nullable(string()),
  created_at: string(),
  ...Passage.schema,
});
export type MessageHit = Infer<typeof MessageHit>;

export const SearchResult = type({
  hits: array(MessageHit),
  total: number(),
  /** False when more match: the newest `total` were ranked. */
  complete: boolean(),
});
export type SearchResult = Infer<typeof SearchResult>;

/** The chain of a run that sums up a session (07 §2.9). */
export const compactChainId = 'chain-compact';
