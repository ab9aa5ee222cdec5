import {
  ansibleLine,
  aptSetting,
  behindText,
  cargoSetting,
  commaLine,
  fzfAction,
  goLine,
  hgSetting,
  type LineIn,
  sshSetting,
  tarLine,
  whole,
} from './option-lines.ts';

/** What the options of a program have it start. */
type StartingOptions = {
  readonly options: readonly string[];
  readonly line: LineIn;
  /** Options that mean it only where the word stands among the others: elsewhere they are something else. */
  readonly beside?: { readonly word: string; readonly options: readonly string[] };
};

const starting = (options: string, line: LineIn = whole): StartingOptions => ({ options: options.split(' '), line });

const each = (names: string, own: StartingOptions): Record<string, StartingOptions> =>
  Object.fromEntries(names.split(' ').map((name) => [name, own]));

/**
 * Options of ordinary programs whose value is started: as a word of their own, at the end of a bundle, or attached, a long
 * one by `=`.
 */
export const optionTable: Readonly<Record<string, StartingOptions>> = {
  ...each(
    'tar gtar bsdtar',
    starting(
      '-I -F --to-command --use-compress-program --checkpoint-action --info-script --new-volume-script --rsh-command ' +
        '--rmt-command',
      tarLine,
    ),
  ),
  rsync: starting('-e --rsh --rsync-path'),
  ssh: starting('-o', sshSetting(false)),
  ...each('scp sftp', starting('-o -S -D', sshSetting(true))),
  ...each('sort gsort', starting('--compress-program --compress-prog')),
  rg: starting('--pre --hostname-bin'),
  man: starting('-P --pager --html'),
  zip: starting('-TT --unzip-command'),
  ...each('split gsplit', starting('--filter')),
  pandoc: starting('-F --filter --pdf-engine'),
  ag: starting('--pager'),
  restic: starting('--password-command'),
  borg: starting('--rsh --remote-path'),
  rclone: starting('--password-command --exec'),
  // `after_move:line`
  'yt-dlp': starting('--exec --exec-before-download --downloader --external-downloader', behindText(/^(?:[a-z_]+:)?/)),
  aria2c: starting(
    '--on-bt-download-complete --on-download-complete --on-download-error --on-download-pause --on-download-start ' +
      '--on-download-stop',
  ),
  gpg: starting('--photo-viewer --agent-program --pinentry-program'),
  wget: starting('--use-askpass'),
  tcpdump: starting('-z --postrotate-command'),
  cpio: starting('--rsh-command'),
  go: starting('-exec --exec -toolexec --toolexec -vettool --vettool -ldflags --ldflags', goLine),
  ...each('gcc g++ cc c++ clang clang++', starting('-wrapper', commaLine)),
  ...each('apt apt-get aptitude', starting('-o --option', aptSetting)),
  dpkg: starting('--pre-invoke --post-invoke --status-logger'),
  ansible: starting('-a --args', ansibleLine),
  just: starting('--shell --command -c'),
  fzf: starting('--preview --bind --with-shell', fzfAction),
  ...each('bat batcat', starting('--pager')),
  ranger: starting('--cmd', behindText(/^shell\s+(?:-\w+\s+)?/)),
  hg: { ...starting('--config -c --command --tool', hgSetting), beside: { word: 'extdiff', options: ['-p'] } },
  svn: starting('--diff-cmd --diff3-cmd --editor-cmd'),
  ...each('bzr brz', starting('--using')),
  npm: starting('--script-shell --shell --git --call -c'),
  // `cargo rustc` hands the words behind `--` on.
  cargo: starting('--config -C --codegen', cargoSetting),
  ...each('rustc rustdoc', starting('-C --codegen', cargoSetting)),
  ...each('nano rnano pico', starting('-s --speller')),
  feh: starting('-A --action', behindText(/^;?(?:\[[^\]]*\])?/)),
  lf: starting('-command', behindText(/^[$!&%]?(?:shell\s+)?/)),
  ...each('asciinema ttyrec', starting('-c -e --command')),
  forever: starting('-c --command'),
  sk: starting('-c --cmd --preview --bind', fzfAction),
  'systemd-run': starting('-p --property', behindText(/^Exec\w+=[-@:+!|]*/)),
  fc: starting('-e'),
  jobs: starting('-x'),
  history: starting('-s'),
  // The line of another shell: `& program`, `^program`.
  ...each('nu xonsh elvish pwsh powershell', starting('-c --command -Command --commands', behindText(/^[&^]?\s*/))),
  bind: starting('-x', behindText(/^[^:]*:\s*/)),
  ...each('nc ncat netcat', starting('-e -c --exec --sh-exec')),
  ...each('mapfile readarray compgen complete', starting('-C')),
  ...each('vi vim nvim view ex', starting('-c --cmd', behindText(/^:?!/))),
};
