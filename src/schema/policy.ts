/** The policy document and its evaluation (chapter 02). Documents are validated by `policy/validate.ts`. */

import type { CommandTables } from './command-tables.ts';

export type Action = 'allow' | 'approve' | 'deny';
export type OnExhausted = 'fail' | 'ask' | 'finish';

export type Condition = {
  readonly key: string;
  readonly op: string;
  readonly value: string;
  /**
   * The compiled operand of op `regex`, put there by `parsePolicy`, because the engine is loaded only where a document
   * needs it. Without it the condition is indeterminate.
   */
  readonly regex?: { readonly size: number; matchWhole(text: string): boolean };
};

export type Rule = {
  readonly tools: string;
  readonly tool: string;
  readonly when: readonly Condition[];
  readonly action: Action;
  readonly timeout_s: number;
  readonly on_timeout: string | null;
  /** The text of the rule's `//` member. */
  readonly note: string | null;
};

/** 02 §11. 0 = unbounded, an empty list = absent. */
export type ComputeBounds = {
  readonly maxTurns: number;
  readonly maxToolCalls: number;
  readonly maxTokens: number;
  readonly modelAllowlist: readonly string[];
  readonly backendAllowlist: readonly string[];
  readonly onExhausted: OnExhausted;
};

export type AttentionBounds = {
  readonly allowAgentAnswers: boolean;
  readonly maxAgentAnswers: number;
  readonly allowAgentApprovals: boolean;
  readonly maxAgentApprovals: number;
};

export type TrustedBinaries = {
  readonly dirs: readonly string[];
  readonly hashes: Readonly<Record<string, string>>;
};

/** A parsed document with defaults applied. */
export type Policy = {
  readonly version: number;
  readonly default_action: Action;
  readonly rules: readonly Rule[];
  readonly compute: ComputeBounds;
  readonly attention: AttentionBounds;
  readonly trusted_binaries: TrustedBinaries | null;
};

