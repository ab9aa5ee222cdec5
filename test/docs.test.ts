import { expect, it } from 'vitest';
import { type Macro, macroOf, macroSites } from '../src/chain/macro-syntax.ts';
import { composeStrategies, handlers, operators } from '../src/schema/chain.ts';
import { inputTypes } from '../src/schema/run.ts';
import { createWorld, type World } from './cli/world.ts';
import { shownIn } from './support/shown.ts';

const { text: document, files, session } = shownIn('docs/chains.md');
const chains = files.filter(({ name }) => !name.endsWith('.script.json'));

async function inWorld(use: (world: World) => Promise<void>): Promise<void> {
  const world = createWorld();
  try {
    for (const { name, text } of files) world.write(name, `${text}\n`);
    world.write('notes.md', '# Notes\n');
    world.write('plain.txt', 'plain\n');
    await use(world);
  } finally {
    world.remove();
  }
}

it('shows only chains that pass vet --strict', () =>
  inWorld(async ({ run, workspace }) => {
    // A block that has no name above it would be left out.
    expect(document.match(/^```json$/gm)).toHaveLength(files.length);
    const { stdout, code } = await run(['chain', 'vet', '--strict', ...chains.map(({ name }) => name)]);
    expect(stdout.trimEnd().split('\n')).toEqual(chains.map(({ name }) => `${workspace}/${name}: ok`));
    expect(code).toBe(0);
  }));

it('shows what its commands print, each chain among them', () =>
  inWorld(async ({ run }) => {
    const shown: unknown[] = [];
    for (const { argv } of session) {
      const { stdout } = await run(argv);
      shown.push({ argv, printed: stdout.trimEnd() });
    }
    expect(shown).toEqual(session);
    const played = new Set(session.flatMap(({ argv }) => argv.filter((_, index) => argv[index - 1] === '--chain')));
    expect(chains.map(({ name }) => name).filter((name) => !played.has(name))).toEqual([]);
  }));

it('shows how the failing example fails', () =>
  inWorld(async ({ run }) => {
    for (const { argv } of session.slice(0, 1)) await run(argv);
    const { stderr, code } = await run(['run', '--provider', 'scripted', '--chain', 'check.json', 'go away']);
    expect(code).toBe(1);
    expect(document).toContain(`exit 1: \`${stderr.trim().replace('reins: ', '')}\``);
  }));

it('names every handler, operator, strategy and input type', () => {
  const words = [...handlers, ...operators, ...composeStrategies, ...inputTypes];
  expect(words.filter((word) => !document.includes(`\`${word}\``))).toEqual([]);
});

it('names every kind of macro, and none that there is not', () => {
  const section = /^## Macros\n([\s\S]*?)^## /m.exec(document)?.[1]?.replaceAll('\\|', '|') ?? '';
  // A kind that is added to the language has to be added here, or this does not compile.
  const known: Readonly<Record<Exclude<Macro['kind'], 'bad'>, true>> = {
    var: true,
    time: true,
    chain: true,
    tools_by_provider: true,
    providers: true,
    tools_of: true,
    host: true,
    edge_count: true,
  };
  const kinds = macroSites(section).map((site) => macroOf(site)?.kind ?? null);
  expect(new Set(kinds)).toEqual(new Set(Object.keys(known)));
});
