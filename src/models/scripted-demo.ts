import { tour } from '../schema/tour.ts';
import type { Reply, Script, Turn } from './scripted-types.ts';

/** Every reply says what it is (08 §6). */
const say = (text: string): string => `(scripted demo) ${text}`;

/** A substitution of 08 §6.3. */
const slot = (name: string): string => `\${${name}}`;

const call = (name: string, args: Readonly<Record<string, unknown>>): NonNullable<Reply['tool_calls']>[number] => ({
  name,
  arguments: args,
});

const readFile = (path: string) => call('local_fs.read_file', { path });
const listHere = call('local_fs.list_dir', { path: '.' });
const runLs = call('local_shell.local_shell', { command: 'ls' });
const write = call('local_fs.write_file', { path: tour.written.path, content: tour.written.content });

const denied = '"error":"denied"';
const inTime = 'not given in time';
const failed = '"ok":false';

const onTour = { last_user: { equals: tour.prompt } } as const;
const deniedBefore = { last_assistant: { contains: 'That was denied' } } as const;
const summary =
  'Four calls went through one gate: the note was read and `ls` ran, because rules allow them; the credentials were ' +
  'refused, because a rule denies them whoever asks;';

const tourTurns: readonly Turn[] = [
  {
    name: 'tour-1-note',
    match: { role: 'user', ...onTour },
    reply: {
      text: say(
        'I am a script that plays a model; the gate around me is real. First I read a note. A rule allows that.',
      ),
      tool_calls: [readFile(tour.note.path)],
    },
  },
  {
    name: 'tour-2-command',
    match: { ...onTour, tool: { name: 'local_fs.read_file', count: 1 }, offered: ['local_shell.local_shell'] },
    reply: {
      text: say('I have the note. Now a command: `ls` is on the allowlist, and the record names the program that ran.'),
      tool_calls: [runLs],
    },
  },
  {
    name: 'tour-2-without-shell',
    match: { ...onTour, tool: { name: 'local_fs.read_file', count: 1 } },
    reply: {
      text: say('I have the note. No shell was enabled, so I go on: I try to read credentials.'),
      tool_calls: [readFile(tour.credentials.path)],
    },
  },
  {
    name: 'tour-3-credentials',
    match: { ...onTour, tool: { name: 'local_shell.local_shell' } },
    reply: {
      text: say('Next I try something that I should not: I read credentials.'),
      tool_calls: [readFile(tour.credentials.path)],
    },
  },
  {
    name: 'tour-4-write-after-denial',
    match: { ...onTour, tool: { name: 'local_fs.read_file', content: denied, count: { gte: 2 } } },
    reply: {
      text: say('That was denied, and I was told which rule did it. Last, I want to write a file. That needs a yes.'),
      tool_calls: [write],
    },
  },
  {
    name: 'tour-4-write',
    match: { ...onTour, tool: { name: 'local_fs.read_file', count: { gte: 2 } } },
    reply: {
      text: say('This policy did not refuse it. Last, I want to write a file.'),
      tool_calls: [write],
    },
  },
  {
    name: 'tour-5-expired',
    match: {
      ...onTour,
      ...deniedBefore,
      tool: { name: 'local_fs.write_file', content: { contains: [denied, inTime] } },
    },
    reply: { text: say(`${summary} the file was not written, because nobody answered in time.`) },
  },
  {
    name: 'tour-5-denied',
    match: { ...onTour, ...deniedBefore, tool: { name: 'local_fs.write_file', content: denied } },
    reply: {
      text: say(`${summary} the file was not written, because writing needs a yes and the answer was no.`),
    },
  },
  {
    name: 'tour-5-failed',
    match: { ...onTour, tool: { name: 'local_fs.write_file', content: failed } },
    reply: { text: say(`The tour ends here. The file was not written: ${slot('tool.json.message')}`) },
  },
  {
    name: 'tour-5-approved',
    match: { ...onTour, ...deniedBefore, tool: { name: 'local_fs.write_file' } },
    reply: { text: say(`${summary} the file ${tour.written.path} was written, because somebody said yes.`) },
  },
  {
    name: 'tour-5-end',
    match: { ...onTour, tool: { name: 'local_fs.write_file' } },
    reply: { text: say(`The tour ends here. The file ${tour.written.path} was written.`) },
  },
];