/** The call as the evaluator sees it: final arguments, one object, made once (02 §6). */
export type PolicyCall = {
  readonly tools: string;
  /** Empty: the name of the toolset. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
};

/** What tells one content of a file from another (02 §10.5). Bigints are decimal text. */
export type FileIdentity = {
  readonly dev: string;
  readonly ino: string;
  readonly size: string;
  readonly mtime_ns: string;
  readonly ctime_ns: string;
};

/** A program as resolved once: what is judged is what runs. */
export type ProgramFact = FileIdentity & {
  readonly word: string;
  /** Real path after all links. */
  readonly real: string;
  /** The absolute path of the link by which it was found; absent when that is the real one. */
  readonly link?: string;
  /** Why an allowlist cannot grant it: `program_in_workspace`, `unsafe_permissions`, `relative`. */
  readonly ungrantable: string | null;
};

/** The git repository around a directory (02 §9.8). */
export type Repository = {
  /** Its git directory, or the one that it shares, lies outside the workspace. */
  readonly outside: boolean;
  /** Its own configuration files; text null for one that cannot be read. */
  readonly configs: readonly { readonly path: string; readonly text: string | null }[];
  /** Its index names a file outside of the working tree, or cannot be read. */
  readonly namesOutside?: true;
  /** Files that git knows and that may hold something else than what it knows, by real path; of names like this alone. */
  readonly changed?: (like: RegExp) => readonly string[];
};

/** What a program file holds, as far as `trusted_binaries` asks (02 §10). */
export type BinaryFact =
  | {
      readonly state: 'read';
      readonly identity: FileIdentity;
      readonly others_write: boolean;
      /** The first 256 bytes, one character each: as much as the system looks at. */
      readonly head: string;
      /** Null when no digest was asked for. */
      readonly sha256: string | null;
      /** The digest belongs to a content too young to tell from another by its times (02 §10.5). */
      readonly young: boolean;
    }
  | { readonly state: 'unreadable'; readonly message: string }
  /** The digest was asked for and has to be taken first. */
  | { readonly state: 'unhashed' };

/** A file that `trusted_binaries` judged, as it must still be when it is started. */
export type TrustedFile = {
  readonly real: string;
  readonly identity: FileIdentity;
  readonly sha256: string | null;
  /** Changed so lately that its times alone do not tell whether the content is still the one that was hashed. */
  readonly young: boolean;
};

/** How a judged program is started: by the binary at the end of its chain of `#!` lines, which may be the program itself. */
export type TrustedStart = {
  /** Real path of the program. */
  readonly program: string;
  readonly binary: TrustedFile;
  /** Null: the word as written. */
  readonly argv0: string | null;
  /** What stands before the arguments of the call: each script, and what its `#!` line gives to its interpreter. */
  readonly before: readonly string[];
  /** Every other file of the chain. */
  readonly scripts: readonly TrustedFile[];
};

/** 02 §10.4. */
export type TrustReason =
  | 'unresolved'
  | 'relative'
  | 'outside_dirs'
  | 'unsafe_permissions'
  | 'undeclared'
  | 'unreadable'
  | 'mismatch'
  | 'interpreter'
  | 'unnameable';

export type TrustFinding = {
  readonly reason: TrustReason;
  /** The program word. */
  readonly program: string;
  /** Real path of the file that is not trusted. */
  readonly path: string | null;
  readonly detail: string;
};

/** A declaration of `trusted_binaries` that does not hold (02 §10). */
export type BinaryState = {
  /** JSON path of the declaration. */
  readonly at: string;
  readonly code: 'missing' | 'mismatch' | 'unreadable' | 'outside_dirs' | 'link' | 'open_dir';
  /** The declared file or directory. */
  readonly file: string;
  /** What is the matter, to be read behind its name. */
  readonly message: string;
  /** The digest that was found, for `mismatch`. */
  readonly found: string | null;
};

/**
 * The world as the evaluator may see it (02 §1, §8). Synchronous; each look-up is made once per call and kept, so that
 * decision and execution see the same. `gate/facts.ts` fills it from the machine, tests from a case file.
 */
export type PolicyHost = {
  readonly platform: string;
  readonly shell: string;
  readonly workspace: string;
  readonly cwd: string;
  readonly home: string;
  readonly caseInsensitivePaths: boolean;
  /**
   * Real path of an absolute path: links resolved step by step as the system does, `..` applied to the real directory,
   * what does not exist appended. Never throws.
   */
  realPath(path: string): string;
  /** The existing files that a shell would put in the place of an absolute pattern; a bounded number. Never throws. */
  filesLike(pattern: string): readonly string[];
  /** Whether an absolute path leads through a directory that is another one in each process: `/proc/self`. Never throws. */
  perProcess(path: string): boolean;
  /** Whether an existing directory has this real path. Never throws. */
  isDirectory(real: string): boolean;
  /** Hard links of an existing regular file; 0 when it does not exist. */
  hardLinks(path: string): number;
  /** Resolution of 02 §9.5 with the executor's PATH. */
  resolveProgram(word: string, cwd: string): ProgramFact | null;
  /** Whether an empty or relative element of PATH holds such a program: one that is never executed (02 §10.4). */
  foundRelative(word: string, cwd: string): boolean;
  /** A look at a file by its real path; `hashed` asks for its digest too. */
  binary(real: string, hashed: boolean): BinaryFact;
  /** The repository that `git` would find from a directory, null when there is none. Never throws. */
  repository(cwd: string): Repository | null;
  /** Whether git may know a file, or one below it, by the index of the repository around it. Never throws. */
  isTracked(real: string): boolean;
  /** What a small regular file holds, by its real path; null where that cannot be told. Never throws. */
  textOf(real: string): string | null;
  /** The operator's own option tables; they replace the shipped ones program by program. */
  readonly commandTables?: CommandTables;
  readonly guarded: {
    /** F1: absolute paths of own secrets; each covers what lies below it. */
    readonly secrets: readonly string[];
    /** F1: what begins with one of these texts is a secret too (backups of the database). */
    readonly secretPrefixes: readonly string[];
    /** F2 beside every `.reins` segment: REINS_HOME, the data directory, policy and chain files named by flags, the installation. */
    readonly plane: readonly string[];
    /** Directories on PATH, and the file with the project's instructions for agents (F3). */
    readonly path: readonly string[];
    /** That file alone, under its own name and the one that it may be a link to. */
    readonly instructions: readonly string[];
  };
  /**
   * The guarded set that an existing file belongs to by device and inode, whatever its name (11 §6.1.1), or null. `self`:
   * the file by which this program is started, which lies in the plane too.
   */
  guardOf(path: string): 'secret' | 'plane' | 'self' | null;
  /** Amendment 17: paths outside this root are a floor; null when nothing is to be checked. */
  readonly root: string | null;
};

export type ExecFact = {
  readonly form: 'argv' | 'sh';
  /** Resolved program; `/bin/sh` for a line; null when it does not resolve. */
  readonly file: string | null;
  readonly argv: readonly string[];
  readonly env_set: Readonly<Record<string, string>>;
  /** Variables whose names begin with one of these are taken away before `env_set` is put in. */
  readonly env_clear: readonly string[];
  readonly cwd: string;
  readonly program: ProgramFact | null;
  /** What `trusted_binaries` judged, one for each command; absent when it did not gate the call. */
  readonly trusted?: readonly TrustedStart[];
  /** A search in it leaves out what looks like a secret. */
  readonly searched?: true;
};

export type Reason =
  | 'matched_rule'
  | 'default_action'
  | 'floor'
  | 'control_plane'
  | 'internal_error'
  /** A call of the program's own that no rule is asked about (05 §8). */
  | 'internal'
  | 'compute_exhausted'
  | 'remembered';

export type PolicyIdentity = {
  readonly name: string;
  readonly source: 'project' | 'user' | 'builtin' | 'file';
  readonly path: string | null;
  readonly sha256: string | null;
  readonly state: 'ok' | 'invalid';
};

export type ConditionTrace = {
  readonly op: string;
  readonly key: string;
  readonly result: 'true' | 'false' | 'indeterminate';
  readonly seen: string | null;
  readonly why: string | null;
};

/** The evaluation record of 02 §8. */
export type Evaluation = {
  readonly action: Action;
  readonly matched_rule: number | null;
  readonly reason: Reason;
  readonly timeout_s: number;
  readonly on_timeout: string | null;
  readonly policy: PolicyIdentity;
  readonly detail: string | null;
  readonly note: string | null;
  readonly trace?: readonly {
    readonly rule: number;
    readonly selectors: boolean;
    readonly conditions: readonly ConditionTrace[];
    readonly outcome: string;
  }[];
  readonly analysis?: unknown;
  readonly trust: readonly TrustFinding[];
  readonly exec: ExecFact | null;
};

/** A finding of the validator or of vet (02 §3, §14.1). `load` findings reject the document. */
export type PolicyFinding = {
  readonly severity: 'load' | 'error' | 'warn';
  readonly path: string;
  readonly code: string;
  readonly message: string;
};

/** A policy as a run holds it. `policy` of an invalid document is the fail-closed one of 02 §4. */
export type LoadedPolicy = {
  readonly identity: PolicyIdentity;
  readonly policy: Policy;
  /** Bytes as read; canonical JSON for a preset. */
  readonly text: string;
  readonly findings: readonly PolicyFinding[];
};
