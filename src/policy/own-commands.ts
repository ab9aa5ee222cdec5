import type { FoundCommand } from '../schema/command.ts';
import { filesOf } from './analysis.ts';
import { placesOfWord } from './named-paths.ts';
import type { Scope } from './scope.ts';

/** Commands of this program that no tool call may give (11 §6.2): the words of each, and behind them what else there is. */
const reserved: Readonly<Record<string, readonly string[] | 'all'>> = {
  run: 'all',
  chat: 'all',
  session: ['rename', 'delete', 'rm', 'fork', 'compact'],
  plan: ['new', 'next', 'retry', 'skip', 'replan', 'explore', 'archive', 'clean', 'delete', 'rm'],
  state: ['resume', 'cancel', 'undo', 'delete', 'rm', 'prune'],
  approvals: ['respond', 'forget'],
  policy: ['suggest', 'trust'],
  audit: ['prune', 'restored'],
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

/**
 * Which of them the words behind this program are, from each of their places on, and null where they are none: the
 * first entry is for all of them. A word behind an option may be its value. In one pass from the end, since a line may
 * have ten thousand words.
 */
export function reservedCommands(words: readonly string[]): readonly (string | null)[] {
  const found: (string | null)[] = new Array(words.length + 1).fill(null);
  /** What is found at a place behind an option, whose value the word there may be. */
  let behindOption: string | null = null;
  let next: readonly string[] = [];
  for (let at = words.length - 1; at >= 0; at -= 1) {
    const word = words[at] ?? '';
    if (word.startsWith('-')) {
      found[at] = behindOption;
      continue;
    }
    const own = reservedAt(word, next);
    behindOption = own === undefined ? (found[at + 1] ?? null) : own;
    found[at] = own ?? null;
    next = [word, ...next.slice(0, 1)];
  }
  return found;
}

/** @returns undefined when the word is none of the commands; null for one that may be given */
function reservedAt(word: string, next: readonly string[]): string | null | undefined {
  const subcommands = Object.hasOwn(reserved, word) ? reserved[word] : undefined;
  // `beam status` tells and changes nothing.
  if (subcommands === 'all') return word === 'beam' && next[0] === 'status' ? null : word;
  const found = next.find((name) => subcommands?.includes(name));
  return found === undefined ? undefined : `${word} ${found}`;
}

/** A command that starts this program, by itself or by an interpreter, with such words; as it is told, or null. */
export function ownCommand(command: FoundCommand, scope: Scope): string | null {
  const behind = reservedCommands(command.words.map(({ text }) => text));
  for (const [index, word] of command.words.entries()) {
    const found = behind[index + 1] ?? null;
    if (found === null) continue;
    const places = index === 0 ? filesOf(command, scope.host) : placesOfWord(word, command, scope.host);
    if (places.some((place) => scope.host.guardOf(scope.path(place).found()) === 'self')) return found;
  }
  return null;
}
