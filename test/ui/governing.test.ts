import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RuntimeClient } from '../../src/client/operations.ts';
import type { StartRun } from '../../src/schema/run.ts';
import { textOf } from '../../src/view/line.ts';
import type { Action } from '../../ui/actions.ts';
import type { Effect } from '../../ui/effect.ts';
import { createEffects, type EffectDeps } from '../../ui/effects.ts';
import { createGoverning } from '../../ui/governing.ts';
import type { TuiOptions } from '../../ui/options.ts';
import { reportOf } from '../../ui/reports.ts';
import { statusLine } from '../../ui/status-lines.ts';
import { type ScriptedApp, says, scriptedApp } from '../support/scripted-app.ts';
import { readyState } from './reducing.ts';

let app: ScriptedApp;
beforeAll(async () => {
  app = await scriptedApp({ turns: [says('yes')] });
});
afterAll(() => app.close());

it('the policy that was chosen judges what is started from then on, in place of that of the flags', async () => {
  const options = {
    policy: 'strict',
    shell: false,
    request: async () => ({ policy: 'strict', shell: false }),
    planOptions: async () => ({ policy: 'strict' }),
    // Only the policy of them is looked at here.
  } as unknown as Pick<TuiOptions, 'policy' | 'shell' | 'request' | 'planOptions'>;
  const governing = createGoverning(options);
  const judged = async (): Promise<readonly (string | null)[]> => {
    const client: RuntimeClient = app.client;
    const [turn, step] = [await governing.request(client), await governing.planOptions(client, [])];
    return [governing.policy(), turn.policy, step.policy];
  };
  expect(await judged()).toEqual(['strict', 'strict', 'strict']);
  governing.choose('read-only');
  expect(await judged()).toEqual(['read-only', 'read-only', 'read-only']);
  const shell = async (): Promise<readonly boolean[]> => {
    const { shell: turn } = await governing.request(app.client);
    return [governing.shell(), turn];
  };
  expect(await shell()).toEqual([false, false]);
  governing.chooseShell(true);
  expect(await shell()).toEqual([true, true]);
});

it('what is told of the policy is of the one in use, not of the one that is configured', async () => {
  const turn = { chain_path: join(app.place.dir, 'chain.json'), trust: [], shell: false } as unknown as StartRun;
  const report = (what: 'policy' | 'policies' | 'status' | 'vet' | 'tools') =>
    reportOf(
      { what, of: null, policy: 'read-only', turn: async () => turn },
      app.client,
      readyState({ session: null }),
      0,
    );
  expect((await report('policy')).title).toBe('Policy read-only (builtin)');
  expect((await report('vet')).title).toBe('Policy read-only: vet');
  expect((await report('status')).lines.find((line) => line.startsWith('policy'))).toMatch(/^policy {4}read-only \(/);
  expect((await report('policies')).lines.filter((line) => line.endsWith('in use'))).toEqual([
    'read-only · builtin · shipped · in use',
  ]);
  const tools = (await report('tools')).lines;
  expect(tools.find((line) => line.startsWith('local_fs.write_file'))).toContain('denied');
});

it('edits pass under the policy that it was said under, and the status line says it there alone', () => {
  const { facts } = readyState();
  const under = (sha256: string): string =>
    textOf(
      statusLine(
        readyState({
          size: { columns: 120, rows: 30 },
          editsIn: { session: 's1', policies: ['a'.repeat(64)] },
          facts: { ...facts, policy: { name: 'p', sha256, invalid: false } },
        }),
      ),
    );
  expect(under('a'.repeat(64))).toContain('edits pass');
  expect(under('b'.repeat(64))).not.toContain('edits pass');
});

/** What comes of an effect, by the first action that tells it; nothing is judged, so nothing asks about trust. */
const told = (effect: Effect, chosen: string[]): Promise<string> =>
  new Promise((resolve) => {
    const dispatch = (action: Action): void => {
      if (action.type === 'overlay' && 'title' in action.overlay) resolve(String(action.overlay.title));
      if (action.type === 'say') resolve(action.text);
    };
    createEffects({
      link: { lookAtPolicy: async () => undefined },
      state: () => readyState({ session: null }),
      client: async () => app.client,
      now: () => 0,
      policy: () => 'read-only',
      choosePolicy: (name: string) => chosen.push(name),
      dispatch,
      // Nothing else is asked of the rooms here.
    } as unknown as EffectDeps).perform(effect);
  });

it('another policy is taken where it can be used, and what there is of it is shown', async () => {
  const chosen: string[] = [];
  expect(await told({ do: 'report', what: 'policy' }, chosen)).toBe('Policy read-only (builtin)');
  expect(await told({ do: 'use-policy', name: 'nosuch' }, chosen)).toContain('no policy named "nosuch"');
  expect(chosen).toEqual([]);
  writeFileSync(join(app.place.dir, 'broken.json'), '{ "rules": 3 }', { mode: 0o600 });
  const broken = join(app.place.dir, 'broken.json');
  expect(await told({ do: 'use-policy', name: broken }, chosen)).toContain('is invalid: the one in use stays');
  expect(chosen).toEqual([]);
  expect(await told({ do: 'use-policy', name: 'strict' }, chosen)).toBe(
    'policy strict judges from the next turn on, in this program',
  );
  expect(chosen).toEqual(['strict']);
});

it('what is told of the use is that of the session beside that of its last run', async () => {
  for (const text of ['one', 'two'])
    await app.client.awaitRun({ run_id: (await app.chat(text, { session: null } as never)).run_id });
  const { session } = await app.client.showSession({ name: null, tail: 1, tools: false });
  const { runs } = await app.client.listRuns({ status: null, session: session.name, limit: 10 });
  const state = readyState({
    session: { id: session.id, name: session.name, before: null, loading: false, deleted: false },
  });
  const { lines } = await reportOf(
    { what: 'usage', of: null, policy: null, turn: async () => ({}) as never },
    app.client,
    state,
    0,
  );
  const read = runs.map(({ usage }) => usage.input_tokens);
  expect(runs).toHaveLength(2);
  expect(lines).toContainEqual(
    expect.stringMatching(
      new RegExp(`^session   about ${(read[0] ?? 0) + (read[1] ?? 0)} tokens in, \\d+ out \\(2 runs\\)$`),
    ),
  );
  expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^last run  about ${read[0]} tokens in, \\d+ out$`)));
});
