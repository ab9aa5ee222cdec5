import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type CliOptions, type CliResult, runCli } from '../support/run-cli.ts';
import { addScriptedBackend, copyProject } from '../support/project-template.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

/** A home and a workspace of their own, and the program in them. */
export type World = TempHome & {
  run(argv: readonly string[], options?: CliOptions): Promise<CliResult>;
  /** Writes a file of the workspace and returns its path. */
  write(name: string, content: string | Uint8Array): string;
};

/** @param always what every command of this world is given, unless it says otherwise */
export function createWorld(always: CliOptions = {}): World {
  const home = tempHome();
  return {
    ...home,
    run: (argv, options) => runCli(home, argv, { ...always, ...options }),
    write: (name, content) => {
      const path = join(home.workspace, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return path;
    },
  };
}

/** The flags that make the demo script the model of a run. */
export const scripted = ['--provider', 'scripted'] as const;

/** A workspace that `init` has set up. */
export async function createProject(always: CliOptions = {}): Promise<World> {
  const world = createWorld(always);
  copyProject(world);
  return world;
}

/** Registers a script of turns under the model name `tester`; runs choose it with `tester` below. */
export async function addScript(world: World, turns: readonly unknown[]): Promise<void> {
  const path = world.write(
    '../script.json',
    JSON.stringify({ script: 1, models: [{ name: 'tester', context: 8192, capabilities: ['chat', 'tools'] }], turns }),
  );
  if (addScriptedBackend(world, path)) return;
  const added = await world.run(['backend', 'add', 'script', '--type', 'scripted', '--url', path]);
  if (added.code !== 0) throw new Error(`backend add failed: ${added.stderr}`);
}
export const tester = [...scripted, '--model', 'tester'] as const;

/** A script in which the model wants to write a file, then says what came of it. */
export const writingTurns = [
  {
    name: 'ask',
    match: { role: 'user' },
    reply: {
      text: 'I will write it.',
      tool_calls: [{ name: 'local_fs.write_file', arguments: { path: 'new.txt', content: 'hello\n' } }],
    },
  },
  { name: 'refused', match: { tool: { content: 'denied' } }, reply: { text: 'It was denied.' } },
  { name: 'written', match: { role: 'tool' }, reply: { text: 'It is written.' } },
];

/** A chain without a model: what goes in comes out. */
export const echoChain = JSON.stringify({
  id: 'echo',
  tasks: [{ id: 'same', handler: 'noop', transition: { branches: [{ operator: 'default', goto: 'end' }] } }],
});

/** Every member of the result object (06 §8.4). */
export const resultMembers =
  'schema_version type subtype is_error result output_type output run_id session_id session_name plan chain model provider backend policy num_turns num_tool_calls duration_ms duration_api_ms waited_ms usage asks permission_denials steps warnings error exit_code'.split(
    ' ',
  );
