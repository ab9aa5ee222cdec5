import type { CommandReading } from '../schema/command.ts';
import type { PolicyCall } from '../schema/policy.ts';
import { parseScript } from '../shell/parse-script.ts';
import { readCallWith } from '../shell/read-line.ts';

/** The reading of a command. Many calls are tried at once, so the grammar is at hand here. */
export const readCommand = (args: PolicyCall['args']): CommandReading | null => readCallWith(args, parseScript);

/** The words of a call that is one command and nothing else, else none. */
export function onlyCommand(args: PolicyCall['args']): readonly string[] {
  const reading = readCommand(args);
  if (reading === null || reading.form === 'none' || !reading.grant.ok) return [];
  const [command, ...more] = reading.grant.line.commands;
  return command === undefined || more.length > 0 ? [] : command.words;
}
