import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from './support/run-cli.ts';
import { createWorld } from './cli/world.ts';
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

it('shows what the policy commands print', async () => {
  const [, policy = ''] = /the first match wins[\s\S]*?\n```json\n([\s\S]*?)\n```/.exec(readme) ?? [];
  const [, session = ''] = /as `small\.json`:\n\n```\n(\$ [\s\S]*?)\n```/.exec(readme) ?? [];
  const world = createWorld();
  try {
    world.write('small.json', policy);
    const printed: string[] = [];
    for (const [line, command = ''] of session.matchAll(/^\$ reins (.*)$/gm)) {
      const argv = (command.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
      const { stdout } = await world.run(argv);
      printed.push(`${line}\n${stdout.replaceAll(world.workspace, '/srv/notes')}`);
    }
    expect(printed).toHaveLength(2);
    expect(printed.join('').trimEnd()).toBe(session);
  } finally {
    world.remove();
  }
});
