import type { Struct } from 'superstruct';
import type { Preview, Question } from '../schema/ask.ts';
import type { Notice } from '../schema/event.ts';
import type { FileChange } from '../schema/file-change.ts';
import type { ToolSpec } from '../schema/message.ts';
import type { CommandReading } from '../schema/command.ts';
import type { ExecFact } from '../schema/policy.ts';
import type { SpawnRequest, SpawnResult } from '../schema/protocol.ts';
import type { LineSearch } from '../text/line-search.ts';

/** The error classes of results (05 §11). */
export type ToolErrorClass = string;

/** How a tool ended: data for the model, never an exception. */
export type ToolResult =
  | {
      readonly ok: true;
      /** Strings as they are; everything else becomes compact JSON (04 §14.4). */
      readonly value: unknown;
      /** Name of a full result that the tool has spooled itself, `@output/<call id>…`. */
      readonly output_ref?: string;
    }
  | {
      readonly ok: false;
      readonly error: ToolErrorClass;
      /** One or two sentences: what, which limit, what to do instead. */
      readonly message: string;
      readonly extra?: Readonly<Record<string, unknown>>;
    };

/** What every stage of a call may know. */
export type ToolSite = {
  readonly run_id: string;
  readonly call_id: string;
  /** Session id, or run id without a session: whose read marks and spool names count (05 §2.5, §4.5). */
  readonly scope: string;
  /** Real path of the root of the run (05 §2.7). */
  readonly root: string;
  /** True when the operator named the root (`--local-exec-allowed-dir`): then it also confines (amendment 17). */
  readonly confined: boolean;
  readonly home: string;
  /** `tools_policies` of the provider for this task: key -> text. */
  readonly limits: Readonly<Record<string, string>>;
  /** A chain's `args` instead of a model's: values are converted (04 §7.3). */
  readonly direct: boolean;
  /** The one reading of a `local_shell` call (02 §9.1), made by the gate; null for every other tool. */
  readonly command: CommandReading | null;
  /**
   * Files by their real path as the calls that come first will leave them: for a call that is asked about before those
   * have run. Absent for a call whose turn has come.
   */
  readonly foreseen?: ReadonlyMap<string, ForeseenFile>;
};

/** The whole of a file at one moment. */
export type FileState = {
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly links: number;
};

/** A file as calls that have not run yet will leave it. */
export type ForeseenFile = {
  readonly state: FileState;
  /** What the model will have seen of it by then. */
  readonly mark: ReadMark | null;
  /** How many calls change it, and the digest of the file as it is; null for none. */
  readonly follows: { readonly calls: number; readonly base: string | null };
};

/** What execution gets beside the arguments. Nothing is looked up a second time: `facts` is what was judged. */
export type ToolContext<F> = ToolSite & {
  readonly facts: F;
  /** What the evaluator judged as the program to run; null for tools that start nothing. */
  readonly exec: ExecFact | null;
  /** What was said to the question of the tool; null for a tool that has none. */
  readonly answer: string | null;
  readonly signal: AbortSignal;
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: ToolPorts;
  /** Live output; ephemeral. */
  output(stream: 'stdout' | 'stderr' | 'progress', text: string): void;
  /** Reports a stored event of the run: the text of `print`, a notice such as `spool_full`. */
  emit(event: ToolEvent): void;
  /**
   * Policy verdict on a further path or URL that this call would reveal or reach (05 §4.8, §5.3.4).
   * @param seen the file that it is about and that will be opened: `deny` where the rules were asked about another one
   */
  judge(
    tools: string,
    tool: string,
    args: Readonly<Record<string, unknown>>,
    seen?: SeenFile,
  ): 'allow' | 'approve' | 'deny';
};

/** A file by its real path, and as it was found there. */
export type SeenFile = { readonly real: string; readonly dev: bigint; readonly ino: bigint };

/** What a tool may add to the events of its run. */
export type ToolEvent = Notice | { readonly kind: 'print'; readonly text: string };

/** Ports that `app.ts` fills in (architecture, section 9): tools know no pool, no SQL. */
export type ToolPorts = {
  spawn(
    request: SpawnRequest,
    signal: AbortSignal,
    onOutput: (stream: 'stdout' | 'stderr', text: string) => void,
    onStarted: (pid: number) => void,
  ): Promise<SpawnResult>;
  /** Where a line matches first, -1 when it does not, found beside this thread. Rejects on abort. */
  findInLine(search: LineSearch, line: string, signal: AbortSignal): Promise<number>;
  readonly marks: ReadMarks;
  readonly spool: Spool;
  readonly journal: ChangeJournal;
  /** Takes the turn of a writer of this real path, across processes (05 §4.6.4): false = `busy` after 10 s. */
  lockPath(path: string, signal: AbortSignal): Promise<(() => void) | null>;
  now(): number;
};

export type ReadMark = {
  readonly sha256: string;
  readonly full: boolean;
  readonly ranges: readonly (readonly [number, number])[];
};

/** Read-before-write marks (05 §4.5), kept in the database. */
export type ReadMarks = {
  get(scope: string, path: string): ReadMark | null;
  put(scope: string, path: string, mark: ReadMark): void;
};

