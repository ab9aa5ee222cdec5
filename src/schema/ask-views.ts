import { enums, nullable, number, object, string, unknown } from 'superstruct';
import { type Ask as AskRow, askKinds, type Preview, type Verdict } from './ask.ts';
import type { Evaluation } from './policy.ts';
import type { PolicyState } from './run.ts';
import { type Known, whole } from './shape.ts';

const head = {
  id: string(),
  kind: enums(askKinds),
  state: enums(['pending', 'approved', 'denied', 'answered', 'expired', 'cancelled']),
  run_id: nullable(string()),
  session_id: nullable(string()),
  /** Its name at the time of reading. */
  session_name: nullable(string()),
  mission_id: nullable(string()),
  chain_id: nullable(string()),
  task_id: nullable(string()),
  call_id: nullable(string()),
  tools: string(),
  tool: string(),
  summary: string(),
  question: nullable(whole<NonNullable<AskRow['question']>>()),
  cwd: string(),
  policy: whole<PolicyState>(),
  call_hash: string(),
  binding: string(),
  timeout_s: number(),
  on_timeout: nullable(string()),
  expires_at: nullable(string()),
  created_at: string(),
  updated_at: string(),
  resolved_at: nullable(string()),
  verdict: nullable(whole<Verdict>()),
  superseded_by: nullable(string()),
};

/** An ask as lists have it: without arguments, preview and record (09 §6.6). */
export const AskHead = object(head);
export type AskHead = Known<typeof AskHead>;

export const Ask = object({
  ...head,
  args: unknown(),
  preview: whole<Preview>(),
  record: whole<Evaluation>(),
  preimage: nullable(object({ path: string(), sha256: nullable(string()) })),
});

/** What a card shows, whichever surface draws it (03 §8). Texts are as stored: escaping is the surface's duty. */
export type AskCardData = {
  readonly id: string;
  readonly kind: AskRow['kind'];
  readonly created_at: string;
  readonly expires_at: string | null;
  /** Seconds; null without a deadline. */
  readonly expires_in: number | null;
  readonly on_timeout: string | null;
  /** The first 12 digits. */
  readonly binding: string;
  readonly headline: string;
  readonly who: {
    readonly session: string | null;
    readonly plan: string | null;
    /** Counted from 1. */
    readonly step: number | null;
    readonly run: string | null;
    readonly chain: string | null;
    readonly task: string | null;
    readonly model: string | null;
    readonly backend: string | null;
  };
  readonly what: { readonly tools: string; readonly tool: string; readonly summary: string };
  /** Sorted by name. */
  readonly args: readonly { readonly name: string; readonly value: unknown }[];
  readonly segments: unknown;
  readonly program: {
    readonly form: 'argv' | 'sh';
    readonly argv: readonly string[];
    readonly file: string | null;
  } | null;
  readonly paths: NonNullable<Preview['paths']>;
  readonly diff: {
    readonly text: string;
    readonly new_file: boolean;
    readonly note: string | null;
    /** What it was made for, when that is not the file as it is. */
    readonly made: string | null;
  } | null;
  readonly url: NonNullable<Preview['url']> | null;
  /** What a tool that is not ours says of itself. */
  readonly tool_says: string | null;
  readonly why: {
    readonly rule: number | null;
    readonly reason: string;
    readonly note: string | null;
    readonly detail: string | null;
    readonly policy: { readonly name: string; readonly source: string; readonly sha256: string | null };
    readonly changed: boolean;
    /** Why the answer cannot be remembered. */
    readonly reserved: string | null;
  };
  /** Why it is asked about once more. */
  readonly again: readonly string[];
  readonly flags: readonly string[];
  readonly choices: readonly string[];
};
