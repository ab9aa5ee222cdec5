import type { CommandReading } from '../schema/policy.ts';
import {
  codePointName,
  forbiddenCharacter,
  simpleCommand,
  splitWords,
  ungrantableElement,
} from '../text/posix-words.ts';
import { exceedsBytes } from '../text/utf8.ts';

/** Longest text that is read (02 §9.2). */
const maxBytes = 65_536;

type Arguments = Readonly<Record<string, unknown>>;

/**
 * Reads a `local_shell` call as gate, card and executor all see it (02 §9.1, §9.2). A line is an argument vector when
 * it is exactly one simple command of literal words; every other line goes to `/bin/sh` and is unreadable until a
 * grammar reads it (amendment 12). What the tool would refuse comes back as form `none` with its error. Never throws.
 */
export function readCall(args: Arguments): CommandReading {
  const { command } = args;
  const shell = args['shell'] ?? null;
  const list = args['args'] ?? null;
  const refused = (error: 'invalid_arguments' | 'needs_shell', message: string): CommandReading => ({
    form: 'none',
    verdict: 'unreadable',
    raw: typeof command === 'string' ? command : '',
    error,
    message,
  });
  if (typeof command !== 'string') return refused('invalid_arguments', '`command` must be a text.');
  const forbidden = forbiddenText('`command`', command);
  if (forbidden !== null) return refused('invalid_arguments', forbidden);
  if (/^[ \t\n]*$/.test(command)) return refused('invalid_arguments', '`command` is blank.');
  if (shell !== null && typeof shell !== 'boolean') {
    return refused('invalid_arguments', '`shell` must be true, false or absent.');
  }
  if (list === null) return readLine(command, shell, refused);
  if (shell === true) {
    return refused('invalid_arguments', '`args` cannot stand beside `shell: true`: write the whole line in `command`.');
  }
  if (/[ \t\n]/.test(command)) {
    return refused('invalid_arguments', '`command` holds a blank beside `args`: it must be the program word alone.');
  }
  const sources = typeof list === 'string' ? [list] : list;
  if (!isTexts(sources)) return refused('invalid_arguments', '`args` must be a text or a list of texts.');
  const nul = sources.find((source) => source.includes('\0'));
  if (nul !== undefined) {
    return refused('invalid_arguments', `\`args\` holds U+0000 at position ${nul.indexOf('\0')}.`);
  }
  if (typeof list === 'string') return readArgv(command, sources, splitWords(list));
  const ungrantable = sources.map(ungrantableElement).find((why) => why !== null) ?? null;
  return readArgv(command, sources, { words: sources, ungrantable });
}

type Refuse = (error: 'invalid_arguments' | 'needs_shell', message: string) => CommandReading;

function readLine(line: string, shell: boolean | null, refused: Refuse): CommandReading {
  const sh = (detail: string): CommandReading => ({ form: 'sh', verdict: 'unreadable', line, detail });
  if (exceedsBytes(line, maxBytes)) return sh(`the line is longer than ${maxBytes} bytes`);
  const read = simpleCommand(line);
  if (!read.ok) {
    return shell === false
      ? refused('needs_shell', needsShell(read.construct))
      : sh(`more than one simple command of literal words: ${read.construct}`);
  }
  const [glob] = read.unexpanded;
  if (shell === true) {
    // The verdict does not depend on `shell: true`, except where the shell would expand a word (02 §9.1).
    return glob === undefined
      ? { form: 'sh', verdict: 'readable', line, words: read.words }
      : sh(`more than one simple command of literal words: ${unquotedGlob(glob)}`);
  }
  if (shell === false && glob !== undefined) return refused('needs_shell', needsShell(unquotedGlob(glob)));
  return { form: 'argv', verdict: 'readable', words: read.words, unexpanded: read.unexpanded, ungrantable: null };
}

const unquotedGlob = (word: string): string => `an unquoted * ? or [ in ${JSON.stringify(word.slice(0, 80))}`;

const needsShell = (construct: string): string =>
  `The line holds ${construct}, which \`shell: false\` cannot run. Split the work into simple commands, or leave \`shell\` out.`;

/** `sources` are the texts of `args` as given: each must be free of forbidden characters and short enough. */
function readArgv(
  command: string,
  sources: readonly string[],
  split: { readonly words: readonly string[]; readonly ungrantable: string | null },
): CommandReading {
  let unreadable: string | null = exceedsBytes(command, maxBytes)
    ? `\`command\` is longer than ${maxBytes} bytes`
    : null;
  for (const source of sources) {
    unreadable ??= forbiddenText('`args`', source);
    if (unreadable === null && exceedsBytes(source, maxBytes)) unreadable = `\`args\` is longer than ${maxBytes} bytes`;
  }
  return {
    form: 'argv',
    verdict: unreadable === null ? 'readable' : 'unreadable',
    words: [command, ...split.words],
    unexpanded: [],
    ungrantable: unreadable ?? split.ungrantable,
  };
}

function forbiddenText(what: string, text: string): string | null {
  const found = forbiddenCharacter(text);
  return found === null ? null : `${what} holds ${codePointName(found.codePoint)} at position ${found.index}.`;
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((element) => typeof element === 'string');
