import { type Launcher, launcher } from './launcher.ts';

/**
 * Programs that start others by more options than are worth a table: none of them is granted, and each of their words may
 * be the command but for what is told of them here.
 */

type Told = Partial<
  Pick<Launcher, 'subcommands' | 'plainOptions' | 'operands' | 'named' | 'behind' | 'shell' | 'opens'>
> & {
  /** Options whose next word is no command. */
  readonly values?: string;
  readonly flags?: string;
};

const loose = (names: string, { values = '', flags = '', ...more }: Told = {}): Record<string, Launcher> =>
  Object.fromEntries(
    names
      .split(' ')
      .map((name) => [name, launcher(flags, values, { operands: Number.POSITIVE_INFINITY, ...more, payload: 'any' })]),
  );

/** The words behind which a command stands. */
const on = (subcommands: string): Pick<Launcher, 'subcommands'> => ({ subcommands: subcommands.split(' ') });
/** The same, where options before the subcommand say nothing: what the program does otherwise is its own. */
const only = (subcommands: string): Pick<Launcher, 'subcommands' | 'plainOptions'> => ({
  ...on(subcommands),
  plainOptions: true,
});

export const looseLaunchers: Readonly<Record<string, Launcher>> = {
  // Their first word that is no option is the command.
  ...loose(
    'eatmydata torsocks torify proxychains proxychains4 dbus-run-session xvfb-run systemd-inhibit ' +
      'systemd-cat caffeinate tini dumb-init catchsegv chronic unbuffer valgrind pkexec run0 ccache sccache distcc icecc bear ' +
      'scan-build intercept-build ifne heaptrack catatonit',
    { operands: 0 },
  ),
  ...loose('fakeroot fakechroot linux32 linux64 i386 x86_64 uname26', { operands: 0, shell: true }),
  ...loose('setarch', { operands: 1, shell: true }),
  ...loose('taskset chrt gosu su-exec setuidgid s6-setuidgid envdir envuidgid envchain', {
    operands: 1,
  }),
  ...loose(
    'prlimit setpriv capsh runcon numactl cpulimit cgexec bwrap faketime dbus-launch ' +
      'ssh-agent gpg-agent daemonize start-stop-daemon run-parts run-one chpst softlimit rlwrap logsave sem rush ' +
      'concurrently gdb lldb rr zellij mosh dsh expect socat lxc-attach ' +
      'sshpass autossh et pee ts xe xjobs arch xcrun choom setlock nq tsp abduco dtach ' +
      'env-cmd lockf mispipe coreutils uutils sandbox-exec rust-parallel reflex plink pssh parallel-ssh chokidar onchange ' +
      'wine wine64 box64 qemu-x86_64 qemu-i386 qemu-aarch64 qemu-arm corepack systemd-nspawn nsjail ' +
      'execlineb flatpak-spawn chruby-exec scl watchman ttyrec summon daemon tcpserver',
  ),
  // Without a command they are a shell, which reads what they are given.
  ...loose('sg newgrp firejail proot nix-shell arch-chroot schroot distrobox wsl pdsh clush lima rsh', {
    shell: true,
  }),
  ...loose('nodemon', { values: '-e --ext -w --watch -i --ignore -d --delay --signal --config --cwd' }),
  ...loose('cross-env', { operands: 0 }),
  ...loose('dotenv dotenvx', { operands: 1, values: '-e -p -v -f --env-file' }),
  ...loose('entr', { operands: 0, flags: '-a -c -d -n -p -r -s -x -z' }),
  ...loose('watchexec', {
    operands: 0,
    flags: '-r --restart -c --clear -p --postpone -q --quiet -n -N',
    values: '-e --exts -w --watch -i --ignore -f --filter -d --debounce -s --signal',
  }),
  ...loose('hyperfine', {
    values:
      '-n --command-name -w --warmup -r --runs -m --min-runs -M --max-runs -u --time-unit --style --sort --export-json',
  }),
  ...loose('tmux byobu', { values: '-s -n -t -x -y -L -f -e -T', flags: '-d -A -D -P -E -X -a -b -h -k -v -u -2' }),
  ...loose('screen', { values: '-S -t -c -T -e -h -p -r -R -x -d -D' }),
  ...loose('xterm urxvt', { values: '-T -title -n -name -class -geometry -fn -bg -fg -tn' }),
  ...loose('x-terminal-emulator gnome-terminal konsole xfce4-terminal kitty alacritty foot wezterm', {
    values: '-T --title --class --name --working-directory --role',
  }),
  ...loose('perf', {
    behind: ['record', 'stat', 'trace', 'mem', 'c2c', 'lock', 'kmem', 'sched', 'timechart', 'ftrace', 'iostat'],
  }),
  ...loose('vagrant', {
    behind: ['ssh', 'winrm', 'powershell', 'docker-exec', 'docker-run'],
    shell: true,
    opens: ['ssh', 'winrm', 'powershell'],
  }),
  ...loose('adb', { behind: ['shell', 'exec-out', 'exec-in'], shell: true, opens: ['shell'] }),
  ...loose('machinectl', { behind: ['shell'], shell: true, opens: ['shell'] }),
  ...loose('toolbox', { behind: ['run'] }),
  ...loose('multipass aws-vault chamber salt salt-call xdotool saml2aws envconsul', on('run exec cmd.run')),
  ...loose('doppler op infisical teller honcho foreman fnm volta pixi berglas', { ...on('run exec'), operands: 0 }),
  ...loose('nvm', { ...on('run exec'), operands: 1 }),
  ...loose('uv poetry pipenv hatch pdm rye', {
    ...on('run tool shell'),
    operands: 0,
    shell: true,
    opens: ['shell'],
    values: '--with --python -p --project --directory --extra --group --env-file --package --from -C',
  }),
  ...loose('conda mamba micromamba', { ...on('run'), operands: 0, values: '-n --name -p --prefix --cwd' }),
  ...loose('bundle', { ...on('exec'), operands: 0 }),
  // The first word is a pod or a container, and none of these is a command.
  ...loose('kubectl oc', {
    ...on('exec run debug rsh shell x'),
    operands: 1,
    named: true,
    flags: '-i -t -q --stdin --tty --quiet --rm --attach --command --expose --privileged',
    values:
      '-n --namespace -c --container --context --cluster --kubeconfig --user --token --as -l --labels --env -f --filename ' +
      '--image --image-pull-policy --port --restart --overrides -o --output --request-timeout --target --copy-to --profile ' +
      '--pod-running-timeout --annotations',
  }),
  ...loose('lxc incus', { ...on('exec shell'), operands: 1, named: true, values: '--env --user --group --cwd --mode' }),
  ...loose('nerdctl crictl ctr', on('exec run x shell debug')),
  ...loose('mise asdf rbenv pyenv nodenv opam jenv goenv plenv', { ...on('exec run x shell debug'), operands: 0 }),
  ...loose('nix', { ...only('run shell develop'), shell: true, opens: ['shell', 'develop'] }),
  ...loose('guix', { ...only('shell environment'), shell: true, opens: ['shell', 'environment'] }),
  ...loose('sops', only('exec-env exec-file')),
  ...loose('cargo', only('watch')),
  ...loose('gcloud fly flyctl heroku', {
    ...only('ssh run console run:detached ps:exec'),
    values: '--project --zone --region --account --app -a --org',
  }),
  ...loose('ip', only('exec')),
  ...loose('cmake', only('-E')),
  ...loose('bun', only('x exec')),
  ...loose('pm2', { ...only('start'), values: '-n --name --namespace --log --output --error -i --instances --cron' }),
  ...loose('npm', { ...only('exec x'), operands: 0, values: '-w --workspace --package --prefix' }),
  ...loose('composer cabal dune stack tox lerna nx terragrunt', { ...only('exec'), operands: 0 }),
  ...loose('devcontainer vals jj netlify', only('exec dev:exec')),
  ...loose('apptainer singularity buildah runc crun', only('exec run shell')),
  ...loose('consul etcdctl nomad', only('exec lock watch exec-watch')),
  ...loose('minikube colima limactl ddev', only('ssh shell exec')),
  ...loose('gh', only('ssh')),
  ...loose('railway phase bws', only('run')),
  ...loose('rustup', { ...only('run'), operands: 1, named: true }),
  ...loose('rvm', only('do exec')),
  ...loose('n', only('exec run')),
  ...loose('mix', only('cmd')),
  ...loose('brew', only('sh exec')),
  ...loose('i3-msg swaymsg', on('exec')),
  ...loose('launchctl', only('submit')),
};
