import { describe, expect, it } from 'vitest';
import { judge, load, plainHost } from './virtual-host.ts';

/** What 11 §6.1 guards, under a policy that allows everything: names, and what becomes of each kind of call. */

const protectedNames = `
  .git/config .git/hooks/x a/.git/x .git a/.git .hg/x .svn/x .husky/pre-commit .githooks/x .gitmodules .gitattributes
  sub/.gitattributes .gitconfig .config/git/config .envrc a/b/.envrc .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pypirc
  pip.conf .pre-commit-config.yaml .vscode/tasks.json .idea/x .devcontainer/devcontainer.json .cursor/x .claude/x .codex/x
  .gemini/x .mcp.json .github/workflows/ci.yml .gitlab-ci.yml .profile .bashrc .bash_profile .bash_logout .bash_aliases
  .zshrc .zprofile .config/fish/config.fish .config/autostart/x .config/systemd/user/x Library/LaunchAgents/x crontab
  .ssh/config .ssh/authorized_keys src/../.envrc ./.envrc //srv/p/.envrc`;

const ordinaryNames = `
  .gitignore .github/x .github/workflowsx/y git/config .gitx .envrcx x.envrc .npmrcx npmrc .vscodex/a vscode/a .mcp.jsonx
  mcp.json .profilex profile bashrc .sshx/a ssh/config Library/LaunchAgentsx .config/x .config/gitx .editorconfig
  .dockerignore package.json .env .env.local Makefile pre-commit-config.yaml .reinsx .reinsx/a reins/a x.reins/a .rein/a
  .REINS/x .ENVRC`;

const planeNames = `
  .reins .reins/x .reins/a/b ./.reins/x a/.reins/x a/b/.reins ~/.reins/x /home/u/.reins/x /tmp/.reins/x
  /srv/p/.reins/hitl-policy.json src/../.reins/x .reins/ //srv/p/.reins/y`;

const secretNames = `
  .reins/local.db .reins/local.db-wal .reins/local.db-shm ~/.reins/local.db ~/.reins/machine.key ~/.reins/trust.json
  ~/.reins/beam-token ~/.reins/audit-anchors ~/.reins/local.db-wal .reins/local.db.backup-v1-x /home/u/.reins/machine.key src/../.reins/local.db ./.reins//local.db`;

const names = (text: string): readonly string[] => text.trim().split(/\s+/);

const writers = ['write_file', 'edit_file', 'sed'];
const readers = ['read_file', 'read_file_range', 'list_dir', 'grep', 'find_files', 'stat_file', 'count_stats'];

const verdict = async (tools: string, tool: string, args: object, fold = false): Promise<string> => {
  const open = await load({ default_action: 'allow' });
  const facts = { ...plainHost, case_insensitive_paths: fold };
  const record = judge(open, { tools, tool, args: { ...args } }, facts);
  return record.reason === 'default_action' ? record.action : record.reason;
};
const file = async (tools: readonly string[], path: string, fold = false): Promise<readonly string[]> => [
  ...new Set(await Promise.all(tools.map((tool) => verdict('local_fs', tool, { path }, fold)))),
];
const line = (command: string): Promise<string> => verdict('local_shell', 'local_shell', { command });

describe('a file tool', () => {
  it.each(names(protectedNames))('asks before it writes %s, and reads it', async (path) => {
    expect(await file(writers, path)).toEqual(['floor']);
    expect(await file(['read_file', 'stat_file'], path)).toEqual(['allow']);
  });

  it.each(names(ordinaryNames))('writes %s', async (path) => {
    expect(await file(writers, path)).toEqual(['allow']);
  });

  it.each(names(planeNames))('never writes %s', async (path) => {
    expect(await file(writers, path)).toEqual(['control_plane']);
  });

  it.each(names(secretNames))('neither reads nor writes %s', async (path) => {
    expect(await file([...readers, ...writers], path)).toEqual(['control_plane']);
  });

  it.each(['.reins', '.reins/hitl-policy.json', '.reins/default-chain.json', '.reins/local.dbx'])(
    'reads %s',
    async (path) => {
      expect(await file(readers, path)).toEqual(['allow']);
    },
  );

  it('knows them in another case where the file system folds it', async () => {
    expect(await file(writers, '.Reins/x', true)).toEqual(['control_plane']);
    expect(await file(readers, '.REINS/LOCAL.db', true)).toEqual(['control_plane']);
    expect(await file(writers, '.ENVRC', true)).toEqual(['floor']);
    expect(await file(writers, '.Git/hooks/x', true)).toEqual(['floor']);
  });
});

