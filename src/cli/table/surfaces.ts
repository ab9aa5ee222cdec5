import type { Command, Flag } from '../command.ts';

/** The topics of `reins help <topic>` (06 §2.6). */
export const helpTopics = ['flags', 'env', 'exit-codes', 'config'] as const;
export type HelpTopic = (typeof helpTopics)[number];

export const shells = ['bash', 'zsh', 'fish'] as const;

const port: Flag = {
  name: 'port',
  kind: 'int',
  value: 'n',
  min: 0,
  max: 65_535,
  env: 'REINS_PORT',
  help: 'Port; 0 picks a free one.',
};
const yes: Flag = { name: 'yes', kind: 'boolean', help: 'Do not ask.' };

const tui: Command = {
  name: 'tui',
  purpose: 'Open the full-screen terminal.',
  flags: [
    {
      name: 'session',
      kind: 'string',
      value: 'name',
      env: 'REINS_SESSION',
      help: 'Open this session without switching.',
    },
    {
      name: 'tui-mode',
      kind: 'enum',
      value: 'm',
      words: ['auto', 'full', 'plain', 'screen-reader'],
      env: 'REINS_TUI',
      config: 'tui-mode',
      default: 'auto',
      help: 'How it is drawn.',
    },
    { name: 'plain', kind: 'boolean', help: 'Short for --tui-mode plain.' },
    { name: 'screen-reader', kind: 'boolean', help: 'Short for --tui-mode screen-reader.' },
    { name: 'theme', kind: 'string', value: 't', env: 'REINS_THEME', config: 'tui-theme', help: 'Theme.' },
    {
      name: 'glyphs',
      kind: 'enum',
      value: 'g',
      words: ['auto', 'unicode', 'ascii'],
      config: 'tui-glyphs',
      help: 'Set of glyphs.',
    },
    {
      name: 'trace-file',
      kind: 'path',
      value: 'path',
      help: 'The full-screen terminal writes the lines of --trace here.',
    },
  ],
  examples: ['reins tui', 'reins tui --session work --plain'],
  exits: [130, 131, 143],
  module: 'tui',
  insideTool: 'refused',
};

/** The server; it reads its port from a variable by the flag of it. */
export const beamTable: Command = {
  name: 'beam',
  bare: true,
  purpose: 'Start the server with the web app.',
  flags: [
    {
      name: 'host',
      kind: 'string',
      value: 'addr',
      env: 'REINS_ADDR',
      config: 'beam-host',
      default: '127.0.0.1',
      help: 'Address.',
    },
    { ...port, config: 'beam-port', default: '8787' },
    { name: 'allow-remote', kind: 'boolean', help: 'Permit an address beyond loopback.' },
    {
      name: 'public-origin',
      kind: 'list',
      value: 'o',
      env: 'REINS_PUBLIC_ORIGIN',
      help: 'Origin under which people reach it.',
    },
    { name: 'tls-cert', kind: 'path', value: 'f', env: 'REINS_TLS_CERT', help: 'Certificate.' },
    { name: 'tls-key', kind: 'path', value: 'f', env: 'REINS_TLS_KEY', help: 'Its key.' },
    { name: 'open', kind: 'boolean', help: 'Open a browser.' },
    { name: 'print-link', kind: 'boolean', help: 'Print a login link.' },
    { name: 'link', kind: 'boolean', negative: true, help: 'Make no login link.' },
  ],
  examples: ['reins beam', 'reins beam --port 0 --json'],
  exits: [3, 5, 130, 143],
  module: 'beam',
  insideTool: 'refused',
  commands: [
    {
      name: 'link',
      module: 'beam-credentials',
      purpose: 'Print a new login link of a running server.',
      flags: [{ ...port, help: 'Port of the running server.' }],
      examples: ['reins beam link', 'reins beam link --port 8788'],
      exits: [5],
      insideTool: 'refused',
    },
    {
      name: 'status',
      module: 'beam-credentials',
      purpose: 'Say what is set: password, logins, token, secret.',
      examples: ['reins beam status', 'reins beam status --json'],
    },
    {
      name: 'set-password',
      module: 'beam-credentials',
      purpose: 'Set the password of the web app.',
      flags: [
        {
          name: 'stdin',
          kind: 'boolean',
          help: 'Read it from standard input, behind a line with the current one if there is one.',
        },
        { name: 'force', kind: 'boolean', help: 'Without the current password.' },
      ],
      examples: ['reins beam set-password', 'reins beam set-password --stdin'],
      exits: [5],
      insideTool: 'refused',
    },
    {
      name: 'reset-password',
      module: 'beam-credentials',
      purpose: 'Take the password away; the first login sets it anew.',
      flags: [yes],
      examples: ['reins beam reset-password', 'reins beam reset-password --yes'],
      exits: [5],
      insideTool: 'refused',
    },
    {
      name: 'rotate-secret',
      module: 'beam-credentials',
      purpose: 'Make a new signing secret; all logins end.',
      examples: ['reins beam rotate-secret', 'reins beam rotate-secret --json'],
      exits: [5],
      insideTool: 'refused',
    },
    {
      name: 'token',
      module: 'beam-credentials',
      purpose: 'Show or replace the bearer token.',
      arguments: [{ name: 'action', required: true, words: ['show', 'rotate'], help: 'show or rotate.' }],
      flags: [yes],
      examples: ['reins beam token show --yes', 'reins beam token rotate'],
      exits: [5],
      insideTool: 'refused',
    },
    {
      name: 'sessions',
      module: 'beam-credentials',
      purpose: 'List and end logins.',
      arguments: [
        { name: 'action', required: true, words: ['list', 'revoke'], help: 'list or revoke.' },
        { name: 'id', help: 'The login to end.' },
      ],
      flags: [{ name: 'all', kind: 'boolean', help: 'End all of them.' }],
      examples: ['reins beam sessions list', 'reins beam sessions revoke --all'],
      exits: [5],
      insideTool: 'refused',
    },
  ],
};

const demo: Command = {
  name: 'demo',
  purpose: 'Play the guided tour: a scripted model, everything else is real.',
  examples: ['reins demo', 'reins demo --on-ask deny'],
  exits: [4, 5, 130, 143],
  module: 'demo',
  insideTool: 'refused',
};

const completion: Command = {
  name: 'completion',
  purpose: 'Print a completion script for a shell.',
  arguments: [{ name: 'shell', required: true, words: shells, help: 'bash, zsh or fish.' }],
  examples: ['source <(reins completion bash)', 'reins completion fish > ~/.config/fish/completions/reins.fish'],
  module: 'completion',
};

const version: Command = {
  name: 'version',
  purpose: 'Print the version.',
  examples: ['reins version', 'reins version --json'],
  module: 'version',
};

const help: Command = {
  name: 'help',
  purpose: 'Show help: of a command, or the topics flags, env, exit-codes, config.',
  arguments: [
    { name: 'command|topic', words: helpTopics, candidates: 'command', help: 'A command or a topic.' },
    { name: 'subcommand', candidates: 'subcommand', help: 'A subcommand.' },
  ],
  examples: ['reins help run', 'reins help session show', 'reins help flags', 'reins help run --json'],
  module: 'help',
};

/** Ways in, and what explains them. */
export const surfaceCommands: readonly Command[] = [tui, beamTable, demo, completion, version, help];
