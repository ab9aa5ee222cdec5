import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { builtInTools } from '../src/schema/tool-names.ts';
import { valueOperators } from '../src/policy/operators.ts';
import { createAnswered } from './cli/policy/answered.ts';
import { createWorld, type World } from './cli/world.ts';
import { copyProject } from './support/project-template.ts';
import { shownIn } from './support/shown.ts';

const { text, files, session } = shownIn('docs/policies.md');

async function inWorld(use: (world: World) => Promise<void>): Promise<void> {
  const world = createWorld();
  try {
    for (const { name, text: content } of files) world.write(name, `${content}\n`);
    mkdirSync(join(world.workspace, 'drafts'));
    await use(world);
  } finally {
    world.remove();
  }
}

it('shows what its commands print', () =>
  inWorld(async (world) => {
    const { run, workspace } = world;
    // A block that has no name above it would be left out.
    expect(text.match(/^```json$/gm)).toHaveLength(files.length);
    copyProject(world);
    const operator = await createAnswered(world);
    for (const name of ['a', 'b', 'c']) {
      await operator.answer('approve', 'local_fs.write_file', { path: `notes/${name}.md`, content: 'x' });
    }
    const shown: unknown[] = [];
    for (const { argv } of session) {
      const { stdout } = await run(argv);
      shown.push({ argv, printed: stdout.replaceAll(workspace, '/srv/shop').trimEnd() });
    }
    expect(shown).toEqual(session);
  }));

it('shows an option table that lets an entry grant what it lists, and no more', () =>
  inWorld(async ({ run, write }) => {
    const rule = { tools: 'local_shell', action: 'allow', when: [{ op: 'command_prefix_allowlist', value: 'nl' }] };
    write('nl.json', JSON.stringify({ rules: [rule] }));
    const explained = async (command: string): Promise<string> =>
      (await run(['policy', 'explain', '--policy', './nl.json', '--command', command])).stdout.split('\n', 2).join('');
    // Without a table it is granted with any options.
    expect(await explained('nl -s x shop.json')).toMatch(/^allow /);
    write('../home/.reins/command-tables.json', files.find(({ name }) => name === 'command-tables.json')?.text ?? '');
    expect(await explained('nl -b a -w 3 shop.json')).toMatch(/^allow /);
    expect(await explained('nl -s x shop.json')).toMatch(/^approve .*nl: option -s$/);
    expect(await explained('nl /etc/hosts')).toMatch(/^approve .*nl: operand outside the workspace: \/etc\/hosts$/);
  }));

it('names every operator, tool, built-in policy and member', async () => {
  const commands =
    'command_blacklist command_ask_always has_command_substitution command_prefix_allowlist command_path';
  const internal = new Set(['plan_summary', 'model_pull']);
  const tools = Object.entries(builtInTools).filter(([name]) => !internal.has(name));
  const members =
    'version default_action rules compute attention trusted_binaries tools tool when action timeout_s on_timeout op key value ' +
    'maxTurns maxToolCalls maxTokens modelAllowlist backendAllowlist onExhausted allowAgentAnswers maxAgentAnswers ' +
    'allowAgentApprovals maxAgentApprovals dirs hashes';
  const words = [
    ...Object.keys(valueOperators),
    'exists',
    ...commands.split(' '),
    ...tools.flatMap(([name, own]) => [name, ...Object.keys(own)]),
    ...'default strict read-only ask-always auto-edit open'.split(' '),
    ...members.split(' '),
  ];
  expect(words.filter((word) => !text.includes(`\`${word}\``))).toEqual([]);
});
