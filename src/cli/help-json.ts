import { configKeys, configTable } from '../schema/config.ts';
import type { Argument, Command, Flag } from './command.ts';
import { exitCodes, rootPurpose, usageOf } from './help.ts';
import { commands } from './table.ts';
import { globalFlags } from './table/globals.ts';
import type { HelpTopic } from './table/surfaces.ts';
import { topicTitles, variables } from './topics.ts';
import { flagText } from './values.ts';

/** `reins help … --json` (06 §8.4): what the text says, from the same table, in the words of the parser. */

/**
 * A command, or everything when the path is empty. `flags` are its own; the global ones stand at the root.
 * @param path the command, then its subcommand
 */
export function commandJson(path: readonly Command[]) {
  const command = path.at(-1);
  const codes = command === undefined ? null : [0, 1, 2, ...(command.exits ?? [])];
  return {
    name: path.map(({ name }) => name).join(' '),
    purpose: command?.purpose ?? rootPurpose,
    usage: command === undefined ? 'reins [<command>] [flags]' : usageOf(path),
    aliases: command?.aliases ?? [],
    commands: (command === undefined ? commands : (command.commands ?? [])).map(({ name, purpose }) => ({
      name,
      purpose,
    })),
    arguments: (command?.arguments ?? []).map(argumentJson),
    flags: (command === undefined ? globalFlags : (command.flags ?? [])).map(flagJson),
    examples: command?.examples ?? [],
    exitCodes: exitCodes.filter(([code]) => codes?.includes(code) ?? true).map(exitJson),
  };
}

/** A topic: its rows under one name. */
export function topicJson(topic: HelpTopic) {
  const rows: Readonly<Record<HelpTopic, () => object>> = {
    flags: () => ({ flags: globalFlags.map(flagJson) }),
    env: () => ({ variables: variables.map(([names, meaning]) => ({ names: names.split(', '), meaning })) }),
    'exit-codes': () => ({ exitCodes: exitCodes.map(exitJson) }),
    config: () => ({
      keys: configKeys.map((name) => {
        const { accepts, fallback, meaning } = configTable[name];
        return { name, accepts, default: fallback === '' ? null : fallback, meaning };
      }),
    }),
  };
  return { topic, purpose: topicTitles[topic], ...rows[topic]() };
}

const exitJson = ([code, meaning]: readonly [code: number, meaning: string]) => ({ code, meaning });

const argumentJson = ({ name, help, required, many, words }: Argument) => ({
  name,
  required: required === true,
  many: many === true,
  words: words ?? null,
  help,
});

/** `flag` is what is typed: of a boolean that holds unless it is switched off, the form that switches it off. */
const flagJson = (flag: Flag) => ({
  flag: flagText(flag),
  short: flag.short === undefined ? null : `-${flag.short}`,
  kind: flag.kind,
  value: flag.kind === 'boolean' ? null : (flag.value ?? 'value'),
  words: flag.words ?? null,
  default: flag.default ?? null,
  env: flag.env ?? null,
  config: flag.config ?? null,
  help: flag.help,
});
