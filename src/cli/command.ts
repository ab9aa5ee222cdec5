/** The words of the command table (06 §1.1): parsing, help, completion and the scanner read nothing else. */

export type FlagKind =
  | 'boolean'
  | 'string'
  | 'path'
  | 'int'
  | 'size'
  | 'duration'
  | 'since'
  | 'enum'
  | 'list'
  /** Boolean, or a value given only with `=`. */
  | 'optional';

export type Flag = {
  /** Without dashes. */
  readonly name: string;
  readonly kind: FlagKind;
  /** What stands for the value in help. */
  readonly value?: string;
  /** The words of an `enum`; for other kinds only candidates of the completion. */
  readonly words?: readonly string[];
  readonly short?: string;
  /** A boolean that holds unless `--no-<name>` is given; shown in that form. */
  readonly negative?: true;
  /** A `path` that may be `-`, for stdout. */
  readonly stdout?: true;
  /** A `duration` that may be 0. */
  readonly zero?: true;
  /** Bounds of an `int`. */
  readonly min?: number;
  readonly max?: number;
  /** As help shows it. */
  readonly default?: string;
  readonly env?: string;
  readonly config?: string;
  readonly help: string;
};

/** What a completion script may look up. */
export type Candidates =
  | 'session'
  | 'plan'
  | 'backend'
  | 'hook'
  | 'mcp'
  | 'model'
  | 'config'
  | 'config-value'
  | 'ask'
  | 'run'
  | 'chain'
  | 'policy'
  | 'command'
  | 'subcommand'
  | 'file'
  | 'topic';

export type Argument = {
  readonly name: string;
  readonly help: string;
  readonly required?: true;
  /** Takes all words that follow. */
  readonly many?: true;
  readonly words?: readonly string[];
  readonly candidates?: Candidates;
};

/** Modules of `commands/`; `load.ts` maps each to its import. */
export type ModuleName =
  | 'approvals'
  | 'approvals-forget'
  | 'approvals-watch'
  | 'audit'
  | 'backend'
  | 'beam'
  | 'beam-credentials'
  | 'chain'
  | 'chat'
  | 'completion'
  | 'config'
  | 'demo'
  | 'doctor'
  | 'help'
  | 'hook'
  | 'init'
  | 'mcp'
  | 'mcp-auth'
  | 'model'
  | 'plan'
  | 'plan-run'
  | 'policy'
  | 'policy-compare'
  | 'policy-explain'
  | 'policy-import'
  | 'policy-suggest'
  | 'policy-cases'
  | 'policy-trust'
  | 'resume'
  | 'run'
  | 'session'
  | 'session-compact'
  | 'session-export'
  | 'session-fork'
  | 'session-search'
  | 'state'
  | 'state-show'
  | 'state-undo'
  | 'trust'
  | 'tui'
  | 'version';

export type Command = {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** One line, at most 74 characters, ends in a full stop. */
  readonly purpose: string;
  readonly arguments?: readonly Argument[];
  readonly flags?: readonly Flag[];
  readonly examples: readonly string[];
  /** Exit codes that help lists, when there are more than 0, 1 and 2. */
  readonly exits?: readonly number[];
  readonly commands?: readonly Command[];
  /** A command with subcommands that also does something without one. */
  readonly bare?: true;
  /** Absent: only its subcommands do something. */
  readonly module?: ModuleName;
  /** Refused inside a child of a tool (11 §6.2). */
  readonly insideTool?: 'refused';
};

/** Whether a flag takes a value that may stand in the next token. */
export const takesValue = (flag: Flag): boolean => flag.kind !== 'boolean' && flag.kind !== 'optional';
