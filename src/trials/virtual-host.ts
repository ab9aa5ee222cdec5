import { posix } from 'node:path';
import type { PolicyHost } from '../schema/policy.ts';

/** A machine as a case file describes it (02 §1). */
export type VirtualMachine = {
  readonly platform: string;
  readonly shell: string;
  readonly workspace: string;
  readonly cwd: string;
  readonly home: string;
  readonly case_insensitive_paths: boolean;
  readonly programs_dir: string;
  readonly programs: readonly string[];
};

const identity = { dev: '1', ino: '1', size: '1', mtime_ns: '1', ctime_ns: '1' };

/** A host without links and without files: names resolve as the description says, and nothing is looked at. */
export function virtualHost(machine: VirtualMachine): PolicyHost {
  const { workspace, home } = machine;
  return {
    platform: machine.platform,
    shell: machine.shell,
    workspace,
    cwd: machine.cwd,
    home,
    caseInsensitivePaths: machine.case_insensitive_paths,
    realPath: (path) => (path.startsWith('/') ? posix.resolve(path) : posix.normalize(path)),
    filesLike: () => [],
    perProcess: (path) => /^\/+proc\/+(thread-)?self(\/|$)/.test(path),
    isDirectory: () => false,
    hardLinks: () => 0,
    guardOf: () => null,
    resolveProgram(word, cwd) {
      if (!word.includes('/') && !machine.programs.includes(word)) return null;
      const real = word.includes('/') ? posix.resolve(cwd, word) : posix.join(machine.programs_dir, word);
      const inside = real.startsWith(`${workspace}/`) ? 'program_in_workspace' : null;
      return { word, real, ...identity, ungrantable: word.startsWith('.') ? 'relative' : inside };
    },
    textOf: () => null,
    isTracked: () => false,
    // One without configuration: what a revision is can only be told in a repository.
    repository: () => ({ outside: false, configs: [] }),
    foundRelative: () => false,
    binary: () => ({ state: 'read', identity, others_write: false, head: '\x7fELF', sha256: null, young: false }),
    guarded: {
      secrets: [
        ...[workspace, home].flatMap((place) =>
          ['', '-wal', '-shm', '-journal', '-mark'].map((suffix) => `${place}/.reins/local.db${suffix}`),
        ),
        ...['machine.key', 'trust.json', 'beam-token', 'audit-anchors'].map((name) => `${home}/.reins/${name}`),
      ],
      secretPrefixes: [workspace, home].map((place) => `${place}/.reins/local.db.backup-`),
      plane: [`${home}/.reins`, `${workspace}/.reins`],
      path: [machine.programs_dir],
      instructions: [],
    },
    root: workspace,
  };
}

/** The machine of the built-in cases. */
export const exampleMachine: VirtualMachine = {
  platform: 'linux',
  shell: 'sh',
  workspace: '/srv/p',
  cwd: '/srv/p',
  home: '/home/u',
  case_insensitive_paths: false,
  programs_dir: '/usr/bin',
  programs: (
    'awk bash busybox cat chroot curl date doas docker echo env eslint file find flock git go gofmt grep head ionice ' +
    'jest less ls man mypy mytool nice node nohup npm npx parallel perl pip pwd pytest python python3 rg rm ruff script ' +
    'sed setsid sh sort ssh stdbuf strace sudo tail tar timeout touch tsc uniq unshare vitest watch wc xargs'
  ).split(' '),
};
