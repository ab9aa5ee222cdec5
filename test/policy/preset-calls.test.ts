import { describe, expect, it } from 'vitest';
import { judge, loadPreset, plainHost } from './virtual-host.ts';

/** What each shipped policy says of each built-in tool (02 §13): default, strict, read-only, ask-always, auto-edit, open. */

const presets = ['default', 'strict', 'read-only', 'ask-always', 'auto-edit', 'open'];
const readers = ['read_file', 'read_file_range', 'list_dir', 'find_files', 'grep', 'stat_file', 'count_stats'];
const contentReaders = ['read_file', 'read_file_range', 'grep'];
const writers = ['write_file', 'edit_file', 'sed'];

const facts = {
  ...plainHost,
  programs: 'cat curl date echo find git go grep ls make mv node npm python3 rm sort'.split(' '),
};
const verdicts = (tools: string, tool: string, args: Readonly<Record<string, unknown>>): string =>
  presets.map((name) => judge(loadPreset(name), { tools, tool, args }, facts).action).join(' ');
const file = (tools: readonly string[], path: string): string =>
  [...new Set(tools.map((tool) => verdicts('local_fs', tool, { path })))].join(' / ');
const line = (command: string): string => verdicts('local_shell', 'local_shell', { command });

const everywhere = (action: string): string => presets.map(() => action).join(' ');
const read = 'allow allow allow approve allow allow';
const asked = 'approve approve approve approve approve allow';
const written = 'approve approve deny approve allow allow';
const other = 'approve deny deny approve approve allow';

const names = (text: string): readonly string[] => text.trim().split(/\s+/);

const credentials = names(`
  .ssh/id ~/.ssh/id_rsa .aws/credentials a/.gnupg/x .azure/x .kube/config .oci/x .config/gcloud/x .config/doctl/x
  .config/gh/hosts.yml .config/hub .config/op/x .config/rclone/x .config/1Password/x .config/Bitwarden/x .config/keepassxc/x
  .password-store/x .local/share/keyrings/x Library/Keychains/x .electrum/x .bitcoin/x .ethereum/keystore/x
  .config/solana/id.json wallet.dat a/x.kdbx x.keychain-db .mozilla/x .config/google-chrome/x .config/chromium/x
  .config/BraveSoftware/x .config/microsoft-edge/x .bash_history .zsh_history .python_history .node_repl_history
  .psql_history .mysql_history .netrc _netrc .git-credentials .npmrc .pypirc .pgpass .my.cnf .vault-token .terraformrc
  .docker/config.json .cargo/credentials .cargo/credentials.toml .m2/settings.xml .terraform.d/credentials.tfrc.json
  id_rsa id_rsa.pub a/id_ed25519 id_dsa_old /etc/shadow /etc/shadow- /etc/gshadow /etc/sudoers /etc/sudoers.d/x
  /etc/ssh/ssh_host_rsa_key /proc/self/environ /proc /dev/mem /dev/sda /dev/nvme0n1 /dev/disk/x`);

const gainingControl = names(`
  .bashrc .bash_profile .bash_login .profile .zshrc .zshenv .zprofile .zlogin .kshrc .inputrc .xprofile .xinitrc
  .pam_environment crontab .crontab .config/autostart/x .config/systemd/x Library/LaunchAgents/x Library/LaunchDaemons/x
  .config/fish/x /etc /etc/x /usr/x /usr/bin/x /bin/x /sbin/x /boot/x /lib64/x /opt/x /sys/x /var/spool/cron/x /System/x
  /Library/x .git .git/config a/.git/x .reins/x hitl-policy.json a/hitl-policy-x.json`);

describe('the shipped policies', () => {
  it.each([...credentials, 'Library/Application Support/Google/Chrome/x'])('keep %s from every tool', (path) => {
    expect(file([...readers, ...writers], path)).toBe(everywhere('deny'));
    expect(line(`cat "${path.replace('~', '$HOME')}"`)).toBe(everywhere('deny'));
  });

  it.each(gainingControl)('keep %s from being written', (path) => {
    expect(file(writers, path)).toBe(everywhere('deny'));
  });

  it.each(
    names('.sshx/a ssh/id wallet.dat2 x.kdbxx .npmrcx .docker/config .cargo/config id_rs my_id_rsa proc/self src a.ts'),
  )('have %s read and written like any file', (path) => {
    expect(file(readers, path)).toBe(read);
    expect(file(writers, path)).toBe(written);
  });

  it.each(names('x.pem k.key a.p12 b.pfx c.jks x.tfstate .env a/.env.local secrets.json'))(
    'ask before what is in %s is read',
    (path) => {
      expect(file(contentReaders, path)).toBe(asked);
      expect(file(['list_dir', 'find_files', 'stat_file', 'count_stats'], path)).toBe(read);
      expect(file(writers, path)).toBe(written);
    },
  );

  it.each(
    names(
      '.vscode/x .idea/x .husky/x .github/workflows/x .claude/x .codex/x .gemini/x .cursor/x .envrc .gitattributes',
    ),
  )('ask before %s is written', (path) => {
    expect(file(writers, path)).toBe('approve approve deny approve approve approve');
  });

  it.each(names('.direnv/x .opencode/x'))('ask before %s is written, where they ask at all', (path) => {
    expect(file(writers, path)).toBe('approve approve deny approve approve allow');
  });

  it('have an argument without a path read, and leave an unknown tool to the default', () => {
    expect([...new Set(readers.map((tool) => verdicts('local_fs', tool, {})))]).toEqual([read]);
    expect(verdicts('local_fs', 'unknown', { path: 'x' })).toBe(other);
    expect(verdicts('server', 'tool', {})).toBe(other);
  });

  it.each(['echo', 'print'])('let %s say something', (tool) => {
    expect(verdicts(tool, tool, {})).toBe('allow deny allow approve allow allow');
  });

  it.each(['webhook', ...names('web_get web_head web_post web_put web_patch web_delete')])('guard %s', (tool) => {
    const tools = tool === 'webhook' ? tool : 'web';
    expect(verdicts(tools, tool, { url: 'https://example.com' })).toBe(other);
    const inner = names(`http://localhost/ http://x.localhost http://127.0.0.1:80 http://127.1 http://0/ http://[::1]
      http://169.254.169.254/latest http://0xa9fea9fe http://169.254.170.2 http://[fd00:ec2::254]
      http://metadata.google.internal. http://metadata.azure.com`);
    for (const url of inner) expect(verdicts(tools, tool, { url })).toBe('deny deny deny deny deny deny');
  });

  it.each(['ls', 'cat a', 'git status', 'grep x f', 'date', 'node --version', 'go version', 'cat a | sort && ls'])(
    'have %s run where readers run',
    (command) => {
      expect(line(command)).toBe('allow approve deny approve allow allow');
    },
  );

  it.each(['rm x', 'mv a b', 'make', 'git push', 'curl https://e.com', 'echo $(ls)', 'ls > x', 'ls; ls', 'find .'])(
    'ask about %s',
    (command) => {
      expect(line(command)).toBe('approve approve deny approve approve allow');
    },
  );

  it.each(['mkfs x', 'sudo shred x', 'ls; wipefs a', 'sh -c "cryptsetup x"'])(
    'refuse %s where they list it',
    (command) => {
      expect(line(command)).toBe('deny deny deny approve deny deny');
    },
  );

  it.each(['$X', 'ls "', 'echo x > .envrc'])('never let %s run unasked', (command) => {
    expect(line(command)).toBe('approve approve deny approve approve approve');
  });
});
