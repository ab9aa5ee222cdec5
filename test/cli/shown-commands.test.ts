import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkWords } from '../../src/cli/check-words.ts';
import type { Command, Flag } from '../../src/cli/command.ts';
import { renderCommandHelp } from '../../src/cli/help.ts';
import { parse } from '../../src/cli/parse.ts';
import { scan } from '../../src/cli/scan.ts';
import { commands } from '../../src/cli/table.ts';
import { globalFlags } from '../../src/cli/table/globals.ts';
import { renderTopic } from '../../src/cli/topics.ts';
import { flagText } from '../../src/cli/values.ts';
import { splitWords } from '../../src/text/posix-words.ts';

/** Every command line that somebody is shown: in help, in what people read, and as the next step behind an error. */

const root = join(import.meta.dirname, '../..');
const site = { now: Date.parse('2026-06-01T00:00:00Z'), absolute: (path: string) => path };

/** The words behind `reins`, up to what the shell takes for itself; what stands for a value becomes one. */
function argvOf(line: string): readonly string[] {
  const plain = line
    .replaceAll(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, 'x')
    .replaceAll(/<[^<>]*>…?|…/g, 'x')
    .replaceAll(/(\S)\|\S+/g, '$1');
  const { words } = splitWords(plain);
  const end = words.findIndex((word) => ['|', '>', '&&', '#'].includes(word));
  return (end < 0 ? words : words.slice(0, end)).slice(1);
}

