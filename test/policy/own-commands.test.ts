import { describe, expect, it } from 'vitest';
import type { Command } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/table.ts';
import { reservedCommands } from '../../src/policy/own-commands.ts';

/** What words behind this program are, all of them together. */
const reservedCommand = (words: readonly string[]): string | null => reservedCommands(words)[0] ?? null;

/** Every way to name each command that does something. */
function spellings(among: readonly Command[], before: readonly string[] = []): [readonly string[], boolean][] {
  return among.flatMap((command) =>
    [command.name, ...(command.aliases ?? [])].flatMap((name): [readonly string[], boolean][] => {
      const words = [...before, name];
      const own =
        command.module === undefined ? [] : [[words, command.insideTool === 'refused'] as [string[], boolean]];
      return [...own, ...spellings(command.commands ?? [], words)];
    }),
  );
}

describe('a command of this program in a tool call', () => {
  it('is refused by the gate where a tool child is refused it', () => {
    const all = spellings(commands);
    expect(all.length).toBeGreaterThan(90);
    const wrong = all.filter(([words, refused]) => (reservedCommand(words) !== null) !== refused);
    expect(wrong.map(([words]) => words.join(' '))).toEqual([]);
  });

  it.each([
    ['--db x approvals --json respond y', 'approvals respond'],
    ['--data-dir=run doctor', null],
    ['--db run doctor', 'run'],
    ['session show run', null],
    ['beam status', null],
    ['approvals list', null],
  ])('is known among its options: %s', (line, expected) => {
    expect(reservedCommand(line.split(' '))).toBe(expected);
  });
});
