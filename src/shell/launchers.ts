import { type Launcher, launcher } from './launcher.ts';
import { looseLaunchers } from './loose-launchers.ts';
import { gnuName } from './programs.ts';

/** Programs that start other programs (02 §9.5). Names are basenames without extension. */

const container = launcher(
  '-i -t -d -P --rm --privileged --init --interactive --tty --detach --read-only --no-healthcheck -q --quiet',
  '-v -e -w -u -p -h -m -l --name --network --net --volume --env --workdir --user --publish --mount ' +
    '--platform --pull --cpus --memory --env-file --add-host --label --hostname --cap-add --cap-drop --device --gpus ' +
    '--pid --ipc --shm-size --security-opt --restart',
  { subcommands: ['run', 'exec'], operands: 2, lines: ['--entrypoint'] },
);

const launchers: Readonly<Record<string, Launcher>> = {
  env: launcher('-i - -0 -v --ignore-environment --null --debug', '-u -C --unset --chdir', {
    lines: ['-S', '--split-string'],
    assignments: true,
  }),
  nice: launcher('', '-n --adjustment'),
  ionice: launcher('-t --ignore', '-c -n -p -P -u --class --classdata'),
  nohup: launcher('', ''),
  setsid: launcher('-c -f -w --ctty --fork --wait', ''),
  timeout: launcher('-f -p -v --foreground --preserve-status --verbose', '-k -s --kill-after --signal', {
    operands: 1,
  }),
  stdbuf: launcher('', '-i -o -e --input --output --error'),
  time: launcher('-a -p -q -v --append --portability --verbose', '-f -o --format --output'),
  command: launcher('-p -v -V', ''),
  builtin: launcher('', ''),
  nocorrect: launcher('', ''),
  noglob: launcher('', ''),
  exec: launcher('-c -l', '-a'),
  sudo: launcher(
    '-A -b -E -e -H -i -K -k -n -P -S -s -V -v --preserve-env --login --non-interactive --stdin',
    '-C -D -g -h -p -R -r -T -t -U -u --user --group --chdir --host',
    {
      assignments: true,
      shell: true,
    },
  ),
  doas: launcher('-L -n -s', '-a -C -u', { shell: true }),
  su: launcher('- -l -m -p -f -P --login --preserve-environment --pty', '-s -g -G -w --shell --group', {
    lines: ['-c', '--command'],
    shell: true,
    payload: 'none',
  }),
  runuser: launcher('- -l -m -p -f -P --login', '-u -g -G -s --user --group --shell', {
    lines: ['-c', '--command'],
    shell: true,
  }),
  chroot: launcher('--skip-chdir', '--groups --userspec', { operands: 1, shell: true }),
  unshare: launcher(
    '-m -u -i -n -p -U -C -T -r -c -f --mount --uts --ipc --net --pid --user --cgroup --time --fork --map-root-user --map-current-user --mount-proc --keep-caps',
    '-R -w -S -G --root --wd --setuid --setgid --propagation',
    { shell: true },
  ),
  nsenter: launcher(
    '-a -m -u -i -n -p -U -C -T -r -w -F --all --mount --uts --ipc --net --pid --user --no-fork',
    '-t -S -G --target --setuid --setgid',
    { shell: true },
  ),
  strace: launcher(
    '-f -ff -c -C -D -d -i -k -n -N -q -qq -r -t -tt -ttt -T -v -V -w -x -xx -y -yy -z -Z',
    '-a -b -e -E -I -o -O -p -P -s -S -u -U -X',
  ),
  ltrace: launcher('-b -C -c -f -h -i -L -r -S -t -tt -ttt -T -V', '-a -A -D -e -F -l -n -o -p -s -u -w -x'),
  watch: launcher(
    '-b -c -C -d -e -g -p -r -t -w -x --beep --color --differences --errexit --chgexit --precise --no-title --exec',
    '-n -q --interval',
    {
      payload: 'line',
    },
  ),
  script: launcher('-a -e -f -q --append --return --flush --quiet', '-E -I -m -o -O -B -T --log-out --log-in', {
    lines: ['-c', '--command'],
    payload: 'none',
  }),
  flock: launcher(
    '-e -F -n -o -s -u -x --exclusive --shared --nonblock --unlock --close --no-fork --verbose',
    '-E -w --timeout --wait --conflict-exit-code',
    {
      lines: ['-c', '--command'],
      operands: 1,
    },
  ),
  xargs: launcher(
    // The values of the last ones are optional, and only attached: the next word may be the command.
    '-0 -o -p -r -t -x --null --no-run-if-empty --verbose --interactive --open-tty --exit --show-limits ' +
      '--replace --max-lines --eof -i -l -e',
    '-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var',
  ),
  parallel: launcher(
    '-0 -k -m -q -u -X --keep-order --will-cite --null --quote --line-buffer --ungroup --dry-run --halt-on-error --bar',
    '-a -d -I -j -L -n -N -P -S --jobs --colsep --delimiter --joblog --arg-file --halt --max-args',
    {
      payload: 'line',
    },
  ),
  busybox: launcher('', ''),
  toybox: launcher('', ''),
  ssh: launcher(
    '-4 -6 -A -a -C -f -G -g -K -k -M -N -n -q -s -T -t -tt -V -v -vv -X -x -Y -y',
    '-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w',
    {
      operands: 1,
      shell: true,
      payload: 'line',
    },
  ),
  docker: container,
  podman: container,
  'docker-compose': container,
  'podman-compose': container,
  npx: launcher('-y -v --yes --no --no-install -q --quiet', '-p --package', { lines: ['-c', '--call'] }),
  bunx: launcher('--bun --silent --verbose', '-p --package'),
  pnpm: launcher('-r -v --recursive -w --silent -c --shell-mode', '--package -C --dir --filter', {
    subcommands: ['dlx', 'exec'],
    operands: 1,
  }),
  yarn: launcher(
    '-q -v --quiet -A -R -W -t -i --all --recursive --worktree --parallel --topological --topological-dev --interlaced ' +
      '--verbose --no-private',
    '-p --package --cwd --include --exclude --from --since -j --jobs',
    { subcommands: ['dlx', 'exec'], operands: 1 },
  ),
  uvx: launcher('-q --quiet --isolated --offline', '--from --with -p --python'),
  pipx: launcher('-q --quiet --verbose', '--spec --python', { subcommands: ['run'], operands: 1 }),
  direnv: launcher('', '', { subcommands: ['exec'], operands: 2 }),
  devbox: launcher('-q --quiet', '-c --config -e --env', { subcommands: ['run'], operands: 1, payload: 'line' }),
  'systemd-run': launcher(
    '--user --scope --pty --wait --collect --quiet -q -P -t -d -G',
    '--unit --uid --gid --property --setenv -u -p -E --slice --on-active --on-calendar',
  ),
  ...looseLaunchers,
  at: launcher('-l -m -M -v -V', '-f -q -t', { payload: 'none' }),
  batch: launcher('-m -v', '-f -q', { payload: 'none' }),
};

/** The loader of programs, by the name that each system gives it. */
const loader = /^ld(-[a-z0-9_-]+)?(\.so)?(\.[0-9]+)*$/i;
const loading = launcher('', '', { payload: 'any', operands: Number.POSITIVE_INFINITY });

export function launcherOf(called: string): Launcher | undefined {
  const name = gnuName(called);
  if (Object.hasOwn(launchers, name)) return launchers[name];
  return name.includes('.so') && loader.test(name) ? loading : undefined;
}

/**
 * Whether words are a launcher: the shape with a subcommand counts wherever that stands among them, and also when an
 * option stands before it (02 §9.5).
 */
export function launches(name: string, rest: readonly string[]): boolean {
  const known = launcherOf(name);
  if (known === undefined) return false;
  if (known.subcommands.length === 0) return true;
  return (
    (!known.plainOptions && rest[0]?.startsWith('-') === true) || rest.some((word) => known.subcommands.includes(word))
  );
}
