import type { CommandTables } from '../schema/command-tables.ts';

/** What stays the same over the calls of a run. Paths are absolute. */
export type Machine = {
  readonly platform: NodeJS.Platform;
  /** Kind of the shell that lines go to: `sh` is read, every other one is not (02 §9.9). */
  readonly shell: string;
  /** Root of the run (05 §2.7). */
  readonly workspace: string;
  readonly home: string;
  /** Whether the file system of the workspace folds case: `foldsCase`. */
  readonly caseInsensitivePaths: boolean;
  /** PATH of the executor's environment. */
  readonly path: string;
  /** The operator named the root, so it confines; without that, paths outside it ask (amendment 17). */
  readonly confined: boolean;
  readonly database: string;
  readonly reinsHome: string;
  readonly dataDir: string | null;
  /** Secrets beside ours: the files named by `REINS_JWT_SECRET_FILE` and `--tls-key`. */
  readonly secretFiles: readonly string[];
  /** Policy and chain files named by flags. */
  readonly namedFiles: readonly string[];
  readonly installation: string;
  readonly pid: number;
  /** The operator's own option tables (02 §9.7). */
  readonly commandTables?: CommandTables;
};
