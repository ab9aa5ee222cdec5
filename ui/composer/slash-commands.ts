import { nearest } from '../../src/text/nearest.ts';

/** Where the words of an argument come from. */
export type ArgumentSource =
  | 'sessions'
  | 'models'
  | 'chains'
  | 'files'
  | 'policies'
  | 'runs'
  | 'plans'
  | 'themes'
  | 'asks'
  | 'tools'
  | 'servers'
  | 'topics'
  | readonly string[];

export type SlashCommand = {
  readonly name: string;
  readonly aliases: readonly string[];
  /** As the list shows it: `[name]`, `<goal>`. */
  readonly args: string;
  readonly help: string;
  /** Words that the first argument may be; null = anything, or none. */
  readonly source: ArgumentSource | null;
  /** Words that may follow such a first argument. */
  readonly behind: Readonly<Partial<Record<string, ArgumentSource>>>;
  /** How many words it takes at least and at most. */
  readonly least: number;
  readonly most: number;
  /** Refused while a turn runs (10 §6.5). */
  readonly idleOnly: boolean;
};

type More = Partial<Pick<SlashCommand, 'aliases' | 'source' | 'behind' | 'idleOnly'>>;
const any = Number.POSITIVE_INFINITY;

const command = (
  name: string,
  args: string,
  help: string,
  [least, most]: readonly [number, number] = [0, 0],
  more: More = {},
): SlashCommand => ({
  name,
  args,
  help,
  least,
  most,
  aliases: more.aliases ?? [],
  source: more.source ?? null,
  behind: more.behind ?? {},
  idleOnly: more.idleOnly ?? false,
});

/** Every command of the composer (10 §6.5). */
export const slashCommands: readonly SlashCommand[] = [
  command('help', '[topic]', 'keys and commands', [0, 1], { source: 'topics' }),
  command('new', '[name]', 'start an empty session and make it active', [0, 1], { aliases: ['clear'], idleOnly: true }),
  command('sessions', '', 'switch, rename, fork or delete a session'),
  command('switch', '<name>', 'open a session here and make it active', [1, 1], { source: 'sessions' }),
  command('rename', '<new>', 'rename the open session', [1, 1]),
  command('fork', '[name] [--at <seq>] [--summary]', 'copy the session into a new one', [0, 4], { idleOnly: true }),
  command('compact', '[keep]', 'replace old messages by a summary', [0, 1], { idleOnly: true }),
  command('abandon', '', 'cancel the suspended run of this session'),
  command('export', '[md|json] [path]', 'write the session to a file', [0, any], { source: ['md', 'json'] }),
  command('copy', '[code [n]]', 'copy the last answer, or a code block of it', [0, 2], { source: ['code'] }),
  command('dump', '[n]', 'print the last turns to the scrollback', [0, 1]),
  command('find', '<text>', 'search the session', [1, any]),
  command('model', '[name]', 'choose the model of this session', [0, 1], { source: 'models' }),
  command('chain', '[path|id]', 'the chain of the next turns', [0, 1], { source: 'chains', idleOnly: true }),
  command('think', '[off|auto|low|medium|high]', 'how much the model reasons', [0, 1], {
    source: ['off', 'auto', 'low', 'medium', 'high'],
  }),
  command('trim', '<n>', 'send only the last n messages; 0 = all', [1, 1]),
  command('image', '<path>', 'attach an image to the next message', [1, any], { source: 'files' }),
  command('approvals', '[id|forget]', 'open asks of every run', [0, 1], { aliases: ['asks'], source: 'asks' }),
  command('grants', '', 'what is allowed for this session; Delete forgets it'),
  command(
    'policy',
    '[show|use|vet|list|explain|replay]',
    'the policy in use, what it would say, or another one',
    [0, any],
    {
      source: ['show', 'use', 'vet', 'list', 'explain', 'replay'],
      behind: { use: 'policies', replay: 'policies' },
    },
  ),
  command('shell', '[on|off]', 'whether commands can be run at all', [0, 1], { source: ['on', 'off'] }),
  command('trust', '', 'review untrusted content and changed tools'),
  command('plan', '[show|new|next|auto|retry|skip|replan|switch|list]', 'the plan', [0, any], {
    source: ['show', 'new', 'next', 'auto', 'retry', 'skip', 'replan', 'switch', 'list'],
    behind: { switch: 'plans' },
  }),
  command('run', '[id]', 'details of a run', [0, 1], { source: 'runs' }),
  command('runs', '', 'runs of this workspace'),
  command('undo', '[run]', 'put back the files that the last turn has changed', [0, 1], {
    source: 'runs',
    idleOnly: true,
  }),
  command('tools', '[provider]', 'tools that the model is offered', [0, 1], { source: 'tools' }),
  command('mcp', '[name]', 'tool servers', [0, 1], { source: 'servers' }),
  command('status', '', 'model, policy, chain, database, bounds'),
  command('usage', '', 'tokens, time, waits', [0, 0], { aliases: ['cost'] }),
  command('doctor', '', 'what is missing, and what mends it'),
  command('queue', '[clear]', 'queued messages', [0, 1], { source: ['clear'] }),
  command('edit', '', 'external editor'),
  command('theme', '[name] [--save]', 'colours', [0, 2], { source: 'themes' }),
  command('keys', '[context|reload]', 'the keys in effect', [0, 1], { source: ['reload'] }),
  command('notify', 'auto|osc|bell|off', 'notifications', [1, 1], { source: ['auto', 'osc', 'bell', 'off'] }),
  command('quit', '', 'leave', [0, 0], { aliases: ['exit'] }),
];

