import { realBinaries } from '../support/binaries.ts';
import { chmodSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPolicyHosts, lineReader } from '../../src/gate/facts.ts';
import { evaluate } from '../../src/policy/evaluate.ts';
import type { Evaluation, ExecFact, LoadedPolicy } from '../../src/schema/policy.ts';
import type { SpawnResult } from '../../src/schema/protocol.ts';
import { readCall } from '../../src/shell/read-line.ts';
import { childEnvironment } from '../../src/tools/environment.ts';
import { recorded, recorder } from './recorders.ts';
import { spawnTool } from '../../workers/spawn-tool.ts';
import type { TempHome } from '../support/temp-home.ts';

export type Args = Readonly<Record<string, unknown>>;

/** A workspace, and programs that do nothing but write down that they were started. */
export type Range = {
  /** Judges a call as the gate does, on this machine. */
  judge(policy: LoadedPolicy, args: Args, path?: string, cwd?: string): Promise<Evaluation>;
  /** Starts what was judged. */
  start(exec: ExecFact | null, path?: string): Promise<SpawnResult>;
  /** A program that records its words; in the directory of programs unless another is named. */
  plant(name: string, directory?: string): string;
  /** What was started so far, word by word, in no order. */
  started(): readonly (readonly string[])[];
};

export function createRange(home: TempHome, names: readonly string[]): Range {
  const bin = join(home.dir, 'programs');
  const records = join(home.dir, 'records');
  mkdirSync(bin);
  mkdirSync(records);
  const plant = (name: string, directory = bin): string => {
    const path = join(directory, name);
    mkdirSync(directory, { recursive: true });
    writeFileSync(path, recorder(records));
    chmodSync(path, 0o755);
    return path;
  };
  for (const name of names) plant(name);
  const environment = (path: string) =>
    childEnvironment({ parent: { PATH: path, HOME: home.home }, allow: [], marker: 'run_1', term: 'dumb' });
  return {
    plant,
    async judge(policy, args, path = `${bin}:/nowhere`, cwd = '.') {
      const host = createPolicyHosts(
        {
          platform: process.platform,
          shell: 'sh',
          workspace: realpathSync(home.workspace),
          home: home.home,
          caseInsensitivePaths: false,
          path,
          confined: false,
          database: join(home.workspace, '.reins', 'local.db'),
          reinsHome: join(home.home, '.reins'),
          dataDir: join(home.workspace, '.reins'),
          secretFiles: [],
          namedFiles: [],
          installation: join(home.dir, 'opt'),
          pid: process.pid,
        },
        realBinaries(),
      )(realpathSync(join(home.workspace, cwd)));
      const call = { tools: 'local_shell', tool: 'local_shell', args };
      return evaluate(policy, call, host, {
        reading: await readCall(args),
        ...(await lineReader(policy, 'local_shell')),
      });
    },
    async start(exec, path = `${bin}:/usr/bin:/bin`) {
      if (exec?.file == null) throw new Error('there is nothing to start');
      const { program } = exec;
      return spawnTool(
        {
          file: exec.file,
          argv0: exec.argv[0] ?? '',
          args: exec.argv.slice(1),
          cwd: exec.cwd,
          env: { ...environment(path), ...exec.env_set },
          timeout_ms: 20_000,
          max_output_bytes: 65_536,
          spool: { directory: join(home.dir, 'spool'), name: 'call' },
          identity: program,
          cwd_identity: null,
        },
        { signal: new AbortController().signal, report: () => {} },
      );
    },
    started: () => recorded(records),
  };
}
