import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkWords } from '../../src/cli/check-words.ts';
import type { Command } from '../../src/cli/command.ts';
import { parse } from '../../src/cli/parse.ts';
import { scan } from '../../src/cli/scan.ts';
import { commands } from '../../src/cli/table.ts';
import { splitWords } from '../../src/text/posix-words.ts';

/** Every command line that somebody is shown: in help, in the README, and as the next step behind an error. */

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

test('so are the command lines of the README', async () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const found = (pattern: RegExp) => [...readme.matchAll(pattern)].map(([, line = '']) => line.replaceAll(/\s+/g, ' '));
  const lines = found(/^(?:\$ |[a-z ]+ \| )?(reins [^#\n]*)/gm);
  const named = found(/`(reins [^`]*)`/g);
  expect([lines.length > 30, named.length > 10]).toEqual([true, true]);
  expect(await faults(lines, 'whole')).toEqual([]);
  expect(await faults(named, 'form')).toEqual([]);
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
  expect(
    await faults(
      lines.filter((line) => !others.includes(line)),
      'form',
    ),
  ).toEqual([]);
});