const stepSummary = {
  outcome: 'success',
  summary: 'The scripted model looked at the workspace and changed nothing; the listing shows it.',
  artifacts: [],
  handover_for_next: 'Nothing was changed; the next step needs nothing from this one.',
  caveats: ['played by the scripted demo, not by a model'],
};

/** Prompts of plans, compaction and exploration, known by their system text (04 §19, 07). */
const promptTurns: readonly Turn[] = [
  {
    name: 'planner',
    match: { system: { starts_with: 'You turn a goal into a plan' } },
    reply: {
      text: say(
        JSON.stringify([
          'List the files of the workspace and note what is there.',
          'Look once more for anything that the goal needs.',
          'Check that nothing was changed, and sum up.',
        ]),
      ),
    },
  },
  {
    name: 'executor-look',
    match: {
      system: { starts_with: 'You carry out exactly one step of a plan' },
      role: 'user',
      offered: ['local_fs.list_dir'],
    },
    reply: { text: say('I look at the workspace.'), tool_calls: [listHere] },
  },
  {
    name: 'executor-done',
    match: { system: { starts_with: 'You carry out exactly one step of a plan' } },
    reply: {
      text: say(
        'The step is done: I looked at the workspace and changed no file. The listing verifies it; the next step needs nothing else.',
      ),
    },
  },
  {
    name: 'summarizer',
    match: {
      system: {
        any_of: [
          'You condense the record of an executed plan step',
          'should be one JSON object with the members outcome',
        ],
      },
    },
    reply: { text: say(JSON.stringify(stepSummary)) },
  },
  {
    name: 'explorer',
    match: {
      system: { any_of: ['so that a planner can plan work in it', 'write the one JSON object and nothing else'] },
    },
    reply: {
      text: say(
        JSON.stringify({
          schema_version: 1,
          repo_root: '.',
          languages: [],
          entry_points: [],
          build_commands: [],
          test_commands: [],
          conventions: [],
          key_files: [],
          caveats: ['played by the scripted demo, which read nothing'],
          generated_at: '1970-01-01T00:00:00Z',
        }),
      ),
    },
  },
  {
    name: 'compaction',
    match: { system: { any_of: ['Summarise the conversation', 'Summarize the conversation'] }, not_offered: ['*'] },
    reply: {
      text: say(
        'Goal: try out the program with a scripted model. Decisions: none. Files touched: only those that tool results name. Open items: none.',
      ),
    },
  },
];

/** What a person types in `run`, `chat` or the terminal interface. */
const list = { last_user: { any_of: ['list', 'which files', 'what files', 'what is here'] } } as const;
const read = {
  last_user: {
    regex:
      '\\b(?:read|show|open|cat|print)\\s+(?:me\\s+)?(?:the\\s+)?(?:file\\s+)?([\\w./-]*\\w\\.\\w+|README|LICENSE|Makefile)\\b',
  },
} as const;
const shell = { last_user: { any_of: ['command', 'shell', 'execute', 'terminal'] } } as const;
const writing = { last_user: { any_of: ['write', 'note', 'create', 'save'] } } as const;

