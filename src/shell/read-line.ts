import type { CommandReading, GrantableLine } from '../schema/command.ts';
import { type LiteralLine, literalLine, simpleCommand } from '../text/literal-line.ts';
import { codePointName, forbiddenCharacter, splitWords, ungrantableElement } from '../text/posix-words.ts';
import { exceedsBytes } from '../text/utf8.ts';
import { type Found, findInScript, findInWords } from './find-commands.ts';
import type { ParseScript, Script } from './script.ts';

/** Longest text that is read (02 §9.2). */
const maxBytes = 65_536;

type Arguments = Readonly<Record<string, unknown>>;
type Grant = Exclude<CommandReading, { form: 'none' }>['grant'];

/**
 * Reads a `local_shell` call as gate, card and executor all see it (02 §9.1 to 9.4). A line is an argument vector when
 * it is exactly one simple command of literal words; every other line goes to `/bin/sh`. What the tool would refuse
 * comes back as form `none` with its error. The grammar is loaded when a text needs it. Never throws.
 */
export async function readCall(args: Arguments): Promise<CommandReading> {
  return readCallWith(args, null) ?? readWith(args, await loadParser());
}

/** The grammar, loaded when first asked for. */
export const loadParser = async (): Promise<ParseScript> => (await import('./parse-script.ts')).parseScript;

const readWith = (args: Arguments, parse: ParseScript): CommandReading => {
  const reading = readCallWith(args, parse);
  if (reading === null) throw new Error('a call with a parser is read');
  return reading;
};

/** As `readCall`, with the grammar at hand; without one, null for a call that needs it. */
export function readCallWith(args: Arguments, parse: ParseScript | null): CommandReading | null {
  const { command } = args;
  const shell = args['shell'] ?? null;
  const list = args['args'] ?? null;
  const refused = (message: string): CommandReading => ({
    form: 'none',
    verdict: 'unreadable',
    raw: typeof command === 'string' ? command : '',
    error: 'invalid_arguments',
    message,
  });
  if (typeof command !== 'string') return refused('`command` must be a text.');
  const forbidden = forbiddenText('`command`', command);
  if (forbidden !== null) return refused(forbidden);
  if (/^[ \t\n]*$/.test(command)) return refused('`command` is blank.');
  if (shell !== null && typeof shell !== 'boolean') {
    return refused('`shell` must be true, false or absent.');
  }
  if (list === null) return readLine(command, shell, parse);
  if (shell === true) {
    return refused('`args` cannot stand beside `shell: true`: write the whole line in `command`.');
  }
  if (/[ \t\n]/.test(command)) {
    return refused('`command` holds a blank beside `args`: it must be the program word alone.');
  }
  const sources = typeof list === 'string' ? [list] : list;
  if (!isTexts(sources)) return refused('`args` must be a text or a list of texts.');
  const nul = sources.find((source) => source.includes('\0'));
  if (nul !== undefined) {
    return refused(`\`args\` holds U+0000 at position ${nul.indexOf('\0')}.`);
  }
  if (typeof list === 'string') return readArgv(command, sources, splitWords(list), parse);
  const ungrantable = sources.map(ungrantableElement).find((why) => why !== null) ?? null;
  return readArgv(command, sources, { words: sources, ungrantable }, parse);
}

function readLine(line: string, shell: boolean | null, parse: ParseScript | null): CommandReading | null {
  if (exceedsBytes(line, maxBytes)) return tooLong(line, shell);
  const simple = simpleCommand(line);
  if (!simple.ok || shell === true) {
    const reading = parse === null ? null : readScript(line, parse);
    if (reading === null || reading.form === 'none' || simple.ok || shell !== false) return reading;
    return { ...reading, refusal: needsShell(simple.construct) };
  }
  const [glob] = simple.unexpanded;
  const found = findInWords(simple.words, parse);
  if (found === null) return null;
  const grant: Grant = { ok: true, line: { commands: [{ words: simple.words, redirects: [] }], operators: [] } };
  return {
    form: 'argv',
    words: simple.words,
    unexpanded: simple.unexpanded,
    unquoted: outsideQuotes(line),
    grant,
    refusal: shell === false && glob !== undefined ? needsShell(unquotedGlob(glob)) : null,
    // A shell would look for files here: no list can know what is meant. `[` alone is a program.
    ...judged(
      glob !== undefined && glob === simple.words[0] && glob !== '['
        ? { ...found, unnamed: `the program ${glob} is no literal` }
        : found,
    ),
  };
}

