import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { builtAt } from './built-at.ts';
import type { CliResult } from './run-cli.ts';

/**
 * Short commands in a program that is loaded already: to start one takes ten times the CPU of `config get`, and the tests
 * give thousands of such commands to prepare what they are about or to look at what came of it. What a process of its own
 * is needed for is none of these: runs and everything else that is killed, signalled, given input or followed.
 */
const short: ReadonlySet<string> = new Set([
  'approvals',
  'audit',
  'backend',
  'chain',
  'config',
  'hook',
  'init',
  'mcp',
  'model',
  'policy',
  'session',
  'state',
  'tool',
  'trust',
]);
const shortOfPlan: ReadonlySet<string> = new Set([
  'list',
  'show',
  'switch',
  'retry',
  'skip',
  'archive',
  'delete',
  'clean',
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
export function isShort({ argv, environment }: CommandLine): boolean {
  // What a benchmark measures are processes.
  if (process.env['VITEST'] === undefined) return false;
  if (kept?.isBusy) return false;
  if ('NODE_OPTIONS' in environment || 'REINS_FAIL_POINT' in environment) return false;
  const [command = '', under = ''] = argv;
  if (!short.has(command) && !(command === 'plan' && shortOfPlan.has(under))) return false;
  return !argv.some((word) => word === '--help' || word === '-h' || word === '--version');
}

/** Runs a short command. A fault that ends the program ends it here too; the next command starts another. */
export async function runShort(line: CommandLine): Promise<CliResult> {
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
  const dir = mkdtempSync(join(tmpdir(), 'reins-warm-'));
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
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
