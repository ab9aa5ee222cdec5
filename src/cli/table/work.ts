import { inputTypes, runStatuses } from '../../schema/run.ts';
import type { Command, Flag } from '../command.ts';
import { planCommand } from './plan.ts';

const runExits = [3, 4, 5, 6, 7, 124, 130, 143] as const;

const image: Flag = {
  name: 'image',
  kind: 'list',
  value: 'path',
  help: 'Attach an image (PNG, JPEG, GIF, WebP; at most 8 of 10 MiB).',
};
const variable: Flag = { name: 'var', kind: 'list', value: 'k=v', help: 'Supply {{var:k}} of the chain.' };

const run: Command = {
  name: 'run',
  purpose: 'Start a run without a session: one instruction, one answer.',
  arguments: [{ name: 'text', many: true, help: 'The instruction; words are joined with blanks.' }],
  flags: [
    {
      name: 'input-type',
      kind: 'string',
      value: 'type',
      words: inputTypes,
      default: 'string',
      help: 'Type of the input value.',
    },
    image,
    variable,
  ],
  examples: [
    'reins run summarise the last five commits --shell',
    'git diff | reins run review this --json',
    'reins run --chain add.json --input-type json --input \'{"a":1}\'',
  ],
  exits: runExits,
  module: 'run',
  insideTool: 'refused',
};

const chat: Command = {
  name: 'chat',
  purpose: 'Send a message to the active session.',
  arguments: [{ name: 'text', many: true, help: 'The message; words are joined with blanks.' }],
  flags: [
    {
      name: 'trim',
      kind: 'int',
      value: 'n',
      min: 0,
      default: '0',
      help: 'Send only the last n stored messages; 0 = all.',
    },
    {
      name: 'last',
      kind: 'int',
      value: 'n',
      min: 0,
      default: '0',
      help: 'After the reply print the last n turns on stderr.',
    },
    {
      name: 'session',
      kind: 'string',
      value: 'name',
      env: 'REINS_SESSION',
      help: 'Use this session without switching to it.',
    },
    { name: 'abandon', kind: 'boolean', help: 'Give up a suspended run of this session first.' },
    image,
    variable,
    {
      name: 'tui-mode',
      kind: 'enum',
      value: 'm',
      words: ['auto', 'full', 'plain', 'screen-reader'],
      help: 'Mode of the full-screen terminal, when no text is given.',
    },
    { name: 'plain', kind: 'boolean', help: 'Short for --tui-mode plain.' },
    { name: 'screen-reader', kind: 'boolean', help: 'Short for --tui-mode screen-reader.' },
    { name: 'theme', kind: 'string', value: 't', help: 'Theme of the full-screen terminal.' },
    {
      name: 'glyphs',
      kind: 'enum',
      value: 'g',
      words: ['auto', 'unicode', 'ascii'],
      help: 'Glyphs of the full-screen terminal.',
    },
    {
      name: 'trace-file',
      kind: 'path',
      value: 'path',
      help: 'The full-screen terminal writes the lines of --trace here.',
    },
  ],
  examples: ['reins chat what changed since yesterday', 'reins chat --session work --trim 10 and now?'],
  exits: runExits,
  module: 'chat',
  insideTool: 'refused',
};

