import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { programsOf } from '../../src/gate/binding.ts';
import { createPolicyHosts } from '../../src/gate/facts.ts';
import { readCall } from '../../src/shell/read-line.ts';
import { realBinaries } from '../support/binaries.ts';
import { machineBelow } from '../support/machine.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

let home: TempHome;
beforeEach(() => {
  home = tempHome();
});
afterEach(() => home.remove());

const put = (name: string, text: string): void => {
  mkdirSync(join(home.workspace, name, '..'), { recursive: true });
  writeFileSync(join(home.workspace, name), text);
  chmodSync(join(home.workspace, name), 0o755);
};

/** What an approval of a line would be given to. */
async function digest(command: string): Promise<string | null> {
  const machine = { ...machineBelow(home.dir, '/usr/bin:/bin'), workspace: home.workspace };
  return programsOf(await readCall({ command }), createPolicyHosts(machine, realBinaries())(home.workspace));
}

it.each([
  ['./run', 'run'],
  ['sh run', 'run'],
  ['sh -e run x', 'run'],
  ['bash -o pipefail run', 'run'],
  ['. ./run && ls', 'run'],
  ['cd d && . ./env', 'd/env'],
  ['env X=1 timeout 5 sh run', 'run'],
])('an approval of %j is for the file that it starts: %s', async (command, file) => {
  for (const name of ['run', 'd/env', 'other']) put(name, 'echo one\n');
  const before = await digest(command);
  put('other', 'echo another\n');
  expect(await digest(command)).toBe(before);
  put(file, 'echo another\n');
  expect(await digest(command)).not.toBe(before);
});