function tooLong(line: string, shell: boolean | null): CommandReading {
  const detail = `the line is longer than ${maxBytes} bytes`;
  const grant: Grant = { ok: false, construct: detail };
  const refusal = shell === false ? needsShell(`more than ${maxBytes} bytes`) : null;
  return { form: 'sh', verdict: 'unreadable', detail, line, commands: [], unquoted: null, grant, refusal };
}

/** Reads the line of another tool's argument as `readCall` reads a `command` (02 §7.3). */
export function readOtherLine(line: string, parse: ParseScript): CommandReading {
  const message = forbiddenText('the line', line);
  if (message !== null) return { form: 'none', verdict: 'unreadable', raw: line, error: 'invalid_arguments', message };
  return exceedsBytes(line, maxBytes) ? tooLong(line, null) : readScript(line, parse);
}

/** A line for `/bin/sh`: what the grammar finds in it, and whether it is made of audited parts only. */
function readScript(line: string, parse: ParseScript): CommandReading {
  const script = parse(line);
  const found = findInScript(script, parse);
  return {
    form: 'sh',
    line,
    unquoted: script.error === null ? withoutRanges(line, script.singleQuoted) : null,
    grant: grantOf(literalLine(line), found),
    refusal: null,
    ...judged(found),
  };
}

function judged({
  commands,
  unread,
  unnamed,
}: Found): Pick<Exclude<CommandReading, { form: 'none' }>, 'verdict' | 'detail' | 'commands'> {
  const verdict = unread !== null ? 'unreadable' : unnamed !== null ? 'unnameable' : 'readable';
  return { verdict, detail: unread ?? unnamed, commands };
}

/** Granted is only what two readings, one by grammar and one by the audited set, have found to be the same. */
function grantOf(read: LiteralLine, found: Found): Grant {
  if (!read.ok) return read;
  const [glob] = read.unexpanded;
  if (glob !== undefined) return { ok: false, construct: unquotedGlob(glob) };
  const own = found.commands.filter((one) => !one.revealed);
  const same =
    own.length === read.commands.length &&
    own.every(({ words }, index) => sameWords(words, read.commands[index]?.words ?? []));
  const line: GrantableLine = { commands: read.commands, operators: read.operators };
  return same ? { ok: true, line } : { ok: false, construct: 'a construct that is not known' };
}

const sameWords = (words: readonly { text: string; open: boolean }[], texts: readonly string[]): boolean =>
  words.length === texts.length && words.every(({ text, open }, index) => !open && text === texts[index]);

const unquotedGlob = (word: string): string => `an unquoted * ? or [ in ${JSON.stringify(word.slice(0, 80))}`;

const needsShell = (construct: string): string =>
  `The line holds ${construct}, which \`shell: false\` cannot run. Split the work into simple commands, or leave \`shell\` out.`;

/** `sources` are the texts of `args` as given: each must be free of forbidden characters and short enough. */
function readArgv(
  command: string,
  sources: readonly string[],
  split: { readonly words: readonly string[]; readonly ungrantable: string | null },
  parse: ParseScript | null,
): CommandReading | null {
  const words = [command, ...split.words];
  let unreadable: string | null = exceedsBytes(command, maxBytes)
    ? `\`command\` is longer than ${maxBytes} bytes`
    : null;
  for (const source of sources) {
    unreadable ??= forbiddenText('`args`', source);
    if (unreadable === null && exceedsBytes(source, maxBytes)) unreadable = `\`args\` is longer than ${maxBytes} bytes`;
  }
  const found = findInWords(words, parse);
  if (found === null) return null;
  const construct = unreadable ?? split.ungrantable;
  return {
    form: 'argv',
    words,
    unexpanded: [],
    unquoted: null,
    grant:
      construct === null
        ? { ok: true, line: { commands: [{ words, redirects: [] }], operators: [] } }
        : { ok: false, construct },
    refusal: null,
    ...judged({ ...found, unread: unreadable ?? found.unread }),
  };
}

function forbiddenText(what: string, text: string): string | null {
  const found = forbiddenCharacter(text);
  return found === null ? null : `${what} holds ${codePointName(found.codePoint)} at position ${found.index}.`;
}

/** A line of literal words without what stands in single quotes; there double quotes hold no backslash. */
const outsideQuotes = (line: string): string => line.replace(/("[^"]*")|'[^']*'/g, '$1');

function withoutRanges(line: string, ranges: Script['singleQuoted']): string {
  let rest = '';
  let at = 0;
  for (const [from, to] of [...ranges].sort(([left], [right]) => left - right)) {
    if (from < at) continue;
    rest += line.slice(at, from);
    at = to;
  }
  return rest + line.slice(at);
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((element) => typeof element === 'string');
