import type { FoundCommand } from '../schema/command.ts';
import { filesOf } from './analysis.ts';
import { placesOfWord } from './named-paths.ts';
import type { Scope } from './scope.ts';

/** Commands of this program that no tool call may give (11 §6.2): the words of each, and behind them what else there is. */
const reserved: Readonly<Record<string, readonly string[] | 'all'>> = {
  run: 'all',
  chat: 'all',
  session: ['delete', 'rm', 'fork', 'compact'],
  plan: ['new', 'next', 'retry', 'skip', 'replan', 'explore', 'delete', 'rm'],
  state: ['resume', 'cancel', 'delete', 'rm', 'prune'],
  approvals: ['respond'],
  policy: ['suggest', 'trust'],
  audit: ['prune'],
  trust: 'all',
  init: 'all',
  config: ['set', 'unset'],
  backend: ['add', 'update', 'test', 'remove', 'rm'],
  model: ['add', 'remove', 'rm', 'prune', 'pull', 'set-context'],
  models: ['add', 'remove', 'rm', 'prune', 'pull', 'set-context'],
  hook: ['add', 'update', 'refresh', 'accept', 'remove', 'rm'],
  mcp: ['add', 'update', 'test', 'diff', 'accept', 'auth', 'remove', 'rm'],
  tui: 'all',
  beam: 'all',
  demo: 'all',
};

/** Which of them the words behind this program are, or null. A word behind an option may be its value. */
export function reservedCommand(words: readonly string[]): string | null {
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word.startsWith('-')) continue;
    const subcommands = Object.hasOwn(reserved, word) ? reserved[word] : undefined;
    const behind = words.slice(at + 1).filter((next) => !next.startsWith('-'));
    // `beam status` tells and changes nothing.
    if (subcommands === 'all') return word === 'beam' && behind[0] === 'status' ? null : word;
    const found = behind.slice(0, 2).find((name) => subcommands?.includes(name));
    if (found !== undefined) return `${word} ${found}`;
    if (words[at - 1]?.startsWith('-') !== true) return null;
  }
  return null;
}

/** A command that starts this program, by itself or by an interpreter, with such words; as it is told, or null. */
export function ownCommand(command: FoundCommand, scope: Scope): string | null {
  const words = command.words.map(({ text }) => text);
  for (const [index, word] of command.words.entries()) {
    const found = reservedCommand(words.slice(index + 1));
    if (found === null) continue;
    const places = index === 0 ? filesOf(command, scope.host) : placesOfWord(word, command, scope.host);
    if (places.some((place) => scope.host.guardOf(scope.path(place).found()) === 'self')) {
      return found;
    }
  }
  return null;
}
