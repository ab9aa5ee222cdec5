import type { CommandReading, PolicyCall, PolicyHost } from '../schema/policy.ts';
import { rawPieces, simpleCommand } from '../text/posix-words.ts';
import { foldCase } from './glob.ts';
import { startsAnother } from './programs.ts';

/**
 * A command as the operators of 02 §7.3 judge it. What a grammar reads later arrives here: more `commands`, and
 * `unread` only where something remains unknown.
 */
export type Analysis = {
  readonly form: 'argv' | 'sh' | 'none';
  /** Commands that were read, word by word. */
  readonly commands: readonly (readonly string[])[];
  /** What of the call was not read: it sets the floor, and the tightening operators scan the raw texts too. */
  readonly unread: string | null;
  /** Why no allowlist may grant the call although it was read (02 §9.2), or null. */
  readonly ungrantable: string | null;
  /** The texts of the call: the line, or the program word and the arguments. */
  readonly texts: readonly string[];
  /** The line when it was read as one, else null. */
  readonly line: string | null;
  /** Pieces of the raw texts (02 §7.3), as written and without quotes. */
  pieces(): readonly string[];
};

/** The analysis of a `local_shell` call. Without a reading nothing is known of it. */
export function analyseCall(call: PolicyCall, reading: CommandReading | undefined, host: PolicyHost): Analysis {
  const { command, args } = call.args;
  const texts = [...textsOf(command), ...textsOf(args)];
  const given = args ?? null;
  if (reading === undefined) return analysis('none', [], 'the call was not read', null, texts, null);
  if (reading.form === 'none')
    return analysis('none', [], `the call cannot be read: ${reading.message}`, null, texts, null);
  if (reading.form === 'sh' && reading.verdict === 'unreadable') {
    return analysis('sh', [], `the line is not read: ${reading.detail}`, null, texts, null);
  }
  // No reader knows the lines of other shells (02 §9.9).
  if (host.shell !== 'sh' && given === null) {
    return analysis('sh', [], `lines of the shell ${host.shell} are not read`, null, texts, null);
  }
  if (reading.form === 'sh') {
    return analysis('sh', [reading.words], payloadOf(reading.words, host), null, texts, reading.line);
  }
  const unread =
    reading.verdict === 'unreadable'
      ? `the call cannot be read: ${reading.ungrantable}`
      : payloadOf(reading.words, host);
  const string = host.shell !== 'sh' && !Array.isArray(given) ? '`args` is not a list' : null;
  const line = given === null && typeof command === 'string' ? command : null;
  return analysis('argv', [reading.words], unread, reading.ungrantable ?? string, texts, line);
}

/** The analysis of a line that another toolset takes (02 §7.3): read as POSIX, never granted. */
export function analyseLine(line: string, host: PolicyHost): Analysis {
  const read = simpleCommand(line);
  const why = 'Reins does not control how this tool runs it';
  if (!read.ok) return analysis('sh', [], `the line is not read: it holds ${read.construct}`, why, [line], null);
  return analysis('argv', [read.words], payloadOf(read.words, host), why, [line], line);
}

function payloadOf(words: readonly string[], host: PolicyHost): string | null {
  const name = programName(words[0] ?? '', host);
  return startsAnother(name, words) ? `${name} starts another command, which is not read` : null;
}

function analysis(
  form: Analysis['form'],
  commands: Analysis['commands'],
  unread: string | null,
  ungrantable: string | null,
  texts: readonly string[],
  line: string | null,
): Analysis {
  let pieces: readonly string[] | null = null;
  return {
    form,
    commands,
    unread,
    ungrantable,
    texts,
    line,
    pieces() {
      if (pieces === null) {
        const text = texts.join('\n');
        // Quotes and backslashes may split a word that the shell joins again.
        pieces = [...new Set([...rawPieces(text), ...rawPieces(text.replace(/\\\n|['"\\]/g, ''))])];
      }
      return pieces;
    },
  };
}

/** Every text in an argument, whatever its shape: what cannot be read is scanned as it is. */
function textsOf(value: unknown): readonly string[] {
  const texts: string[] = [];
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (typeof at.value === 'string') texts.push(at.value);
    else if (typeof at.value === 'object' && at.value !== null && at.depth < 32) {
      for (const member of Object.values(at.value)) open.push({ value: member, depth: at.depth + 1 });
    }
  }
  return texts.reverse();
}

/** The name by which lists know a program word: its basename, folded and without extension where the host does so. */
export function programName(word: string, host: PolicyHost): string {
  const path = host.platform === 'win32' ? word.replaceAll('\\', '/') : word;
  const base = path.slice(path.lastIndexOf('/') + 1);
  const name = host.platform === 'win32' ? base.replace(/\.(exe|cmd|bat)$/i, '') : base;
  return host.caseInsensitivePaths ? foldCase(name) : name;
}
