import { describe, expect, test } from 'vitest';
import type { Command } from '../../src/cli/command.ts';
import { renderCommandHelp, renderRootHelp, wrap } from '../../src/cli/help.ts';
import { commands } from '../../src/cli/table.ts';
import { globalFlags } from '../../src/cli/table/globals.ts';
import { helpTopics } from '../../src/cli/table/surfaces.ts';
import { renderTopic } from '../../src/cli/topics.ts';

const reserved =
  'approvals audit backend beam chain chat completion config demo doctor help hook init mcp model plan policy run session state trust tui version';

/** Every command and subcommand of the table. */
function paths(found: readonly Command[], above: readonly Command[] = []): readonly (readonly Command[])[] {
  return found.flatMap((command) => [[...above, command], ...paths(command.commands ?? [], [...above, command])]);
}
const every = paths(commands).map((path) => [path.map((command) => command.name).join(' '), path] as const);
const longest = (text: string) => Math.max(...text.split('\n').map((line) => [...line].length));

test('the table has all reserved words', () => {
  expect(commands.map((command) => command.name).sort()).toEqual(reserved.split(' '));
});

describe.each(every)('%s', (name, path) => {
  const text = renderCommandHelp(path);
  const command = path.at(-1) as Command;

  test('has help of at most 80 columns with two examples or more', () => {
    expect(longest(text)).toBeLessThanOrEqual(80);
    expect(command.examples.length).toBeGreaterThanOrEqual(2);
    expect(text).toContain(`reins ${name}`);
    expect(command.purpose).toMatch(/^[A-Z].*\.$/);
  });
});

test('root help names every command and fits', () => {
  const text = renderRootHelp();
  expect(longest(text)).toBeLessThanOrEqual(80);
  for (const command of commands) expect(text).toMatch(new RegExp(`^ {2}${command.name} `, 'm'));
});

test.each(helpTopics)('the topic %s fits into 80 columns', (topic) => {
  expect(longest(renderTopic(topic))).toBeLessThanOrEqual(80);
});

test('the topic flags shows every global flag', () => {
  const text = renderTopic('flags');
  expect(text).toContain('--no-delete-models');
  expect(text).toContain('--think[=<level>]');
  for (const flag of globalFlags) expect(text).toContain(flag.name);
});

test('text is wrapped at blanks', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrap('unbreakable', 3)).toEqual(['unbreakable']);
});
