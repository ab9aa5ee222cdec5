import { beforeAll, describe, expect, it } from 'vitest';
import type { LoadedPolicy, PolicyHost } from '../../src/schema/policy.ts';
import { type HostFacts, judge, load, plainHost } from './virtual-host.ts';

let open: LoadedPolicy;
beforeAll(async () => {
  open = await load({ default_action: 'allow' });
});

type More = { readonly facts?: Partial<HostFacts>; readonly host?: Partial<PolicyHost> };

const verdict = (tools: string, tool: string, args: Readonly<Record<string, unknown>>, more: More = {}): string => {
  const record = judge(open, { tools, tool, args }, { ...plainHost, ...more.facts }, more.host);
  return record.reason === 'default_action' ? record.action : `${record.action} ${record.detail}`;
};
const write = (path: string, more: More = {}): string => verdict('local_fs', 'write_file', { path, content: '' }, more);
const read = (path: string, more: More = {}): string => verdict('local_fs', 'read_file', { path }, more);
const shell = (command: string, more: More = {}): string => verdict('local_shell', 'local_shell', { command }, more);

describe('the control plane', () => {
  it.each([
    '.reins/hitl-policy.json',
    '.reins/new',
    'src/../.reins/x',
    '~/.reins/themes/x',
    '/somewhere/else/.reins/x',
    '.reins',
  ])('is never written, under a policy that allows everything: %s', (path) => {
    expect(write(path)).toBe(`deny control plane: ${path}`);
  });

  it('knows the secrets that a line looks at, also in the conditions of bash', () => {
    for (const line of ['[ -s .reins/local.db ]', '[[ -s .reins/local.db ]]', '[[ x -nt ~/.reins/machine.key ]]']) {
      expect(shell(`${line} && echo yes`)).toMatch(/^deny own secret: /);
    }
    expect(shell('[[ $x == .reins/local.db ]] || [[ -z .reins/local.db ]]')).toBe('allow');
  });

  it('is read as the policy says, its secrets are not read at all', () => {
    expect(read('.reins/default-chain.json')).toBe('allow');
    expect(read('.reins/local.db')).toBe('deny own secret: .reins/local.db');
    expect(read('.reins/local.db-wal')).toBe('deny own secret: .reins/local.db-wal');
    expect(read('.reins/local.db.backup-v3-x')).toBe('deny own secret: .reins/local.db.backup-v3-x');
    expect(verdict('local_fs', 'grep', { pattern: 'x', path: '~/.reins/machine.key' })).toBe(
      'deny own secret: ~/.reins/machine.key',
    );
  });

  it('ends where another name begins', () => {
    expect(write('.reinsx/a')).toBe('allow');
    expect(read('.reins/local.dbx')).toBe('allow');
  });

  it('is met through a link, and by device and inode', () => {
    const link = { host: { realPath: (path: string) => path.replace('/srv/p/link', '/home/u/.reins') } };
    expect(write('link/x', link)).toBe('deny control plane: link/x');
    const twin = { host: { guardOf: (path: string) => (path === '/srv/p/twin' ? ('secret' as const) : null) } };
    expect(read('twin', twin)).toBe('deny own secret: twin');
  });

  it('folds case where the file system does', () => {
    expect(write('.REINS/x', { facts: { case_insensitive_paths: true } })).toBe('deny control plane: .REINS/x');
    expect(write('.REINS/x')).toBe('allow');
  });

  it.each([
    [{ path: '.reins/x' }],
    [{ options: { deep: [{ file: '.reins/x' }] } }],
    [{ uri: 'file:///srv/p/.reins/x' }],
    [{ uri: 'file:///srv/p/%2ereins/x' }],
    [{ directory: ['src', '.reins'] }],
    [{ cwd: '.reins' }],
    [{ source: 'x', destination: '.reins/x' }],
    [{ filepath: '.reins/x' }],
    [{ pathname: '.reins/x' }],
    [{ options: { workdir: '.reins' } }],
    [{ root: '.reins' }],
    [{ location: '.reins/x' }],
    [{ moves: [{ fromPath: '.reins/x', 'to-file': 'y' }] }],
    [{ file_paths: ['src', './src/../.reins'] }],
  ])('holds for the arguments of other tools: %j', (args) => {
    expect(verdict('github', 'any', args)).toMatch(/^deny control plane: /);
  });

  it('looks at no other argument, and at no address', () => {
    expect(verdict('github', 'any', { text: '.reins/x', uri: 'https://a.test/.reins/x' })).toBe('allow');
    expect(verdict('echo', 'echo', { input: { path: '.reins/x' } })).toBe('allow');
  });

  it('is not named by a word of a command that is a secret, nor by a redirect', () => {
    expect(shell('cat .reins/local.db')).toBe('deny own secret: .reins/local.db');
    expect(shell('tar cf x --file=.reins/local.db')).toBe('deny own secret: .reins/local.db');
    expect(shell("sqlite3 'file:.reins/local.db?mode=ro'")).toBe('deny own secret: .reins/local.db');
    expect(shell('cat ~/.reins/machine.key | head')).toBe('deny own secret: /home/u/.reins/machine.key');
    expect(shell('cat "$HOME/.reins/trust.json"')).toBe('deny own secret: /home/u/.reins/trust.json');
    expect(shell('echo x > .reins/x')).toBe('deny write into the control plane: .reins/x');
    expect(shell(`echo x >>'.reins/x'`)).toBe('deny write into the control plane: .reins/x');
  });
});

