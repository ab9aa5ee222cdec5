import type { Evaluation } from './policy.ts';
import type { CommandSegment } from './policy-views.ts';
import type { PolicyState } from './run.ts';

export const askKinds = ['permission', 'question', 'budget', 'unknown_outcome'] as const;
export type AskKind = (typeof askKinds)[number];
export type AskState = 'pending' | 'approved' | 'denied' | 'answered' | 'expired' | 'cancelled';

/** What who asks waits for, to stand behind "waiting for" and "waits for". */
export const waitedFor = (kind: string): string => {
  switch (kind) {
    case 'unknown_outcome':
      return 'a decision about a call of unknown outcome';
    case 'question':
      return 'an answer';
    case 'budget':
      return 'a decision about a spent bound';
    default:
      return 'approval';
  }
};

/** A flag of `approvals respond` that answers a kind of ask, so that the command can be pasted. */
export const verdictFor = (kind: string): string => {
  switch (kind) {
    case 'unknown_outcome':
      return '--treat-as skip';
    case 'question':
      return '--answer "…"';
    default:
      return '--approve';
  }
};

/** All of them, for who may choose. */
export const verdictsFor = (kind: string): string => {
  switch (kind) {
    case 'unknown_outcome':
      return '--treat-as run-again|done|skip';
    case 'question':
      return '--answer <text>';
    default:
      return '--approve|--deny';
  }
};

/** Something about a call that a person should know before answering, and the lines of it, counted from 1. */
export type CallFlag = {
  readonly flag: 'network' | 'runs_code' | 'secret_path';
  /** Words of the call: foreign text. */
  readonly what: string;
  readonly lines: readonly number[];
};

/** What is computed for the card of a call (03 §8), and stored with the ask. */
export type Preview = {
  /** Unified diff of a file writer, complete up to 1 MiB. */
  readonly diff?: string;
  readonly diff_note?: string;
  readonly new_file?: boolean;
  /** Calls of the same message that change the file first: the diff is against what they will leave. */
  readonly follows?: {
    readonly calls: number;
    /** Digest of the file that there was; null for none. */
    readonly base: string | null;
  };
  /** Where the paths of the call led when it was asked about: an approval holds for these places. */
  readonly places?: string;
  /** Digest of the files that its commands would start, or of the server or service that answers: an approval holds for these. */
  readonly programs?: string;
  /** File state that the diff was computed against. */
  readonly preimage?: { readonly path: string; readonly sha256: string | null };
  /** The agent that may answer in the operator's place, and how far it is (03 §7.7). */
  readonly adjudicator?: {
    readonly chain: string;
    readonly state: 'looking' | 'waited';
    /** Verdicts of agents in the mission so far, and how many there may be. */
    readonly used: number;
    readonly cap: number;
  };
  /** What a tool of a hook or a server says of itself, cut: a claim of somebody else, never a fact. */
  readonly tool_says?: string;
  /** Why the answer to this call cannot be remembered, nor become a rule (03 §9). */
  readonly reserved?: string;
  /** The workspace whose edits may be let through for the session: the call writes a file below it. */
  readonly edits_root?: string;
  /** The policy is another one than when this was asked (03 §3.2). */
  readonly policy_changed?: true;
  /** The commands of a shell call with what the allowlists say of each: the first ones, and how many there are; null when
   *  not all of it could be read. */
  readonly commands?: { readonly first: readonly CommandSegment[]; readonly total: number | null };
  readonly flags?: readonly CallFlag[];
  /** When a call of unknown outcome had started. */
  readonly started_at?: string;
  /** Of such a call that was approved: whether the file that it changes is the one before it. */
  readonly file_now?: 'as_before' | 'another';
  /** It takes the place of an ask before it: one whose arguments the operator changed, those of the model being `args`, or
   *  one that was approved when something else would have run. */
  readonly anew?:
    | { readonly edited: true; readonly args: unknown; readonly why: readonly string[] }
    | { readonly edited: false; readonly why: readonly string[] };
  /** Rules of the policy that it was judged under. */
  readonly rules?: number;
  /** What the last turn of the run used; absent where there was none. */
  readonly by_model?: { readonly model: string; readonly backend: string };
  /** This very call was asked about so often in its run, this time counted. */
  readonly repeat?: number;
  readonly url?: {
    readonly scheme: string;
    /** In ASCII, as it is connected to. */
    readonly host: string;
    /** As it reads in other letters, where that is another text. */
    readonly host_unicode?: string;
    readonly port: string;
    readonly path: string;
    readonly method: string;
    /** Names of the headers that the call sets; absent in what was asked before they were kept. */
    readonly headers?: readonly string[];
    /** Of the body; null without one. */
    readonly body_bytes?: number | null;
  };
  readonly paths?: readonly {
    readonly given: string;
    readonly real: string;
    readonly inside: boolean;
    readonly link: boolean;
  }[];
};

export type Verdict = {
  readonly outcome: 'approve' | 'deny' | 'answer' | 'expire' | 'cancel';
  readonly treat_as?: 'run_again' | 'done' | 'skip';
  readonly text?: string;
  readonly feedback?: string;
  readonly remember?: 'session' | 'edits' | 'rule';
  /** Other arguments for the call, and who gave them: the ask is over, and they are a new call (03 §3.5). */
  readonly edited?: { readonly args: Readonly<Record<string, unknown>>; readonly by: string };
  /** Attribution `<actor>:<surface or id>` (03 §5). */
  readonly by: string;
  readonly name?: string;
  readonly at: string;
  readonly binding: string;
};

/** A choice that holds until its session ends (03 §9). */
export type RememberedChoice = {
  readonly id: string;
  /** `call`: this very call; `edits`: every edit of files below a workspace. */
  readonly kind: 'call' | 'edits';
  /** What it lets through, in the words of the ask, or the root of the workspace. Foreign text. */
  readonly what: string;
  /** It holds under this policy alone. */
  readonly policy_sha256: string;
  readonly ask_id: string;
  readonly created_at: string;
};

/** What a person is asked in words (03 §1.1). Foreign text. */
export type Question = { readonly text: string; readonly detail?: string; readonly choices?: readonly string[] };

/** The row of 03 §1.1 as every surface reads it. Times are RFC 3339. */
export type Ask = {
  readonly id: string;
  readonly kind: AskKind;
  readonly state: AskState;
  readonly run_id: string | null;
  readonly session_id: string | null;
  /** Its name at the time of reading. */
  readonly session_name: string | null;
  /** The step of a plan that asks. */
  readonly plan_name: string | null;
  readonly step_no: number | null;
  readonly mission_id: string | null;
  readonly chain_id: string | null;
  readonly task_id: string | null;
  readonly call_id: string | null;
  readonly tools: string;
  readonly tool: string;
  /** Final arguments, secrets masked. */
  readonly args: unknown;
  readonly summary: string;
  readonly preview: Preview;
  readonly question: Question | null;
  readonly cwd: string;
  readonly record: Evaluation;
  readonly policy: PolicyState;
  readonly call_hash: string;
  readonly binding: string;
  readonly preimage: { readonly path: string; readonly sha256: string | null } | null;
  readonly timeout_s: number;
  readonly on_timeout: string | null;
  readonly expires_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly resolved_at: string | null;
  readonly verdict: Verdict | null;
  readonly superseded_by: string | null;
  /** Its row is damaged: what could not be read of it is left out. */
  readonly unreadable?: true;
};

/** What to list where nothing narrows it but the number. */
export const everyAsk = { state: 'all', kind: null, session: null, mission: null, by: null } as const;
