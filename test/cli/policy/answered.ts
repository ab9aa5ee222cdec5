import { startCli } from '../../support/run-cli.ts';
import { addScript, tester, type World } from '../world.ts';

type Call = { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };

const turns = (call: Call) => [
  { name: 'call', match: { role: 'user' }, reply: { tool_calls: [call] } },
  { name: 'done', match: { role: 'tool' }, reply: { text: 'done' } },
];

/** A project whose model asks for one call in each run, and an operator who answers it from a second terminal. */
export async function createAnswered(world: World) {
  await addScript(world, turns({ name: 'echo.echo', arguments: { input: 'x' } }));
  const model = { name: 'tester', context: 8192, capabilities: ['chat', 'tools'] };

  return {
    /** Runs a call that asks and answers it. @returns the id of the ask */
    async answer(verdict: 'approve' | 'deny', name: string, args: Call['arguments']): Promise<string> {
      world.write(
        '../script.json',
        JSON.stringify({ script: 1, models: [model], turns: turns({ name, arguments: args }) }),
      );
      const run = startCli(world, [...tester, '--shell', '--on-ask', 'wait', 'go']);
      run.child.stdin.end();
      await run.saw('answer with: reins approvals respond ');
      const { asks } = JSON.parse((await world.run(['approvals', 'list', '--json'])).stdout);
      await world.run(['approvals', 'respond', asks[0].id, `--${verdict}`]);
      await run.ended;
      return asks[0].id;
    },
  };
}
