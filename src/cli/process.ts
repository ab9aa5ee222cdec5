import type { ReadStream, WriteStream } from 'node:tty';
import type { Environment } from './globals.ts';

export type Signal = 'SIGINT' | 'SIGQUIT' | 'SIGTERM' | 'SIGHUP' | 'SIGCONT';

/** What `main.ts` alone takes from the running process; everything else of this room gets it as a parameter. */
export type Process = {
  readonly argv: readonly string[];
  readonly pid: number;
  readonly environment: Environment;
  readonly cwd: string;
  readonly importMeta: ImportMeta;
  /** Directory URL of the installation. */
  readonly root: URL;
  readonly version: string;
  readonly rootHelp: string;
  readonly runtime: { readonly node: string; readonly platform: string; readonly arch: string };
  /** Opened when it is first read. */
  stdin(): ReadStream;
  /** Made when it is first asked for, as the next one. */
  stdout(): WriteStream;
  stderr(): WriteStream;
  isTerminal(fd: 0 | 1 | 2): boolean;
  now(): number;
  /** Listens for a signal; returns what stops listening. */
  onSignal(signal: Signal, listener: () => void): () => void;
  setExitCode(code: number): void;
  /** Ends the process as soon as its threads have ended; only where handles would keep it alive behind the command. */
  exit(code: number): void;
  /** Ends the process at once, whatever its threads do; only for a second signal and for a thread that cannot be ended. */
  leave(code: number): void;
  /** Crash hook of the test build. */
  readonly failPoint?: (point: string) => void;
};
