import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { join } from 'node:path';
import { builtAt } from './built-at.ts';
import { type CommandLine, fitsWarm, runWarm } from './warm-cli.ts';

/** The built program; the global set-up of the test runner makes it. */
export const program = join(builtAt, 'src/cli/main.js');

export type CliHome = { readonly home: string; readonly workspace: string };

/**
 * The environment of a test child: an allowlist, never `CI`, nothing of the person who runs the tests (amendment 7).
 */
export function cliEnvironment(
  home: CliHome,
  more: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const path = process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';
  return {
    PATH: path,
    HOME: home.home,
    REINS_HOME: `${home.home}/.reins`,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    TZ: 'UTC',
    ...more,
  };
}

export type CliResult = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type CliOptions = {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Text or bytes on stdin; null = /dev/null (the default). */
  readonly stdin?: string | Uint8Array | null;
  /** In a process of its own, which the test is about. */
  readonly apart?: boolean;
};

/** A started program whose stdin is a pipe that the test holds. */
export type CliChild = {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<CliResult>;
  /** Resolves when stderr (or stdout) holds the text. @throws when the program ends without it */
  saw(text: string, stream?: 'stdout' | 'stderr'): Promise<void>;
};

/** Starts the program and leaves its stdin open. */
export function startCli(home: CliHome, argv: readonly string[], options: Omit<CliOptions, 'stdin'> = {}): CliChild {
  const child = spawn(process.execPath, [program, ...argv], {
    cwd: options.cwd ?? home.workspace,
    env: { ...cliEnvironment(home, options.environment) },
    stdio: 'pipe',
  });
  const texts = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (piece: string) => {
      texts[stream] += piece;
      for (const watcher of watchers) watcher();
    });
  }
  // A program that does not read its input closes the pipe.
  child.stdin.on('error', () => undefined);
  let over = false;
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      over = true;
      for (const watcher of watchers) watcher();
      resolve({ code, signal, ...texts });
    });
  });
  return {
    child,
    ended,
    saw: (text, stream = 'stderr') =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (texts[stream].includes(text)) resolve();
          else if (over) reject(new Error(`never saw ${JSON.stringify(text)} in ${stream}: ${JSON.stringify(texts)}`));
          else return;
          watchers.delete(look);
        };
        watchers.add(look);
        look();
      }),
  };
}

/** Runs the program to its end. What needs no process of its own is given to a program that is loaded already. */
export async function runCli(home: CliHome, argv: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const { stdin = null, apart = false, ...rest } = options;
  if (stdin !== null) {
    const started = startCli(home, argv, rest);
    started.child.stdin.end(stdin);
    return started.ended;
  }
  const environment = { ...cliEnvironment(home, options.environment) };
  const line = { argv, cwd: options.cwd ?? home.workspace, environment };
  return !apart && fitsWarm(line) ? runWarm(line) : runWithoutInput(line);
}

/** Runs the program to its end in a process of its own. */
export function runWithoutInput({ argv, cwd, environment }: CommandLine): Promise<CliResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...argv], {
      cwd,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      stdout += piece;
    });
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      stderr += piece;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}