/** `name` is `@output/<call id>`; `fault` ends a sentence that begins with what could not be kept. */
export type Kept =
  | { readonly name: string; readonly truncated: boolean }
  | { readonly name: null; readonly fault: string };

/** Full results on disk (05 §2.5). */
export type Spool = {
  /** Directory of a run. It is made, with mode 0700, by whoever writes the first file into it. */
  directory(runId: string): string;
  /** Writes a full result, at most 8 MiB. Never throws: a full disk loses the copy, not the call (05 §2.5.2). */
  put(runId: string, callId: string, content: string | Uint8Array): Kept;
  /** Path of a spool name for this scope, or null: only calls of the same run or session. */
  resolve(scope: string, runId: string, name: string): string | null;
};

/** What the calls of a run have changed, with what the files held before: `reins state undo` goes by it. */
export type ChangeJournal = {
  /** Notes a change before it is made. Never throws: a full disk loses the way back, not the call. */
  note(runId: string, change: FileChange, before: Uint8Array | null): void;
};

/** Where a path led when a tool looked at it: to this file, in this directory (05 §2.2). */
export type Looked = {
  readonly given: string;
  readonly real: string;
  readonly parent: { readonly path: string; readonly dev: bigint; readonly ino: bigint };
  readonly outside_root: boolean;
  /** A link was followed. */
  readonly link: boolean;
  /** Null when nothing is there. A link only where the link itself is meant. */
  readonly stat: { readonly dev: bigint; readonly ino: bigint; isSymbolicLink(): boolean } | null;
};

/** What a precheck and the facts gatherer of a tool found, before the gate decides. */
export type Prepared<F> =
  | {
      readonly ok: true;
      readonly facts: F;
      /** What it will act on, for a tool that acts on a path: what the rules are asked about must be the same. */
      readonly looked?: Looked;
      /** The file that it will leave behind, by its real path; absent where it changes none. */
      readonly leaves?: () => { readonly path: string; readonly file: ForeseenFile };
      /** What its words stand for at this moment, where arguments and paths do not say it: an answer is given to this. */
      readonly meant?: string;
      /** The call's directory (02 §7.2), absolute. */
      readonly cwd: string;
      /** One line for cards and lists (03 §1.1): command line, path, URL host. */
      readonly summary: string;
    }
  | {
      readonly ok: false;
      readonly error: ToolErrorClass;
      readonly message: string;
      readonly extra?: Readonly<Record<string, unknown>>;
    };

/** Where the tools of a list will run: the root, and `tools_policies` per provider. */
export type ToolPlace = {
  readonly root: string;
  readonly limits: Readonly<Record<string, Readonly<Record<string, string>>>>;
};

export type ArgumentRecord = Readonly<Record<string, unknown>>;

/** Arguments with the operator's own among them, whose values nobody is shown. */
export type Injected = { readonly args: ArgumentRecord; readonly hidden: readonly string[] };

/**
 * One tool. `prepare` runs before the gate (limits, confinement, facts); `preview` only when a person will see the
 * call; `execute` acts on the prepared facts. None of them throws for what a model or a file can cause.
 */
export type Tool<A = unknown, F = unknown> = {
  readonly spec: ToolSpec;
  /** The description for a run, where it depends on root and chain limits; else `spec.description` holds. */
  describe?(where: ToolPlace): string;
  readonly args: Struct<A, unknown>;
  /**
   * What answers its calls, beside its name: the registration and the accepted definition. An approval holds for this, since
   * the name may be given to something else. Absent for the tools of the program itself.
   */
  readonly origin?: string;
  /** False for a tool that is known but cannot be called now: it is in no list, and `prepare` says why (05 §2.6.3). */
  readonly offered?: false;
  /** Loads what `args` checks with, once, before the first check. Absent: nothing is to be loaded. */
  load?(): Promise<void>;
  /** Puts the operator's hidden arguments over the given ones (05 §9.5.1). Runs before `prepare`, which gets the result. */
  inject?(record: ArgumentRecord): Injected | Extract<ToolResult, { ok: false }>;
  prepare(args: A, site: ToolSite, environment: Readonly<Record<string, string>>): Promise<Prepared<F>> | Prepared<F>;
  /**
   * Why a call that the policy does not deny still cannot work: a missing file, a text that does not match. The gate
   * looks at it before it asks a person; `execute` says the same. It is no part of `prepare`, because what a denied
   * path holds, and whether it exists, is not told.
   * @param mayName whether a file beside a missing one may be named; without it none is
   */
  unfit?(facts: F, mayName?: (path: string) => boolean): Extract<ToolResult, { ok: false }> | null;
  preview?(args: A, facts: F, site: ToolSite): Promise<Preview> | Preview;
  /** What is asked in words whenever the policy does not deny the call, instead of whether it may run. */
  question?(args: A): Question;
  execute(args: A, context: ToolContext<F>): Promise<ToolResult>;
};

/** Forgets the types of one tool's arguments and facts, so that tools fit into one table. */
export function defineTool<A, F>(tool: Tool<A, F>): Tool {
  // True because the gate gives a tool only arguments that its own struct accepted and facts of its own `prepare`.
  return tool as unknown as Tool;
}