const session: Command = {
  name: 'session',
  purpose: 'List, make, show, search, copy and delete chat sessions.',
  examples: ['reins session list', 'reins session show work --tail 4', 'reins session search retry loop'],
  commands: [
    {
      name: 'list',
      aliases: ['ls'],
      purpose: 'List the sessions, newest activity first; the active one is marked *.',
      examples: ['reins session list', 'reins session list --json'],
      module: 'session',
    },
    {
      name: 'new',
      purpose: 'Create a session and make it the active one.',
      arguments: [{ name: 'name', help: 'Its name; a free one is chosen without it.' }],
      examples: ['reins session new', 'reins session new work'],
      module: 'session',
    },
    {
      name: 'switch',
      purpose: 'Make a session the active one.',
      arguments: [{ name: 'name', required: true, candidates: 'session', help: 'The session.' }],
      examples: ['reins session switch work', 'reins session switch default'],
      module: 'session',
    },
    {
      name: 'show',
      purpose: 'Show the messages of a session.',
      arguments: [{ name: 'name', candidates: 'session', help: 'The session; the active one without it.' }],
      flags: [
        { name: 'tail', kind: 'int', value: 'n', min: 1, help: 'Only the last n messages.' },
        { name: 'head', kind: 'int', value: 'n', min: 1, help: 'Only the first n messages.' },
        { name: 'tools', kind: 'boolean', help: 'Also tool calls and their results.' },
      ],
      examples: ['reins session show', 'reins session show work --tail 4 --tools'],
      module: 'session',
    },
    {
      name: 'search',
      purpose: 'Find messages of all sessions by the words in them, best first.',
      arguments: [
        {
          name: 'text',
          required: true,
          many: true,
          help: 'Words that all must occur; "two words" in quotes together.',
        },
      ],
      flags: [
        { name: 'session', kind: 'string', value: 'name', help: 'Only this session.' },
        { name: 'limit', kind: 'int', value: 'n', min: 1, max: 1000, default: '20', help: 'At most this many.' },
      ],
      examples: ['reins session search retry loop', 'reins session search \'"connection refused"\' --session work'],
      module: 'session-search',
    },
    {
      name: 'delete',
      aliases: ['rm'],
      purpose: 'Delete a session and all its messages.',
      arguments: [{ name: 'name', required: true, candidates: 'session', help: 'The session.' }],
      flags: [{ name: 'force', kind: 'boolean', help: 'Cancel a live or suspended run first.' }],
      examples: ['reins session delete work', 'reins session delete work --force'],
      module: 'session',
      insideTool: 'refused',
    },
    {
      name: 'fork',
      purpose: 'Copy a session under a new name.',
      arguments: [{ name: 'new', help: 'Name of the copy; <name>-2 and so on without it.' }],
      flags: [
        { name: 'from', kind: 'string', value: 'name', help: 'Copy this session, not the active one.' },
        { name: 'at', kind: 'int', value: 'n', min: 1, help: 'Copy up to this message.' },
        { name: 'summary', kind: 'boolean', help: 'Store a summary in place of the older messages.' },
        { name: 'keep', kind: 'int', value: 'n', min: 1, default: '8', help: 'Messages kept beside the summary.' },
      ],
      examples: ['reins session fork', 'reins session fork try-it --from work --at 6'],
      exits: [4, 6, 7, 124, 130, 143],
      module: 'session-fork',
      insideTool: 'refused',
    },
    {
      name: 'rename',
      purpose: 'Give a session another name.',
      arguments: [
        { name: 'old', required: true, candidates: 'session', help: 'The session.' },
        { name: 'new', required: true, help: 'Its new name.' },
      ],
      examples: ['reins session rename default work', 'reins session rename work release-notes'],
      module: 'session',
      insideTool: 'refused',
    },
    {
      name: 'compact',
      purpose: 'Replace the older messages of a session by a summary.',
      arguments: [{ name: 'name', candidates: 'session', help: 'The session; the active one without it.' }],
      flags: [{ name: 'keep', kind: 'int', value: 'n', min: 1, default: '8', help: 'Messages that stay as they are.' }],
      examples: ['reins session compact', 'reins session compact work --keep 12'],
      exits: [4, 6, 7, 124, 130, 143],
      module: 'session-compact',
      insideTool: 'refused',
    },
    {
      name: 'export',
      purpose: 'Write a session as Markdown or JSON.',
      arguments: [{ name: 'name', candidates: 'session', help: 'The session; the active one without it.' }],
      flags: [
        {
          name: 'format',
          kind: 'enum',
          value: 'f',
          words: ['md', 'json'],
          default: 'md',
          help: 'Form of the document.',
        },
        { name: 'out', kind: 'path', value: 'file', stdout: true, help: 'Write to this file, not to stdout.' },
        { name: 'force', kind: 'boolean', help: 'Overwrite an existing file.' },
      ],
      examples: ['reins session export', 'reins session export work --format json --out work.json'],
      module: 'session-export',
    },
  ],
};

