import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliChild, startCli } from './run-cli.ts';
import type { TempHome } from './temp-home.ts';

/** `reins beam` as a process of its own, on a port of its own. */
export type BeamProgram = {
  readonly cli: CliChild;
  readonly url: string;
  readonly port: number;
  readonly login_url?: string;
  readonly stdout: () => string;
};

/** Starts the server and waits until it is ready. */
export async function startBeamProgram(
  world: TempHome,
  argv: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<BeamProgram> {
  const cli = startCli(world, ['beam', '--port', '0', '--json', ...argv], { environment });
  let text = '';
  cli.child.stdout.on('data', (piece: string) => {
    text += piece;
  });
  await cli.saw('\n', 'stdout');
  // The ready line of the server (09 §1.3).
  return { cli, ...(JSON.parse(text) as { url: string; port: number; login_url?: string }), stdout: () => text };
}

/** Headers of a program that may do what the access token of this home may. */
export const withAccessToken = (world: TempHome, more: Readonly<Record<string, string>> = {}) => ({
  authorization: `Bearer ${readFileSync(join(world.home, '.reins/beam-token'), 'utf8').trim()}`,
  'content-type': 'application/json',
  ...more,
});
