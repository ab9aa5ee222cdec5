import { afterEach, expect, it } from 'vitest';
import { createField, type Field, type Outcome } from './field.ts';

/** Attacks of our own by programs that start others: each is listed, and none may lend its allow to what it starts. */

let field: Field | undefined;
afterEach(() => field?.app.close());

/** How each is called; the first word is listed, `canary` must not be started, and a deny of it must see it. */
const launching = [
  'taskset 1 canary',
  'setarch x86_64 canary',
  'linux64 canary',
  'chrt -o 0 canary',
  'prlimit --nofile=5 canary',
  'setpriv --no-new-privs canary',
  'gosu root canary',
  'pkexec canary',
  'bwrap --bind / / canary',
  'firejail canary',
  'fakeroot -- canary',
  'proxychains4 -q canary',
  'dbus-run-session -- canary',
  'xvfb-run -a canary',
  'ssh-agent canary',
  'start-stop-daemon -S -x canary',
  "tmux new -d 'canary x'",
  'screen -dm canary',
  'entr canary',
  'watchexec -- canary',
  "hyperfine 'canary x'",
  'unbuffer canary',
  'chronic canary',
  'rlwrap canary',
  'valgrind canary',
  'perf stat canary',
  'numactl -N 0 canary',
  'systemd-inhibit --what=idle canary',
  'caffeinate -i canary',
  'tini -- canary',
  'cross-env A=b canary',
  "concurrently 'canary x'",
  "nix-shell --run 'canary x'",
  "nix-shell --run='canary x'",
  'uv run canary',
  'poetry run canary',
  'pipenv run canary',
  'conda run -n x canary',
  'bundle exec canary',
  'mise exec -- canary',
  'kubectl exec pod -- canary',
  'npm exec canary',
  "npm exec -c 'canary x'",
  'npm x -- canary',
  'docker compose exec web canary',
  'docker container exec web canary',
  'env -- A=b canary',
  "env -S 'canary x'",
  'env -iS canary',
  "env --split-string='canary x'",
  'env -u HOME -C . canary',
  'nice -5 canary',
  'nice --adjustment=5 canary',
  'timeout --signal=KILL -k1 5 canary',
  'timeout --sig KILL 5 canary',
  'stdbuf --output=L canary',
  'ionice -c2 -n7 canary',
  'setsid --wait canary',
  'xargs -P4 -n1 canary',
  'xargs -I{} canary {}',
  "flock -w 1 f -c 'canary x'",
  "script -qc 'canary x' /dev/null",
  'script -q /dev/null canary x',
  "watch -n1 'canary x'",
  'strace -fo f canary',
  'unshare --map-users=1 canary',
  'sudo -uroot A=b canary',
  'busybox canary',
  "mksh -c 'canary x'",
  "rbash -c 'canary x'",
  "tcsh -c 'canary x'",
  "bash --norc -o pipefail -c 'canary x'",
  "bash -ceuo pipefail 'canary x'",
  "bash -c -- 'canary x'",
] as const;

/** Interpreters under names that are not theirs alone. */
const interpreting = [
  'nodejs -e 1',
  'node20 -e 1',
  'python3.11 -c 1',
  'pypy3 -c 1',
  'ipython -c 1',
  'perl5.36 -e 1',
  'ruby3.1 -e 1',
  'luajit -e 1',
  'lua5.4 -e 1',
  'original-awk 1',
  'tsx x.ts',
  'Rscript -e 1',
  'julia -e 1',
  'guile -c 1',
  'irb x',
  'wish x',
  'ex -c x',
  'nvim -c x',
  'view x',
  'gmake x',
] as const;

const firstOf = (line: string): string => line.split(' ')[0] ?? '';
const programs = [...new Set([...launching, ...interpreting].map(firstOf)), 'canary'];

const granting = (...entries: readonly string[]) => ({
  default_action: 'approve',
  rules: [
    {
      tools: 'local_shell',
      action: 'allow',
      when: [
        {
          op: 'command_prefix_allowlist',
          value: entries.map((entry) => `${entry},${entry} run,${entry} exec`).join(','),
        },
      ],
    },
  ],
});
const denying = {
  default_action: 'allow',
  rules: [{ tools: 'local_shell', action: 'deny', when: [{ op: 'command_blacklist', value: 'canary' }] }],
};

/** Several lines to a run: each start of one would cost more than its verdicts. */
async function tried(lines: readonly string[], policy: unknown): Promise<readonly Outcome[]> {
  const there = await createField({ programs });
  field = there;
  const outcomes: Outcome[] = [];
  for (let from = 0; from < lines.length; from += 40) {
    const batch = lines.slice(from, from + 40);
    outcomes.push(
      ...(await there.inOneRun(
        ...batch.map((command) => ({ tool: 'local_shell.local_shell', args: { command }, policy })),
      )),
    );
  }
  expect(outcomes).toHaveLength(lines.length);
  return outcomes;
}

it('starts none that is listed, as an argument vector and as a line', async () => {
  const lines = [...launching, ...interpreting].flatMap((line) => [line, `${line} | ${firstOf(line)}`]);
  const listed = [...new Set([...launching, ...interpreting].map(firstOf))];
  const outcomes = await tried(lines, granting(...listed));
  expect(lines.filter((_, index) => outcomes[index]?.state !== 'skipped')).toEqual([]);
  expect(field?.marks()).toEqual([]);
});

it('sees what each starts, where that is denied and all else is allowed', async () => {
  const outcomes = await tried(launching, denying);
  expect(launching.filter((_, index) => outcomes[index]?.action !== 'deny')).toEqual([]);
  expect(field?.marks()).toEqual([]);
});

it('still grants what these programs do besides', async () => {
  field = await createField({ programs });
  for (const [entry, command] of [
    ['npm --version', 'npm --version'],
    ['npm test', 'npm test'],
    ['npm ls', 'npm ls --depth 1'],
    ['kubectl', 'kubectl get pods'],
    ['conda', 'conda list'],
  ] as const) {
    const { state, detail } = await field.shell(command, { policy: granting(entry) });
    expect([command, state, detail]).toEqual([command, 'done', expect.any(String)]);
  }
  expect([...field.marks()].sort()).toEqual(['conda', 'kubectl', 'npm', 'npm', 'npm']);
});
