import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { builtAt } from './built-at.ts';
import type { CliResult } from './run-cli.ts';
import { template } from './template-place.ts';

/**
 * Commands in a program that is loaded already: to start one takes ten times the CPU of `config get` and three times that of
 * a run, and the tests give thousands of them to prepare what they are about or to look at what came of it. A process of its
 * own is for what is killed, signalled, given input, followed, measured, or about the process itself.
 */
const apart: ReadonlySet<string> = new Set([
  // They go on until somebody ends them, or show what only `src/cli/main.ts` has.
  'beam',
  'tui',
  'help',
  'version',
  // What a newcomer starts.
  'demo',
]);

type Answer = { readonly code: number; readonly isClean: boolean };
type Warm = { readonly child: ChildProcess; readonly stdout: string; readonly stderr: string; isBusy: boolean };

export type CommandLine = {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
};

let kept: Warm | null = null;

/** Whether the program that is loaded may take it now. It takes one at a time. */
export function fitsWarm({ argv, environment }: CommandLine): boolean {
  // What a benchmark measures are processes.
  if (process.env['VITEST'] === undefined || kept?.isBusy) return false;
  if ('NODE_OPTIONS' in environment || 'REINS_FAIL_POINT' in environment) return false;
  const [command = 'help', under = ''] = argv;
  if (apart.has(command) || (command === 'approvals' && under === 'watch')) return false;
  return !argv.some((word) => word === '--help' || word === '-h' || word === '--version' || word === 'tui');
}

/** Runs a command line. A fault that ends the program ends it here too; the next command starts another. */
export async function runWarm(line: CommandLine): Promise<CliResult> {
  kept ??= begin();
  const warm = kept;
  warm.isBusy = true;
  const { code, signal, isClean } = await new Promise<Ended>((resolve) => {
    warm.child.once('message', (answer: Answer) => resolve({ ...answer, signal: null }));
    warm.child.once('close', (code, signal) => resolve({ code, signal, isClean: false }));
    warm.child.send(line);
  });
  warm.child.removeAllListeners();
  const [stdout, stderr] = [taken(warm.stdout), taken(warm.stderr)];
  warm.isBusy = false;
  if (!isClean) {
    kept = null;
    if (warm.child.connected) warm.child.disconnect();
  }
  return { code, signal, stdout, stderr };
}

type Ended = Pick<CliResult, 'code' | 'signal'> & Pick<Answer, 'isClean'>;

function begin(): Warm {
  // It goes with the template: a worker that is ended removes nothing.
  const dir = mkdtempSync(join(template(), 'warm-'));
  const [stdout, stderr] = [join(dir, 'stdout'), join(dir, 'stderr')];
  const fds = [stdout, stderr].map((path) => openSync(path, 'a', 0o600));
  const child = fork(join(import.meta.dirname, 'warm-program.mjs'), [builtAt, packageJson.version], {
    stdio: ['ignore', ...fds, 'ipc'],
    execArgv: [],
  });
  for (const fd of fds) closeSync(fd);
  // Neither keeps the tests from ending; the program ends with them.
  child.unref();
  child.channel?.unref();
  return { child, stdout, stderr, isBusy: false };
}

/** What it has written since the last command. */
function taken(path: string): string {
  const text = readFileSync(path, 'utf8');
  truncateSync(path);
  return text;
}
