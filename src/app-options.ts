import { userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { RuntimeError } from './schema/errors.ts';
import type { LoginRecords } from './schema/login.ts';
import type { RepeatRecords } from './schema/repeats.ts';

/** Both ends of a connection that was accepted, as the server sees them; an address is '' where it was reset meanwhile. */
export type ConnectionEnds = { readonly client: ConnectionEnd; readonly server: ConnectionEnd };
type ConnectionEnd = { readonly address: string; readonly port: number };

/** Where an option was given: flag beats environment; config and built-in are resolved inside the app (06 §3). */
export type Given<T> = { readonly value: T; readonly source: 'flag' | 'environment' };

/**
 * What an entry point knows when it opens the app. `null` = not given: the config value counts, else the built-in one.
 * Paths are absolute. Nothing here was checked against the disk.
 */
export type AppOptions = {
  /** Directory URL of the installation, ends in `/`: `workers/run-chain.js` and `web/` lie under it (amendment 1). */
  readonly root: URL;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly surface: 'cli' | 'tui' | 'web';
  /** Of this program, for rows and support. */
  readonly version: string;
  /** A warning that comes up after the app was made: one line for stderr, without prefix. */
  readonly warn: (line: string) => void;
  /** A lower-case UUID. */
  readonly tenant: string;
  /** True when a person can be asked: stdin and stderr are terminals and `CI` is unset (06 §9). */
  readonly terminal: boolean;
  /** `--data-dir`: no upward search; sets the default database. */
  readonly dataDir: Given<string> | null;
  /** `--db`. */
  readonly database: Given<string> | null;
  readonly model: Given<string> | null;
  readonly provider: Given<string> | null;
  /** A policy name, or the absolute path of a document. */
  readonly policy: Given<string> | null;
  /** Base URL of the local model server; `flag` replaces all registered `ollama` backends (08 §2.4). */
  readonly ollama: Given<string> | null;
  /** Context hint in tokens; 0 = discovered. */
  readonly context: number;
  readonly shell: boolean;
  /** `--local-exec-allowed-dir`: the root that also confines (amendment 17). */
  readonly allowedDir: string | null;
  /** `--trust`: hashes accepted for this invocation. */
  readonly trust: readonly string[];
  /** `--require-mcp`: tool servers without which no run begins. */
  readonly requireMcp?: readonly string[];
  /** What a server gives the runs that it starts; absent elsewhere. */
  readonly serving?: Serving | undefined;
  /** Structured lines and stack traces are wanted. */
  readonly trace: boolean;
  /** The command that is to be done, where it is refused to what a tool call has started (11 §6.2); else absent. */
  readonly notInside?: string | undefined;
  /** Called around durable writes by the test build, which ends the process there; absent in a release. */
  readonly failPoint?: ((point: string) => void) | undefined;
};

/** Defaults and bounds of runs that are started over HTTP (09 §1.1). */
export type Serving = {
  /** Path of the chain of requests that name none; null = the default one of their kind. */
  readonly chain: string | null;
  /** Milliseconds of active time of each run; 0 = none, null = what the operator has configured, else none. */
  readonly timeoutMs: number | null;
  /** Where the server listens: no tool reaches it there (05 §5.3). */
  readonly ports: () => readonly number[];
};

/**
 * What `createApp` gives a face beside its client. `A` and `R` are types of clients: this file names no room, so that every
 * face may import it.
 */
export type AppHandle<A, R = unknown> = {
  readonly client: A;
  /** The operations that a server serves; loads their table. */
  routes(): Promise<R>;
  /** Root of the workspace. */
  readonly workspace: string;
  /** One line each, for stderr: a skipped data directory, a policy that fell back, … */
  readonly warnings: readonly string[];
  /** Opens the database and gives what a server needs of it beside the operations. */
  ground(access: 'read' | 'write'): Promise<ServerGround>;
  /**
   * Stops what runs, closes the database and pools. Safe to call twice.
   * @returns false when a thread could not be ended: it would hold the process
   */
  close(): Promise<boolean>;
};

/** What the server stands on beside the operations. Paths are absolute. */
export type ServerGround = {
  readonly logins: LoginRecords;
  readonly repeats: RepeatRecords;
  /** 32 bytes of this installation. @throws RuntimeError config_invalid */
  machineKey(): Uint8Array;
  /** The access token as its file has it. @throws RuntimeError config_invalid for a file that others could read */
  readonly token: {
    readonly path: string;
    /** Made when it is missing. */
    ensure(): string;
    read(): string | null;
    rotate(): string;
  };
  /** Content of a file with a secret; null when there is none. @throws RuntimeError config_invalid as above */
  secretFile(path: string): string | null;
  /** Whether a client on this machine is a process that a tool has started (11 §6.2). Written down if so. */
  comesFromTool(ends: ConnectionEnds, changes: boolean): boolean;
  /** Whether a client on this machine runs for the operator's account; true where the system does not tell. */
  isOwnAccount(ends: ConnectionEnds): boolean;
  /** Suspends the runs of this process; a call that is being executed may end within the time (09 §1.5). */
  rest(withinMs: number): Promise<void>;
  /** Runs of this workspace that were answered and that nobody took the answer of, since their process has ended. */
  answeredRuns(): readonly string[];
  /** Notes where this process listens, for other faces to say. @returns takes it back */
  noteServing(port: number): () => void;
  /** Where servers of this database have noted that they listen. */
  servingPorts(): readonly number[];
  readonly schema: number;
  readonly tenant: string;
  readonly reinsHome: string;
  readonly workspace: string;
  readonly dataDir: string | null;
  readonly database: string;
  /** Effective values of the keys of the server. */
  settings(): {
    readonly host: string;
    readonly port: number;
    readonly publicOrigins: readonly string[];
    readonly tokenScope: 'run' | 'full';
    readonly allowDefaultLogin: boolean;
  };
};

/**
 * Directories of the user, absolute: home, and `REINS_HOME` or `~/.reins`. A `HOME` that is empty or relative is none:
 * with it, what lies there would be looked for in the directory that one stands in, which a project controls.
 * @throws RuntimeError config_invalid where neither the environment nor the system names a home
 */
export function userDirectories({ environment, cwd }: Pick<AppOptions, 'environment' | 'cwd'>): {
  readonly home: string;
  readonly reinsHome: string;
} {
  const named = environment['HOME'] ?? '';
  const home = isAbsolute(named) ? named : systemHome();
  const given = environment['REINS_HOME'];
  return { home, reinsHome: given ? resolve(cwd, given) : join(home, '.reins') };
}

/** Of the system's own list: Node's `homedir()` believes an empty `HOME`. */
function systemHome(): string {
  try {
    return userInfo().homedir;
  } catch (error) {
    throw new RuntimeError('config_invalid', 'This user has no home directory; HOME or REINS_HOME names one.', {
      cause: error,
      hints: ['export HOME=<directory>'],
    });
  }
}
