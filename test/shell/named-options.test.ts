import { describe, expect, it } from 'vitest';
import { judge, load, plainHost } from '../policy/virtual-host.ts';

const denying = await load({
  default_action: 'allow',
  rules: [{ action: 'deny', when: [{ op: 'command_blacklist', value: 'evil' }] }],
});
const verdict = (command: string): string =>
  judge(denying, { tools: 'local_shell', tool: 'local_shell', args: { command } }, plainHost).action;

describe('a denied program behind a name that says what stands there', () => {
  it.each([
    // Variables of a build, also where an option or another variable hands them on.
    "MAKEFLAGS='SHELL=/bin/evil' make",
    'make SHELL=/bin/evil',
    "make INSTALL='evil x'",
    'make -C sub RM=evil clean',
    './configure --prefix=/x CXX=evil',
    'scons CC=evil',
    'cmake --build . -- SHELL=evil',
    'go env -w CC=evil',
    'PKG_CONFIG=evil go build',
    "PARALLEL='--tmux evil' parallel ::: a",
    'npm_config_editor=evil npm edit x',
    'AUTOSSH_PATH=evil autossh h',
    // Properties.
    'cmake -DCMAKE_C_COMPILER_LAUNCHER=evil ..',
    'cmake -D CMAKE_CXX_COMPILER:FILEPATH=/usr/bin/evil ..',
    "cmake -DCMAKE_CROSSCOMPILING_EMULATOR='evil;x' ..",
    'mvn -Dexec.executable=evil exec:exec',
    'sshfs -o ssh_command=evil h: m',
    "jj --config=ui.pager='evil x' log",
    'jj --config ui.editor=evil describe',
    // Options.
    'tar --rmt-command=evil -cf h:x a',
    'bsdtar --use-compress-program evil -cf a b',
    'rofi -show run -run-command evil',
    "rclone --sftp-ssh 'evil x' ls r:",
    "certbot renew --pre-hook 'evil x'",
    "az vm run-command invoke --scripts 'evil x'",
    "air --build.cmd 'evil x'",
    'bzr diff --using evil',
    'unison -sshcmd evil a b',
    'npm --git=evil i',
    'nano -s evil f',
    "sftp -D 'evil x' h",
    'scp -D evil a h:b',
    'ssh -o XAuthLocation=evil -X h',
    "go build -ldflags '-s -extld=evil'",
    "systemd-run -p ExecStopPost='-evil x' ls",
    "asciinema rec -c 'evil x'",
    "lf -command '$evil x'",
    "feh --action 'evil %F' x",
    `ansible h -m shell -a 'cmd="evil x"'`,
    'bazel build --action_env=CC=evil //a',
    'bazel test --test_env=EDITOR=/bin/evil //a',
    'hg extdiff -p evil',
    // Settings and aliases.
    "gh config set editor 'evil x'",
    'glab config set --global editor evil',
    'npm config set script-shell evil',
    'npm config set editor=evil',
    'aws configure set credential_process evil',
    "gh alias set --shell x 'evil -rf .'",
    "gh alias set x '!evil -rf .'",
    'git remote-ext evil',
    "git clone 'ext::sh -c evil% x'",
    "git -c 'url.ext::evil x.insteadOf=y' fetch",
    'git svn fetch --authors-prog=evil',
    'git -c lfs.customtransfer.x.path=evil lfs pull',
    'git config browser.x.path evil',
  ])('is found: %s', (line) => {
    expect(verdict(line)).toBe('deny');
  });

  it.each([
    'make TARGET=evil APP=evil',
    'make evil CC=gcc',
    'cmake -DPROJECT_NAME=evil -DCMAKE_INSTALL_PREFIX=evil ..',
    'mvn -Dtest=evil test',
    'gradle -Pversion=evil build',
    'gh pr list --search evil',
    "gh alias set x 'pr view evil'",
    'gh config get editor',
    'kubectl config set-context --current --namespace=evil',
    'poetry config virtualenvs.path evil',
    "PARALLEL='-j4 --bar' parallel ls ::: evil",
    'git commit -m "make CC=evil work"',
    'timeout 5 git commit -m editor=evil',
    'grep -rn SHELL=evil .',
    'export editor=evil; local cmd=evil',
    'echo CC=evil',
    "awk -v cmd=evil '{print}' f",
    `terraform apply -var 'command=["evil"]'`,
    'git config user.name evil',
    'npm i --g evil',
    'gcc -DSHELL=evil -DEDITOR=evil a.c',
    'http POST u command=evil',
    'gh api x -f command=evil',
    'npm pkg set scripts.preview="evil x"',
    'just cmd=evil build',
    'useradd -m --comment evil bob',
    "go build -ldflags '-s -w -X main.name=evil'",
    'systemd-run -p Description=evil ls',
    'bazel build --define=name=evil --action_env=NAME=evil //a',
    'helm install --set=editor=x --set-string=image.name=evil c',
    'hg commit -p evil',
  ])('is not seen where nothing starts it: %s', (line) => {
    expect(verdict(line)).toBe('allow');
  });
});
