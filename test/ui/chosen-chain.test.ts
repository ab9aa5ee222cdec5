import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StartRun } from '../../src/schema/run.ts';
import { reportOf } from '../../ui/reports.ts';
import type { Chosen } from '../../ui/send-message.ts';
import { createSlashEffects, type SlashDeps } from '../../ui/slash-effects.ts';
import { createClientLink, type LinkOptions } from '../../ui/use-client.ts';
import { allowAll, loopChain, type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';
import { readyState } from './reducing.ts';

let app: ScriptedApp;
beforeAll(async () => {
  app = await scriptedApp({ turns: [says('yes')], projectPolicy: JSON.stringify(allowAll) });
  const put = (name: string, chain: object) =>
    writeFileSync(join(app.place.workspace, '.reins', name), JSON.stringify(chain), { mode: 0o600 });
  put('default-chain.json', { ...loopChain, id: 'of-the-project' });
  put('sly.json', { ...loopChain, id: 'sly' });
  writeFileSync(join(app.place.workspace, 'own.json'), JSON.stringify({ ...loopChain, id: 'own' }));
});
afterAll(() => app.close());

/** The request of a turn as flags make it: no chain is named. */
const request = { chain_path: null, trust: [], shell: false } as unknown as StartRun;
const linked = () =>
  createClientLink({
    client: async () => app.client,
    request: async () => request,
    session: () => null,
    now: () => 0,
    dispatch: () => undefined,
  } as unknown as LinkOptions);

/** `/chain` with a name or path. @returns what is said, and the chain that the next turn asks for */
async function chosen(
  ...names: readonly string[]
): Promise<{ said: string; turn: Pick<Chosen, 'chain_path' | 'chain_name'> }> {
  const link = linked();
  let said = '';
  for (const name of names)
    await new Promise<void>((done) => {
      const say = (text: string): void => {
        said = text;
        done();
      };
      const slash = createSlashEffects({ client: async () => app.client, link, say } as unknown as SlashDeps);
      slash.perform({ do: 'chain', name }, say);
    });
  const { chain_path, chain_name } = await link.turn(app.client);
  return { said, turn: { chain_path, ...(chain_name === undefined ? {} : { chain_name }) } };
}

it('a chain is chosen by its name wherever it stands, and by a path', async () => {
  const shipped = await chosen('default-run-chain');
  expect(shipped.said).toMatch(/^chain chain-run from the next turn on · sha256 [0-9a-f]{8} · builtin$/);
  expect(shipped.turn).toEqual({ chain_path: null, chain_name: 'default-run-chain' });
  // The one that was chosen last holds, in either way.
  const own = await chosen('default-run-chain', join(app.place.workspace, 'own.json'));
  expect(own.said).toMatch(/^chain own from the next turn on · sha256 [0-9a-f]{8} · .*own\.json$/);
  expect(own.turn).toEqual({ chain_path: join(app.place.workspace, 'own.json') });
  expect((await chosen('nothing')).said).toBe('There is no chain "nothing".');
});

it('a name is no consent to what a project brings along', async () => {
  const { said, turn } = await chosen('sly');
  expect(said).toMatch(/^chain sly is not trusted: reins trust add .*\/\.reins\/sly\.json$/);
  expect(turn).toEqual({ chain_path: null });
});

const report = async (what: 'tools' | 'status', turn: Partial<StartRun>): Promise<readonly string[]> =>
  (
    await reportOf(
      { what, of: null, policy: 'default', turn: async () => ({ ...request, ...turn }) },
      app.client,
      readyState({ session: null }),
      0,
    )
  ).lines;

it('the tools that are told are those that the model is offered', async () => {
  const own = { chain_path: join(app.place.workspace, 'own.json') };
  const names = async (turn: Partial<StartRun>) => (await report('tools', turn)).map((line) => line.split(' · ')[0]);
  const without = await names(own);
  expect(without).toContain('local_fs.read_file');
  expect(without).not.toContain('local_shell.local_shell');
  // Only a chain that names it has it.
  expect(without).not.toContain('engine.ask_human');
  expect(await names({ ...own, shell: true })).toContain('local_shell.local_shell');
});

it('the chain that is told is the one that the next turn plays', async () => {
  const chain = async (turn: Partial<StartRun>) =>
    (await report('status', turn)).find((line) => line.startsWith('chain'));
  // What is not trusted is not read, and is named by its file.
  expect(await chain({})).toMatch(/^chain {5}default-chain \(.*\/\.reins\/default-chain\.json, [0-9a-f]{8}\)$/);
  expect(await chain({ chain_name: 'default-run-chain' })).toMatch(/^chain {5}chain-run \(builtin, [0-9a-f]{8}\)$/);
  expect(await chain({ chain_path: 'own.json' })).toBe('chain     own.json');
});