/** What is wrong with a line: null when the program would take it. */
async function fault(line: string, check: 'whole' | 'form'): Promise<string | null> {
  try {
    const scanned = scan(argvOf(line));
    if (check === 'whole') checkWords(scanned.path, scanned.words);
    if (check === 'whole') await parse(scanned, import.meta, site);
    return scanned.implicit && check === 'form' ? 'no command' : null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function faults(lines: readonly string[], check: 'whole' | 'form'): Promise<readonly string[]> {
  const found = await Promise.all(lines.map(async (line) => [line, await fault(line, check)] as const));
  return found.flatMap(([line, why]) => (why === null ? [] : [`${line}: ${why}`]));
}

test('the examples of help are taken by the program as they stand', async () => {
  const examples = (list: readonly Command[]): readonly string[] =>
    list.flatMap((command) => [...command.examples, ...examples(command.commands ?? [])]);
  const lines = examples(commands).map((line) => line.replace(/^.* \| |^source <\(/, '').replace(/\)$/, ''));
  expect(lines.length).toBeGreaterThan(200);
  expect(lines.filter((line) => !line.startsWith('reins '))).toEqual([]);
  expect(lines.filter((line) => /[<>]/.test(line.replace(/ > \S+$/, '')))).toEqual([]);
  expect(await faults(lines, 'whole')).toEqual([]);
});

/** What people read; `docs/decisions.md` is about other programs too. */
const documents = [
  'README.md',
  'docs/beam.md',
  'docs/chains.md',
  'docs/models.md',
  'docs/policies.md',
  'docs/terminal.md',
] as const;
const textOf = (document: string): string => readFileSync(join(root, document), 'utf8');

test.each<[(typeof documents)[number], lines: number, named: number]>([
  ['README.md', 30, 10],
  ['docs/beam.md', 4, 2],
  ['docs/chains.md', 10, 5],
  ['docs/models.md', 5, 5],
  ['docs/policies.md', 4, 5],
  ['docs/terminal.md', 2, 1],
])('so are the command lines of %s', async (document, manyLines, manyNamed) => {
  const text = textOf(document);
  const found = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, line = '']) => line.replaceAll(/\s+/g, ' '));
  const lines = found(/^(?:\$ |[a-z ]+ \| |┗ also: )?(reins (?! ?\[?1)[^#\n━]*)/gm);
  // A bar in a cell of a table is written with a backslash.
  const named = found(/`(reins (?!"…")[^`]*)`/g).map((line) => line.replaceAll('\\|', '|'));
  expect([lines.length >= manyLines, named.length >= manyNamed]).toEqual([true, true]);
  expect(await faults(lines, 'whole')).toEqual([]);
  expect(await faults(named, 'form')).toEqual([]);
});

const flagsOf = (list: readonly Command[]): readonly Flag[] =>
  list.flatMap((command) => [...(command.flags ?? []), ...flagsOf(command.commands ?? [])]);
const spelled = new Set(
  [...globalFlags, ...flagsOf(commands)].flatMap(({ name, kind }) =>
    kind === 'boolean' ? [`--${name}`, `--no-${name}`] : [`--${name}`],
  ),
);
const flagsIn = (text: string): readonly string[] => [...new Set(text.match(/(?<![\w-])--[a-z][a-z0-9-]*/g) ?? [])];

test.each<[(typeof documents)[number], others: readonly string[]]>([
  // Of the test runner, and of npm.
  ['README.md', ['--allow-scripts', '--config']],
  ['docs/beam.md', []],
  ['docs/chains.md', []],
  ['docs/models.md', []],
  ['docs/policies.md', []],
  // Of a line that begins with a slash.
  ['docs/terminal.md', ['--save']],
])('%s names no flag that there is not', (document, others) => {
  const named = flagsIn(textOf(document));
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((flag) => !spelled.has(flag)).sort()).toEqual(others);
});

test('each flag of the parser stands in the help of its command, and the global ones in their topic', () => {
  const missing = (list: readonly Command[], above: readonly Command[]): readonly string[] =>
    list.flatMap((command) => {
      const path = [...above, command];
      const shown = new Set(flagsIn(renderCommandHelp(path)));
      const absent = (command.flags ?? []).map(flagText).filter((flag) => !shown.has(flag));
      return [...absent.map((flag) => `${command.name} ${flag}`), ...missing(command.commands ?? [], path)];
    });
  expect(flagsOf(commands).length).toBeGreaterThan(150);
  expect(missing(commands, [])).toEqual([]);
  const topic = new Set(flagsIn(renderTopic('flags')));
  expect(globalFlags.map(flagText).filter((flag) => !topic.has(flag))).toEqual([]);
});

test('what a command that does one thing says of its flags names its own and the global ones only', () => {
  const wrong = (list: readonly Command[], above: readonly Command[]): readonly string[] =>
    list.flatMap((command) => {
      const path = [...above, command];
      const below = wrong(command.commands ?? [], path);
      // The examples of a group are those of its parts.
      if (command.commands !== undefined) return below;
      const own = new Set(
        [...globalFlags, ...(command.flags ?? [])].flatMap(({ name }) => [`--${name}`, `--no-${name}`]),
      );
      return [
        ...flagsIn(renderCommandHelp(path))
          .filter((flag) => !own.has(flag))
          .map((flag) => `${command.name} ${flag}`),
        ...below,
      ];
    });
  expect(wrong(commands, [])).toEqual([]);
});

test('what is advised in the program names commands and flags that there are', async () => {
  const lines = ['src', 'ui', 'web'].flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' }).flatMap((file) =>
      [
        ...(/\.tsx?$/.test(file) ? readFileSync(join(root, room, file), 'utf8') : '').matchAll(
          /'(reins [a-z-][^'\n]*)'|"(reins [a-z-][^"\n]*)"|`(reins [a-z-](?:\$\{(?:[^{}]|\{[^{}]*\})*\}|[^`\n$])*)`/g,
        ),
      ].map(([, one, two, three]) => one ?? two ?? three ?? ''),
    ),
  );
  expect(lines.length).toBeGreaterThan(150);
  // One is an example without a command word, the other a name of what is signed.
  const others = ['reins summarise the last five commits --shell', 'reins feed'];
  // A flag that may be left out brings the blank before it.
  const written = (line: string): string => line.replace(/\$\{(plan|session)Flag(?:\([\w.]+\))?\}/g, ' --$1 x');
  expect(await faults(lines.filter((line) => !others.includes(line)).map(written), 'form')).toEqual([]);
});