describe('the floors', () => {
  it.each([
    '.git/config',
    'sub/.git/hooks/pre-commit',
    '.git',
    '.hg/hgrc',
    '.husky/x',
    '.gitmodules',
    '.config/git/ignore',
    '.envrc',
    'a/.npmrc',
    '.yarnrc.yml',
    '.pnpmfile.cjs',
    'pip.conf',
    '.pre-commit-config.yaml',
    '.vscode/tasks.json',
    '.devcontainer/devcontainer.json',
    '.claude/x',
    '.mcp.json',
    '.github/workflows/ci.yml',
    '.gitlab-ci.yml',
    '.bash_aliases',
    '.zshrc',
    '.profile',
    '.zlogin',
    '.xinitrc',
    '.config/fish/config.fish',
    'Library/LaunchAgents/x.plist',
    'crontab',
    '.ssh/config',
  ])('make a permitted write of %s an ask', (path) => {
    expect(write(path)).toBe(`approve protected path: ${path}`);
    expect(read(path)).toBe('allow');
  });

  it.each(['git/config', '.github/README.md', 'x.envrc', '.bashrc/x/y', '.gitignore', 'docs/.config/other'])(
    'leave a write of %s alone',
    (path) => {
      expect(write(path)).toBe('allow');
    },
  );

  it('hold for directories on PATH, but not for the program word in one', () => {
    expect(write('bin/ls', { host: { ...guardedPath('/srv/p/bin') } })).toBe('approve protected path: bin/ls');
    expect(shell('/usr/bin/ls -la')).toBe('allow');
    expect(shell('touch /usr/bin/x')).toBe('approve protected path: /usr/bin/x');
  });

  it('hold for files with several hard links and for links out of the workspace', () => {
    expect(write('twice', { host: { hardLinks: () => 2 } })).toBe('approve file with several hard links: twice');
    expect(shell('ls > twice', { host: { hardLinks: () => 2 } })).toBe('approve file with several hard links: twice');
    expect(shell('cat twice > /dev/null', { host: { hardLinks: () => 2 } })).toBe('allow');
    const out = { host: { root: null, realPath: (path: string) => path.replace('/srv/p/out', '/var/out') } };
    expect(write('out/x', out)).toBe('approve link out of the workspace: out/x');
  });

  it('ask about paths outside the workspace, unless a named root confines them anyway', () => {
    expect(read('/opt/notes.txt')).toBe('approve outside the workspace: /opt/notes.txt');
    expect(read('/opt/notes.txt', { host: { root: null } })).toBe('allow');
    expect(verdict('local_shell', 'local_shell', { command: 'ls', cwd: '/opt' })).toBe(
      'approve outside the workspace: /opt',
    );
  });

  it('let be what another function than the reading program is named like', () => {
    expect(shell('git() { command git "$@"; }; cat .git/config')).toBe('allow');
  });

  it.each([
    'cat() { rm -rf "$1"; }; cat .npmrc',
    'function head { rm "$1"; }; head .npmrc',
    'alias cat=rm\ncat .npmrc',
    'hash -p /bin/rm cat; cat .npmrc',
    `bash -c 'cat() { rm "$1"; }; cat .npmrc'`,
  ])('ask where the line makes something else of the name of a reading program: %s', (line) => {
    expect(shell(line)).toBe('approve protected path: .npmrc');
  });

  it('ask about words of commands that name guarded paths, and about our own program', () => {
    expect(shell('touch .reins/x')).toBe('approve control plane: .reins/x');
    expect(shell('cat .git/config')).toBe('allow');
    expect(shell('cat -X .git/config')).toBe('approve protected path: .git/config');
    expect(shell('ls && touch .git/config')).toBe('approve protected path: .git/config');
    expect(shell('ls > .git/config')).toBe('approve protected path: .git/config');
    expect(shell('ls > /opt/x')).toBe('approve write outside the workspace: /opt/x');
    expect(shell('cat src/a.ts')).toBe('allow');
    expect(shell('docker ps -v .git:/x')).toBe('approve protected path: .git');
    const guarded = { secrets: [], secretPrefixes: [], plane: ['/usr/bin/ls'], path: [], instructions: [] };
    expect(shell('ls', { host: { guarded } })).toBe('approve the program belongs to Reins itself: ls');
  });

  it.each([
    [`python3 - <<'E'\nopen('.git/hooks/x', 'w')\nE`, 'protected path: .git/hooks/x'],
    [`node <<'E'\nfs.writeFileSync('.reins/x')\nE`, 'control plane: .reins/x'],
    [`echo "open('.envrc', 'w')" | python3`, 'protected path: .envrc'],
    [`printf 'w .git/hooks/x\\n' > a.sed; sed -f a.sed b`, 'protected path: .git/hooks/x'],
    ["ed <<'E'\nw .git/hooks/x\nE", 'protected path: .git/hooks/x'],
    ['echo .git/hooks/x | xargs touch', 'protected path: .git/hooks/x'],
    ["xargs -n 1 touch <<'E'\na\n.envrc\nE", 'protected path: .envrc'],
  ])('ask about what a program reads from the line, as about its words: %s', (line, why) => {
    expect(shell(line)).toBe(`approve ${why}`);
  });

  it.each(["python3 - <<'E'\n# see https://x.test/.github/workflows/a\nprint(1)\nE", "cat <<'E'\n.git/config\nE"])(
    'do not ask about a text that is handed over: %s',
    (line) => {
      expect(shell(line)).toBe('allow');
    },
  );

  it.each([
    ['crontab -', 'the crontab of a user'],
    ['(crontab -l; echo "* * * * * x") | crontab', 'the crontab of a user'],
    ['crontab -r', 'the crontab of a user'],
    ['git config core.hooksPath .x', '.git/config, where git config sets core.hooksPath'],
    ["git -C . config --global alias.x '!sh'", '.git/config, where git config sets alias.x'],
    ['git config set core.fsmonitor ./x', '.git/config, where git config sets core.fsmonitor'],
    ['git --work-tree . config core.hooksPath h', '.git/config, where git config sets core.hooksPath'],
    ['git --attr-source HEAD config core.hooksPath h', '.git/config, where git config sets core.hooksPath'],
    ['git config --type path core.hooksPath h', '.git/config, where git config sets core.hooksPath'],
    ['git config set --value x core.hooksPath h', '.git/config, where git config sets core.hooksPath'],
    // Behind a name `--get` is a value.
    ['git config core.pager h --get', '.git/config, where git config sets core.pager'],
    ["git config diff.external 'touch x;#'", '.git/config, where git config sets diff.external'],
    ['git config sequence.editor x', '.git/config, where git config sets sequence.editor'],
    ['git config hook.a.command x', '.git/config, where git config sets hook.a.command'],
    ['git config not.known-yet x', '.git/config, where git config sets not.known-yet'],
    ['git config branch.main.remote ext::sh', '.git/config, where git config sets branch.main.remote'],
    ['git config remote.o.url "ext::sh -c x"', '.git/config, where git config sets remote.o.url'],
    ['git config remote.o.vcs x', '.git/config, where git config sets remote.o.vcs'],
    ['git config --edit', '.git/config, where git config sets whatever is asked for'],
    ['git config --rename-section foo core', '.git/config, where git config sets whatever is asked for'],
    ['git --namespace x lfs install', '.git/hooks, which git lfs install writes'],
    ['git --work-tree . maintenance start', 'the crontab of a user, which git maintenance start writes'],
    ['npm --prefix . config set script-shell y', '.npmrc, which npm config set writes'],
    ['npm config --location project set script-shell y', '.npmrc, which npm config set writes'],
    ['pip --log l config set global.index-url x', 'pip.conf, which pip config set writes'],
    ['yarn --cwd . config set a b', '.yarnrc, which yarn config set writes'],
    ['npm config set registry http://x.test', '.npmrc, which npm config set writes'],
    ['npm set script-shell ./x', '.npmrc, which npm set writes'],
    ['pip config set global.index-url x', 'pip.conf, which pip config set writes'],
    ['pre-commit install', '.git/hooks, which pre-commit install writes'],
    ['npx husky init', '.husky, which husky writes'],
    ['git lfs track x', '.gitattributes, which git lfs track writes'],
    ['git submodule add https://x.test/a', '.gitmodules, which git submodule add writes'],
    ['git-lfs install --local', '.git/hooks, which git-lfs install writes'],
    ['overcommit --install', '.git/hooks, which overcommit --install writes'],
    ['git secrets --install', '.git/hooks, which git --install writes'],
    ['npx simple-git-hooks', '.git/hooks, which simple-git-hooks writes'],
    ['conda init bash', 'a start-up file of the shell, which conda init writes'],
    ['micromamba shell init -s bash', 'a start-up file of the shell, which micromamba shell init writes'],
    ['yarn set version berry', '.yarnrc, which yarn set version writes'],
    ['npm login', '.npmrc, which npm login writes'],
    ['claude mcp add x -- ./x', '.claude, which claude mcp add writes'],
    ['direnv edit .', '.envrc, which direnv edit writes'],
    ["ssh-keygen -t ed25519 -N ''", '.ssh'],
    ['ssh-keygen -R x.test', '.ssh'],
    ['systemctl --user enable x', '.config/systemd, which systemctl --user writes'],
  ])('ask about a protected file that no word names: %s', (line, why) => {
    expect(shell(line)).toBe(`approve protected path: ${why}`);
  });

  it.each([
    'crontab -l',
    'crontab -u me -l',
    'git config user.email a@b.test',
    'git config core.hooksPath',
    'git config --get core.editor',
    'git config --unset alias.x',
    'git config get alias.x',
    'git config --file a.b --get core.pager',
    'git config pull.rebase true',
    'git config branch.main.remote origin',
    'git config remote.origin.url https://x.test/a.git',
    'git config remote.origin.url git@x.test:a/b.git',
    'git -c color.ui=always config color.ui auto',
    "git commit -m 'config core.pager x'",
    'git log --grep config core.pager x',
    'npm run config set a',
    'git config core.fsmonitor false',
    'npm config get registry',
    'npm test',
    'pre-commit run --all-files',
    'git lfs pull',
    'conda list',
    'claude mcp list',
    'direnv status',
    "ssh-keygen -t ed25519 -N '' -f key",
    'ssh-keygen -lf key.pub',
    'yarn install',
    'npm install',
    'git submodule update --init',
    'systemctl --user status x',
  ])('do not ask where such a program only reads: %s', (line) => {
    expect(shell(line)).toBe('allow');
  });

  it('leave alone what a listed program takes for a pattern, a name or a text', () => {
    expect(shell('grep -rn --exclude-dir=.git --exclude-dir .husky x .')).toBe('allow');
    expect(shell('find . -path ./.git -prune -o -name .envrc')).toBe('allow');
    expect(shell('git log --grep=.npmrc -- .github/workflows')).toBe('allow');
    expect(shell('echo .git && touch .git')).toBe('approve protected path: .git');
    const table = { flags: [], values: ['--skip'], operands: 'text' as const };
    const commandTables = { format: 1 as const, programs: { cat: table } };
    expect(shell('cat .git', { host: { commandTables } })).toBe('allow');
    expect(shell('cat --skip .git', { host: { commandTables } })).toBe('approve protected path: .git');
  });

  it('ask about what is not read: lines, payloads, other shells', () => {
    expect(shell('ls; "id')).toMatch(/^approve the line is unreadable: the line does not parse: /);
    expect(shell('ls; id')).toBe('allow');
    expect(shell('ls; $X id')).toBe('approve the line is unnameable: the program $X is no literal');
    expect(shell('l? id')).toBe('approve the call is unnameable: the program l? is no literal');
    expect(shell("'l?' id && [ -f x ]")).toBe('allow');
    expect(shell('{ls,id}')).toBe('approve the line is unnameable: the program {ls,id} is no literal');
    expect(shell('env --new-option ls')).toBe(
      'approve the call is unreadable: not read: env with the option --new-option',
    );
    expect(shell('docker --version && npx --help; yarn -v | cat && yarn --cwd packages/a test')).toBe('allow');
    expect(shell('docker --version x')).toBe(
      'approve the call is unreadable: not read: docker with the option --version',
    );
    expect(shell('sh -c "$X"')).toBe('approve the line is unnameable: what sh runs is no literal: $X');
    expect(shell('cd "$X" && ls > x')).toBe('approve the line is unnameable: the directory $X is no literal');
    expect(shell('env X=1 ls')).toBe('allow');
    expect(shell('ls > $X')).toBe('approve what $X names is not known before it runs');
    expect(shell('X=out; ls > $X')).toBe('allow');
    expect(shell('ls > ~root/x')).toBe('approve what ~root/x names is not known before it runs');
    expect(shell('X=~root; ls > $X/y')).toBe('approve what $X/y names is not known before it runs');
    expect(shell('cd ~root && ls > x')).toBe('approve the line is unnameable: the directory ~root is no literal');
    expect(shell('~root/x')).toMatch(/^approve the (call|line) is unnameable: the program ~root\/x is no literal$/);
    expect(shell('cat ~root/x; ls > "~root"; ls a~b~ x~y/z')).toBe('allow');
    expect(shell('ls *.ts && ls $X')).toBe('allow');
    expect(shell('ls src && ls $X', { host: { root: null } })).toBe(
      'approve what $X names is not known before it runs',
    );
    expect(shell('ls -la', { facts: { shell: 'powershell' } })).toBe(
      'approve lines of the shell powershell are not read',
    );
  });

  it('never change a deny', async () => {
    const deny = await load({ default_action: 'deny' });
    const record = judge(deny, { tools: 'local_fs', tool: 'write_file', args: { path: '.envrc' } });
    expect(record).toMatchObject({ action: 'deny', reason: 'default_action' });
  });
});

const guardedPath = (directory: string): Partial<PolicyHost> => ({
  guarded: { secrets: [], secretPrefixes: [], plane: [], path: [directory], instructions: [] },
});
