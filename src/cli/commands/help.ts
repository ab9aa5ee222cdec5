import { RuntimeError } from '../../schema/errors.ts';
import type { Command } from '../command.ts';
import type { Handler } from '../context.ts';
import { renderCommandHelp } from '../help.ts';
import { findCommand } from '../table.ts';
import { helpTopics } from '../table/surfaces.ts';
import { renderTopic } from '../topics.ts';

/** `help [<command> [<subcommand>] | <topic>]` (06 §2.6). */
const help: Handler = async ({ invocation, terminal }) => {
  const [word, below] = invocation.words;
  const topic = helpTopics.find((entry) => entry === word);
  await terminal.out(
    topic !== undefined && below === undefined ? renderTopic(topic) : renderCommandHelp(path(word, below)),
  );
  return 0;
};

function path(word: string | undefined, below: string | undefined): readonly Command[] {
  if (word === undefined) return [];
  const command = findCommand(word);
  if (command === undefined) {
    throw new RuntimeError('usage', `"${word}" is neither a command nor a topic (${helpTopics.join(', ')})`, {
      hints: ['reins --help'],
    });
  }
  if (below === undefined) return [command];
  const sub = findCommand(below, command.commands ?? []);
  if (sub !== undefined) return [command, sub];
  throw new RuntimeError('usage', `"${below}" is not a subcommand of "${command.name}"`, {
    hints: [`reins help ${command.name}`],
  });
}

export const handlers = { '': help };
