import type { Command } from './command.ts';
import type { Environment, OutputFormat } from './globals.ts';
import type { Scan } from './scan.ts';
import { walk } from './walk.ts';

/** How a failure is put: by its format, and as a run's result or a management command's error (06 §8.4). */
export type FailureForm = {
  readonly format: OutputFormat;
  readonly ofRun: boolean;
  readonly trace: boolean;
  /** The command, as far as it is known. */
  readonly path: readonly Command[];
};

/** Commands whose output is that of a run. */
const runs: ReadonlySet<string> = new Set(['run', 'chat', 'demo']);
const isOfRun = (command: string | undefined): boolean => command === undefined || runs.has(command);

const formats: readonly OutputFormat[] = ['text', 'json', 'stream-json'];
const formatOf = (json: boolean, word: string | null | undefined): OutputFormat =>
  json ? 'json' : (formats.find((format) => format === word) ?? 'text');

const traced = ({ REINS_TRACE: text }: Environment): boolean => text === '1' || text === 'true';

/** The form that a scanned command line asks for, whether or not its other values can be read. */
export function formOf(scanned: Scan, environment: Environment): FailureForm {
  const given = (name: string) => scanned.flags.find((entry) => entry.flag.name === name)?.text;
  return {
    format: formatOf(given('json') === 'true', given('output-format') ?? environment['REINS_OUTPUT_FORMAT']),
    ofRun: isOfRun(scanned.path[0]?.name),
    trace: given('trace') === 'true' || traced(environment),
    path: scanned.path,
  };
}

/** The best guess where the command line could not be scanned. */
export function guessForm(argv: readonly string[], environment: Environment): FailureForm {
  const end = argv.indexOf('--');
  const tokens = end < 0 ? argv : argv.slice(0, end);
  const at = tokens.indexOf('--output-format');
  const flag = '--output-format=';
  const word = tokens.find((token) => token.startsWith(flag))?.slice(flag.length) ?? (at < 0 ? null : tokens[at + 1]);
  const { path } = walk(tokens);
  return {
    format: formatOf(tokens.includes('--json'), word ?? environment['REINS_OUTPUT_FORMAT']),
    ofRun: isOfRun(path[0]?.name),
    trace: tokens.includes('--trace') || traced(environment),
    path,
  };
}
