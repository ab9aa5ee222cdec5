import type { CallHost } from '../gate/facts.ts';
import type { CommandTables } from '../schema/command-tables.ts';
import type { Instructions, InstructionsSource } from '../schema/instructions.ts';
import type { LoadedPolicy } from '../schema/policy.ts';
import type { RuntimeError } from '../schema/errors.ts';
import type { RouteName } from '../schema/protocol.ts';
import type { RunSources } from '../tools/source.ts';
import type { Tool } from '../tools/tool.ts';
import type { OwnTables } from '../workspace/command-tables.ts';
import type { RunnableChain } from '../workspace/chains.ts';
import type { ChainWanted } from '../workspace/find-chain.ts';

/** The policy that governs a run (02 §4). `refresh` reads it again when its file changed. */
export type GoverningPolicy = {
  refresh(): Promise<LoadedPolicy>;
  current(): LoadedPolicy;
  readonly warnings: readonly string[];
};

export type PolicyWanted = {
  readonly name: string | null;
  readonly trust: readonly string[];
  readonly skipProject: boolean;
};

/** Effective configuration that a run needs (06 §18). */
export type RunSettings = {
  readonly max_rounds: number;
  readonly max_tool_result_bytes: number;
  readonly tool_parallelism: number;
  readonly think: string;
  readonly shell_env: readonly string[];
};

/** Model and provider that a run falls back to, and where they come from. */
export type RunDefaults = { readonly model: string; readonly provider: string };

/** What must be ready: the defaults, or the names that the chain's own tasks give. */
export type ReadyWanted = RunDefaults & {
  readonly models?: readonly string[];
  readonly providers?: readonly string[];
};

/** What `prepare` asks of other rooms; `app.ts` fills it in. */
export type PrepareDeps = {
  loadChain(wanted: ChainWanted & { readonly text?: string | undefined }): Promise<RunnableChain>;
  openPolicy(wanted: PolicyWanted): Promise<GoverningPolicy>;
  settings(): RunSettings;
  /** Why nothing of the user's own settings file counts, with what mends it; null where it is used or missing. */
  settingsFault(): string | null;
  defaults(given: { readonly model: string | null; readonly provider: string | null }): Promise<RunDefaults>;
  /**
   * Makes known to the mask, as they are now, the secrets of all backends and what opens the server (11 §5.3.1): a run may
   * come upon those that it has no use for.
   */
  knowSecrets(): void;
  /** 08 §12.3, and what would serve the first turn. */
  preRun(
    wanted: ReadyWanted,
    policy: LoadedPolicy,
  ): Promise<
    | { readonly kind: 'ready'; readonly first: RouteName | null }
    | { readonly kind: 'obstacle'; readonly error: RuntimeError }
  >;
  /** @param plans whether a chat may drive plans, if the operator has switched that on (05 §7) */
  tools(options: { readonly shell: boolean; readonly plans: boolean }): readonly Tool[];
  /** The one tool of a run that lets a backend download a model (09 §6.9). */
  pullTool(): Tool;
  /** Hooks and tool servers that the run may use; no other one is contacted, and without any nothing is loaded. */
  sources(wanted: { readonly mayUse: (provider: string) => boolean }): Promise<RunSources>;
  /** Notes what stands in files with instructions as a run begins, in the transaction that starts it. */
  noteInstructions(): void;
  /**
   * Files with instructions for agents, as far as the chain asks for them: a project's is judged like the call that reads it.
   * Never rejects.
   */
  instructions(wanted: {
    readonly asksFor: (source: InstructionsSource) => boolean;
    readonly loaded: LoadedPolicy;
    readonly host: (cwd: string) => CallHost;
    /** The directory that the operator has confined the run to. */
    readonly confinedTo: string | null;
    /** Hashes of `--trust`, and those of what the run uses. */
    readonly accepted: readonly string[];
    readonly used: readonly string[];
  }): Promise<readonly Instructions[]>;
  /** The operator's own option tables. Never rejects. */
  commandTables(): Promise<OwnTables>;
  /** Hosts of one run: the guarded lists are made once, each host is for one call. */
  hosts(run: {
    readonly root: string;
    readonly confined: boolean;
    readonly named: readonly string[];
    readonly path: string;
    readonly tables: CommandTables | undefined;
  }): (cwd: string) => CallHost;
  environment(runId: string, allow: readonly string[]): Readonly<Record<string, string>>;
  readonly workspace: { readonly root: string; readonly cwd: string; readonly home: string };
  readonly surface: string;
  readonly owner: string;
  readonly tenant: string;
  readonly now: () => number;
};
