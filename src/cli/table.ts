import type { Command, Flag } from './command.ts';
import { globalFlags } from './table/globals.ts';
import { oversightCommands } from './table/oversight.ts';
import { setupCommands } from './table/setup.ts';
import { surfaceCommands } from './table/surfaces.ts';
import { toolSourceCommands } from './table/tool-sources.ts';
import { workCommands } from './table/work.ts';

/** The one definition of all commands (06 §1.1.2), in the order in which root help shows them. */
export const commands: readonly Command[] = [
  ...workCommands,
  ...oversightCommands,
  ...setupCommands,
  ...toolSourceCommands,
  ...surfaceCommands,
];

/** A command by its word or an alias of it. */
export const findCommand = (word: string, among: readonly Command[] = commands): Command | undefined =>
  among.find((command) => command.name === word || command.aliases?.includes(word) === true);

/** Flags that a command takes: its own first; an own flag hides the global one of the same name. */
export function flagsOf(command: Command | null): readonly Flag[] {
  const own = command?.flags ?? [];
  const names = new Set(own.map((flag) => flag.name));
  return [...own, ...globalFlags.filter((flag) => !names.has(flag.name))];
}

/** Every definition of a flag name in the table; more than one when commands differ about it. */
export function definitionsOf(name: string): readonly Flag[] {
  const found: Flag[] = [];
  const visit = (command: Command) => {
    for (const flag of command.flags ?? []) if (flag.name === name) found.push(flag);
    for (const below of command.commands ?? []) visit(below);
  };
  for (const flag of globalFlags) if (flag.name === name) found.push(flag);
  for (const command of commands) visit(command);
  return found;
}

/** Names of the flags that may be meant while no more than this command is known; for "did you mean". Sorted. */
export function flagNames(command: Command | undefined): readonly string[] {
  const names = new Set<string>(flagsOf(command ?? null).map((flag) => flag.name));
  const visit = (below: Command) => {
    for (const flag of below.flags ?? []) names.add(flag.name);
    for (const next of below.commands ?? []) visit(next);
  };
  for (const below of command === undefined ? commands : (command.commands ?? [])) visit(below);
  return [...names].sort();
}