const state: Command = {
  name: 'state',
  purpose: 'Look at captured runs, resume and cancel them.',
  examples: ['reins state list --limit 5', 'reins state resume 3kq9x7'],
  commands: [
    {
      name: 'list',
      aliases: ['ls'],
      purpose: 'List captured runs, newest first.',
      flags: [
        { name: 'status', kind: 'enum', value: 's', words: runStatuses, help: 'Only runs of this status.' },
        { name: 'limit', kind: 'int', value: 'n', min: 1, max: 1000, default: '20', help: 'At most this many.' },
      ],
      examples: ['reins state list', 'reins state list --status interrupted'],
      module: 'state',
    },
    {
      name: 'show',
      purpose: 'Show the steps, calls and decisions of a run.',
      arguments: [{ name: 'run', required: true, candidates: 'run', help: 'Id of the run, or an end of it.' }],
      flags: [{ name: 'step', kind: 'int', value: 'n', min: 1, help: 'This step with input and output.' }],
      examples: ['reins state show 3kq9x7', 'reins state show 3kq9x7 --step 2'],
      module: 'state-show',
    },
    {
      name: 'resume',
      purpose: 'Continue a suspended or interrupted run.',
      arguments: [{ name: 'run', required: true, candidates: 'run', help: 'Id of the run, or an end of it.' }],
      flags: [{ name: 'accept-changed-chain', kind: 'boolean', help: 'Also when the chain file has changed.' }],
      examples: ['reins state resume 3kq9x7', 'reins state resume 3kq9x7 --on-ask deny'],
      exits: runExits,
      module: 'resume',
      insideTool: 'refused',
    },
    {
      name: 'cancel',
      purpose: 'End a live or resting run; its asks become cancelled.',
      arguments: [{ name: 'run', required: true, candidates: 'run', help: 'Id of the run, or an end of it.' }],
      examples: ['reins state cancel 3kq9x7', 'reins state cancel run_01kb2m9v7q4t8d0x3h5n3kq9x7'],
      insideTool: 'refused',
      module: 'state',
    },
    {
      name: 'undo',
      purpose: 'Put back what file tools of a run have changed; commands are not undone.',
      arguments: [
        {
          name: 'run',
          candidates: 'run',
          help: 'Id of the run, or an end of it; unless given the newest of a run, a chat or a plan step.',
        },
      ],
      flags: [
        { name: 'dry-run', kind: 'boolean', help: 'Only show what would be put back.' },
        { name: 'yes', kind: 'boolean', help: 'Do not ask.' },
      ],
      examples: ['reins state undo --dry-run', 'reins state undo 3kq9x7'],
      insideTool: 'refused',
      module: 'state-undo',
    },
    {
      name: 'delete',
      aliases: ['rm'],
      purpose: 'Delete a captured run.',
      arguments: [{ name: 'run', required: true, candidates: 'run', help: 'Id of the run, or an end of it.' }],
      examples: ['reins state delete 3kq9x7', 'reins state delete run_01kb2m9v7q4t8d0x3h5n3kq9x7'],
      insideTool: 'refused',
      module: 'state',
    },
    {
      name: 'prune',
      purpose: 'Delete old captured runs; suspended ones stay.',
      flags: [{ name: 'older-than', kind: 'since', value: 'd', help: 'Only runs older than this.' }],
      examples: ['reins state prune', 'reins state prune --older-than 30d'],
      insideTool: 'refused',
      module: 'state',
    },
  ],
};

/** Runs, sessions, plans. */
export const workCommands: readonly Command[] = [run, chat, session, planCommand, state];