const talkTurns: readonly Turn[] = [
  {
    name: 'greeting',
    match: {
      role: 'user',
      last_user: { regex: '^\\s*(?:hi|hello|hey|good (?:morning|day|evening))\\b', not: 'can you' },
    },
    reply: {
      text: say(`Hello. You said: ${slot('last_user')}\nI am not a model. Ask what I can do, or say: write a note.`),
    },
  },
  {
    name: 'abilities',
    match: { role: 'user', last_user: { any_of: ['what can you do', 'who are you', 'help'] } },
    reply: {
      text: say(
        'I play a model so that you can see the rest work. Try: list the files; read <file>; write a note (that asks you first); run a command (with --shell).',
      ),
    },
  },
  {
    name: 'shell',
    match: { role: 'user', ...shell, offered: ['local_shell.local_shell'] },
    reply: { text: say('I run `ls`.'), tool_calls: [runLs] },
  },
  {
    name: 'shell-off',
    match: { role: 'user', ...shell },
    reply: {
      text: say('I was given no shell. Start with --shell to enable local_shell; the policy still rules every call.'),
    },
  },
  {
    name: 'shell-denied',
    match: { ...shell, tool: { name: 'local_shell.local_shell', content: denied } },
    reply: { text: say(`The command was not run: ${slot('tool.json.message')}`) },
  },
  {
    name: 'shell-done',
    match: { ...shell, tool: { name: 'local_shell.local_shell' } },
    reply: { text: say(`The command ended with this result:\n${slot('tool.content')}`) },
  },
  {
    name: 'list',
    match: { role: 'user', ...list, offered: ['local_fs.list_dir'] },
    reply: { text: say('I look.'), tool_calls: [listHere] },
  },
  {
    name: 'list-failed',
    match: { ...list, tool: { name: 'local_fs.list_dir', content: failed } },
    reply: { text: say(`I could not list it: ${slot('tool.json.message')}`) },
  },
  {
    name: 'list-done',
    match: { ...list, tool: { name: 'local_fs.list_dir' } },
    reply: { text: say(`This is what the workspace holds:\n${slot('tool.content')}`) },
  },
  {
    name: 'read',
    match: { role: 'user', ...read, offered: ['local_fs.read_file'] },
    reply: { text: say(`I read ${slot('match.1')}.`), tool_calls: [readFile(slot('match.1'))] },
  },
  {
    name: 'read-failed',
    match: { ...read, tool: { name: 'local_fs.read_file', content: failed } },
    reply: { text: say(`I could not read it: ${slot('tool.json.message')}`) },
  },
  {
    name: 'read-done',
    match: { ...read, tool: { name: 'local_fs.read_file' } },
    reply: { text: say(`The file says:\n${slot('tool.content')}`) },
  },
  {
    name: 'write',
    match: { role: 'user', ...writing, offered: ['local_fs.write_file'] },
    reply: { text: say(`I write ${tour.written.path}.`), tool_calls: [write] },
  },
  {
    // The file is there from an earlier time: it has to be read before it is written (05 §4.5).
    name: 'write-read-first',
    match: { ...writing, tool: { name: 'local_fs.write_file', content: '"error":"read_first"', count: 1 } },
    reply: { text: say('It exists already, so I read it first.'), tool_calls: [readFile(tour.written.path)] },
  },
  {
    name: 'write-again',
    match: { ...writing, tool: { name: 'local_fs.read_file', count: 2 } },
    reply: { text: say(`Now I write ${tour.written.path}.`), tool_calls: [write] },
  },
  {
    name: 'write-expired',
    match: { ...writing, tool: { name: 'local_fs.write_file', content: { contains: [denied, inTime] } } },
    reply: { text: say(`I did not write ${tour.written.path}: nobody answered in time.`) },
  },
  {
    name: 'write-denied-with-words',
    match: { ...writing, tool: { name: 'local_fs.write_file', content: { contains: [denied, '"feedback":"'] } } },
    reply: { text: say(`I did not write ${tour.written.path}: the call was denied. ${slot('tool.json.feedback')}`) },
  },
  {
    name: 'write-denied',
    match: { ...writing, tool: { name: 'local_fs.write_file', content: denied } },
    reply: { text: say(`I did not write ${tour.written.path}: the call was denied.`) },
  },
  {
    name: 'write-failed',
    match: { ...writing, tool: { name: 'local_fs.write_file', content: failed } },
    reply: { text: say(`I did not write ${tour.written.path}: ${slot('tool.json.message')}`) },
  },
  {
    name: 'write-done',
    match: { ...writing, tool: { name: 'local_fs.write_file' } },
    reply: { text: say(`I wrote ${tour.written.path}.`) },
  },
];

/** The script behind `builtin:demo` (08 §6.5). */
export const demoScript: Script = {
  script: 1,
  models: [{ name: 'demo', context: 8192, max_output: 2048, capabilities: ['chat', 'tools'] }],
  defaults: { chunk: 'word', delay_ms: 15, first_delay_ms: 0, usage: 'estimate' },
  turns: [...promptTurns, ...tourTurns, ...talkTurns],
  fallback: {
    text: say(
      'I am a script and have no answer to that. For a real model: reins init ollama (or openai, gemini, anthropic), then reins config set default-model and its name.',
    ),
  },
};
