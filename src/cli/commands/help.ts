import { RuntimeError } from '../../schema/errors.ts';
import type { Command } from '../command.ts';
import type { Handler } from '../context.ts';
import { renderCommandHelp } from '../help.ts';
import { findCommand } from '../table.ts';
import { helpTopics } from '../table/surfaces.ts';
import { renderTopic } from '../topics.ts';

/** `help [<command> [<subcommand>] | <topic>]` (06 §2.6). */
const help: Handler = async ({ invocation, terminal, globals, printJson }) => {
  const [word, below] = invocation.words;
  const topic = below === undefined ? helpTopics.find((entry) => entry === word) : undefined;
  const command = topic === undefined ? path(word, below) : [];
  if (globals.format === 'text') {
    await terminal.out(topic === undefined ? renderCommandHelp(command) : renderTopic(topic));
    return 0;
  }
  const { commandJson, topicJson } = await import('../help-json.ts');
  await printJson(topic === undefined ? commandJson(command) : topicJson(topic));
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