export const findCommand = (name: string): SlashCommand | undefined =>
  slashCommands.find((one) => one.name === name || one.aliases.includes(name));

/** What a line of the composer is. */
export type Line =
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'slash'; readonly name: string; readonly args: string }
  /** `keep`: the model is told (`!`); not with `!!`. */
  | { readonly kind: 'shell'; readonly line: string; readonly keep: boolean }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'empty' };

/** Reads a whole text as it is sent (10 §6.5, §6.6). @param busy a turn is running */
export function readLine(text: string, busy: boolean): Line {
  if (text.trim() === '') return { kind: 'empty' };
  if (text.startsWith('//')) return { kind: 'message', text: text.slice(1) };
  if (text.startsWith('/')) return readCommand(text, busy);
  if (!text.startsWith('!')) return { kind: 'message', text };
  const keep = !text.startsWith('!!');
  const line = text.slice(keep ? 1 : 2).trim();
  if (line === '') return { kind: 'refused', why: 'a shell line needs a command behind the !' };
  if (busy) return { kind: 'refused', why: 'a turn is running: a shell line can be run when it has ended' };
  return { kind: 'shell', line, keep };
}

function readCommand(text: string, busy: boolean): Line {
  const [, name = '', rest = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(text) ?? [];
  const found = findCommand(name);
  if (found === undefined) return { kind: 'refused', why: unknown(name) };
  const args = rest.trim();
  const words = args === '' ? [] : args.split(/\s+/);
  if (busy && found.idleOnly) return { kind: 'refused', why: `/${name} cannot be used while a turn is running` };
  if (words.length < found.least) return { kind: 'refused', why: `/${name} needs ${found.args}` };
  if (words.length > found.most) {
    const takes = found.args === '' ? 'takes no argument' : `takes ${found.args}`;
    return { kind: 'refused', why: `/${name} ${takes}` };
  }
  const [first] = words;
  if (Array.isArray(found.source) && first !== undefined && !found.source.includes(first) && isClosed(found)) {
    return { kind: 'refused', why: `/${name} takes ${found.source.join(', ')}, not ${first}` };
  }
  return { kind: 'slash', name: found.name, args };
}

/** Commands whose first word is one of a few. */
const isClosed = ({ name }: SlashCommand): boolean => name !== 'keys';

/** What other programs call things by: who types them is not led to a word that only looks alike. */
const calledElsewhere: ReadonlyMap<string, string> = new Map([
  ['resume', 'sessions'],
  ['continue', 'sessions'],
  ['chat', 'sessions'],
  ['history', 'find'],
  ['permissions', 'policy'],
  ['allowed-tools', 'policy'],
  ['context', 'usage'],
  ['tokens', 'usage'],
  ['stats', 'usage'],
  ['models', 'model'],
  ['reset', 'new'],
  ['save', 'export'],
  ['editor', 'edit'],
  ['hooks', 'tools'],
  ['rewind', 'undo'],
  ['restore', 'undo'],
]);

function unknown(name: string): string {
  const names = slashCommands.flatMap((one) => [one.name, ...one.aliases]);
  const [near] = [
    ...(calledElsewhere.has(name) ? [calledElsewhere.get(name)] : []),
    ...nearest(name, names, 2, 1),
    ...names.filter((one) => name !== '' && one.startsWith(name)),
  ];
  const mean = near === undefined ? '/help lists them' : `did you mean /${near}?`;
  return `there is no command /${name.slice(0, 40)}: ${mean} (// sends a message that begins with /)`;
}