describe('a tool of a server', () => {
  it.each([
    [{ path: '.reins/x' }, 'control_plane'],
    [{ file: '.reins/x' }, 'control_plane'],
    [{ filename: '.reins/x' }, 'control_plane'],
    [{ directory: '.reins' }, 'control_plane'],
    [{ cwd: '.reins' }, 'control_plane'],
    [{ uri: 'file:///srv/p/.reins/x' }, 'control_plane'],
    [{ uri: 'FILE://localhost/srv/p/.reins/x' }, 'control_plane'],
    [{ uri: 'file:///home/u/.reins/machine%2ekey' }, 'control_plane'],
    [{ a: [{ b: { file: '.reins/x' } }] }, 'control_plane'],
    [{ path: ['src/a', '~/.reins/machine.key'] }, 'control_plane'],
    [{ x: { file: '.git/config' } }, 'floor'],
    [{ uri: 'file:///srv/p/.envrc' }, 'floor'],
    [{ uri: 'https://x.test/.reins/y' }, 'allow'],
    [{ url: 'file:///srv/p/.reins/local.db' }, 'control_plane'],
    [{ a: { links: ['x', 'file:///home/u/.reins/x'] } }, 'control_plane'],
    [{ page: 'file:/srv/p/.git/config' }, 'floor'],
    [{ uri: ' file:///srv/p/.reins/x' }, 'control_plane'],
    [{ uri: '\tf\nile:\r//localhost/srv/p/.reins/x' }, 'control_plane'],
    [{ page: '\u0001file:///home/u/.reins/machine.key' }, 'control_plane'],
    [{ path: [['src/a', ['.reins/x']]] }, 'control_plane'],
    [{ path: [['.git/config']] }, 'floor'],
    [{ path: [{ text: '.reins/x' }] }, 'control_plane'],
    [{ path: { value: '.reins/x' } }, 'control_plane'],
    [{ path: { value: '.git/config' } }, 'floor'],
    [{ file: { at: [['~/.reins/machine.key']] } }, 'control_plane'],
    [{ path: { '.reins/x': true } }, 'control_plane'],
    [{ files: { '.reins/x': 'text' } }, 'control_plane'],
    [{ file: { '.git/config': 'text' } }, 'floor'],
    [{ file: { name: 'a.md', content: 'see\n.reins/x' } }, 'allow'],
    [{ files: [{ path: 'a.md', content: 'see .reins/x' }] }, 'allow'],
    [{ Path: '.reins/x' }, 'control_plane'],
    [{ CWD: '.reins' }, 'control_plane'],
    [{ FILE: '.git/config' }, 'floor'],
    [{ URI: 'https://x.test/.reins/y' }, 'allow'],
    [{ uri: { value: 'https://x.test/.reins/y' } }, 'allow'],
    [{ text: 'file: .reins/x', url: 'https://x.test/?a=file:///srv/p/.reins/x' }, 'allow'],
    [{ text: '.reins/x', content: '.envrc' }, 'allow'],
    [{ path: 5 }, 'allow'],
  ])('with the arguments %j: %s', async (args, expected) => {
    expect(await verdict('server', 'tool', args)).toBe(expected);
  });
});

describe('an argument of a tool that is not ours', () => {
  const when = (value: string, key = 'path') => [{ key, op: 'path_within', value }];
  const judged = async (rule: object, args: object, tools = 'server') => {
    const { action, reason } = judge(
      await load({ default_action: 'action' in rule && rule.action === 'allow' ? 'approve' : 'allow', rules: [rule] }),
      { tools, tool: 'read', args: { ...args } },
      plainHost,
    );
    return `${action} ${reason}`;
  };

  it('is what a rule is about under its name in another case too, since the server may read either', async () => {
    for (const args of [{ Path: '/etc/x' }, { path: 'a', PATH: '/etc/x' }, { Path: 'a', path: 'a' }]) {
      expect(await judged({ action: 'deny', when: when('/etc') }, args)).toBe('deny matched_rule');
    }
    expect(await judged({ action: 'approve', when: when('/etc') }, { Path: '/etc/x' })).toBe('approve floor');
    expect(await judged({ action: 'allow', when: when('.') }, { path: 'a', Path: '/etc/x' })).toBe(
      'approve default_action',
    );
    expect(await judged({ action: 'allow', when: when('.') }, { path: 'a', other: '/etc/x' })).toBe(
      'allow matched_rule',
    );
    expect(await judged({ action: 'deny', when: when('/etc', '/to/file') }, { to: { File: '/etc/x' } })).toBe(
      'deny matched_rule',
    );
    expect(await judged({ action: 'deny', when: [{ key: 'task', op: 'exists' }] }, { 'ta\u017fk': 1 })).toBe(
      'deny matched_rule',
    );
    // A tool of ours refuses an argument that it does not know.
    expect(await judged({ action: 'deny', when: when('/etc') }, { Path: '/etc/x' }, 'local_fs')).toBe('approve floor');
  });
});

