import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from './support/run-cli.ts';
import { tempHome } from './support/temp-home.ts';

const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');

it('shows what the demo prints', async () => {
  const place = tempHome();
  try {
    const { stdout } = await runCli(place, ['demo']);
    const shown = /prints, without a terminal to ask on:\n\n```\n([\s\S]*?)\n```/.exec(readme)?.[1];
    expect(stdout.replaceAll(/\/[^\s]*\/reins-demo-\w+/g, '/tmp/reins-demo-…').trimEnd()).toBe(shown);
  } finally {
    place.remove();
  }
});

it('names only commands and files that exist', async () => {
  const place = tempHome();
  try {
    const { stdout } = await runCli(place, ['help']);
    const commands = new Set([...stdout.matchAll(/^ {2}([a-z]+) {2,}/gm)].map((match) => match[1]));
    const named = [...readme.matchAll(/^reins ([a-z]+)/gm)].map((match) => match[1] ?? '');
    expect(named.filter((name) => !commands.has(name))).toEqual([]);
  } finally {
    place.remove();
  }
});