describe('a tilde alone', () => {
  const rule = (value: string, action: string) => ({
    default_action: 'approve',
    rules: [{ action, when: [{ key: 'path', op: 'path_within', value }] }],
  });
  const judged = async (policy: object, tools: string, path = '~') =>
    judge(await load(policy), { tools, tool: 'list_dir', args: { path } }, plainHost).action;

  it('is the home directory to a tool that is not ours, which may read it so, and a name to one of ours', async () => {
    expect(await judged(rule('~/', 'deny'), 'server')).toBe('deny');
    expect(await judged(rule('.', 'allow'), 'server')).toBe('approve');
    expect(await judged(rule('~/', 'deny'), 'local_fs')).toBe('approve');
    expect(await judged(rule('.', 'allow'), 'local_fs')).toBe('allow');
  });

  it('and so are a file URL and blanks around a path what such a tool may make of them', async () => {
    for (const path of [
      'file:///home/u/notes',
      'FILE://localhost/home/u/no%74es',
      ' /home/u/notes',
      '~/notes\n',
      '\t~',
    ]) {
      expect([path, await judged(rule('~/', 'deny'), 'server', path)]).toEqual([path, 'deny']);
      expect([path, await judged(rule('.', 'allow'), 'server', path)]).toEqual([path, 'approve']);
    }
    for (const path of ['file:///srv/p/notes', ' notes', 'notes']) {
      expect([path, await judged(rule('.', 'allow'), 'server', path)]).toEqual([path, 'allow']);
    }
  });
});

describe('a line', () => {
  it.each([
    ...['echo x > .reins/y', 'echo x >> .reins/y', 'echo x >| ~/.reins/y'],
    ...['echo x 2> .reins/y', 'echo x &> .reins/y', 'cd .reins && echo x > y'],
    ...['echo x > a/.reins/y', 'echo x > $HOME/.reins/y', 'cat .reins/local.db'],
    ...['cat ~/.reins/machine.key', 'cat < .reins/local.db', 'cp ~/.reins/machine.key x'],
    ...['sqlite3 .reins/local.db .dump', 'cd .reins && cat local.db', 'sh -c "cat .reins/local.db"'],
    ...['dd if=.reins/local.db', 'tar c --file=.reins/local.db', 'X=.reins/local.db; cat $X'],
    ...['cat .rei"ns"/local.db', "cat '.reins'/local.db", 'cat .reins/../.reins/local.db'],
    ...['cat {.reins,x}/local.db', 'env cat .reins/local.db', 'xargs cat .reins/local.db'],
    ...['cat "$HOME/.reins/machine.key"'],
  ])('is refused for what it names: %s', async (command) => {
    expect(await line(command)).toBe('control_plane');
  });

  it.each([
    ...['cp .reins/hitl-policy.json x', 'cp x .reins/y', 'rm -rf .reins'],
    ...['mv .reins x', 'touch .reins/x', 'echo x > .envrc'],
    ...['echo x >> ~/.bashrc', 'echo x > .git/hooks/post-commit', 'cp x .git/hooks/y'],
    ...['chmod +x .git/hooks/y', 'rm .envrc', 'mv a .npmrc'],
    ...['vim .envrc', 'sed -i s/a/b/ .envrc', 'git add .gitmodules'],
    ...['mytool --config=.envrc', 'cp x /usr/bin/y', 'echo x > /usr/bin/y'],
    ...['echo x | tee .reins/y', 'curl -o .envrc http://x', 'mkdir .vscode'],
    ...['ln -s .reins y'],
  ])('asks for what it touches: %s', async (command) => {
    expect(await line(command)).toBe('floor');
  });

  it.each([
    ['.git/hooks', 'make', 'floor'],
    ['.reins', 'npm', 'floor'],
    ['.git', 'ls', 'allow'],
    ['.git', 'git log', 'allow'],
    ['src', 'make', 'allow'],
  ])('in the directory %s, without another word: %s: %s', async (cwd, command, expected) => {
    expect(await verdict('local_shell', 'local_shell', { command, cwd })).toBe(expected);
  });

  it.each([
    ...['cat .reins/hitl-policy.json', 'ls .reins', 'cat .envrc'],
    ...['ls .git', 'grep x .git/config', 'cat .ssh/config'],
    ...['ls > x', 'echo .reins', 'echo .envrc'],
    ...['ls', 'rm x', 'mytool .gitignore'],
    ...['/usr/bin/ls', 'echo x > /dev/null', 'cat x > y'],
  ])('does not ask: %s', async (command) => {
    expect(await line(command)).toBe('allow');
  });
});
