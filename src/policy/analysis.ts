import type { CommandReading, FoundCommand } from '../schema/command.ts';
import type { PolicyCall, PolicyHost } from '../schema/policy.ts';
import { rawPieces } from '../text/posix-words.ts';
import { foldCase } from '../text/fold-case.ts';
import { launcherOf } from '../shell/launchers.ts';
import { baseName, shells } from '../shell/programs.ts';

type Read = Exclude<CommandReading, { form: 'none' }>;

/** A command as the operators of 02 §7.3 judge it. */
export type Analysis = {
  readonly form: 'argv' | 'sh' | 'none';
  readonly verdict: Read['verdict'];
  /** Commands that were found, those in the words of others among them. */
  readonly commands: readonly FoundCommand[];
  /** What of the call was not read: the tightening operators scan the raw texts too. */
  readonly unread: string | null;
  /** Why no `allow` stands: what was not read, or what cannot be named (02 §9.3). */
  readonly floor: string | null;
  /** The call as an allowlist may judge it, or why none may. */
  readonly grant: Read['grant'];
  /** The texts of the call: the line, or the program word and the arguments. */
  readonly texts: readonly string[];
  /** The line outside its single quotes, when it was read as one, else null. */
  readonly unquoted: string | null;
  /** Pieces of the raw texts (02 §7.3), as written and without quotes. */
  pieces(): readonly string[];
};

/** The analysis of a `local_shell` call. Without a reading nothing is known of it. */
export function analyseCall(call: PolicyCall, reading: CommandReading | undefined, host: PolicyHost): Analysis {
  const { command, args } = call.args;
  const texts = [...textsOf(command), ...textsOf(args)];
  const given = args ?? null;
  if (reading === undefined) return unreadable('none', 'the call was not read', texts);
  if (reading.form === 'none') {
    const unread = unreadable('none', `the call cannot be read: ${reading.message}`, texts);
    // One without any argument names nothing that could run, and the tool refuses it before anybody would be asked (02 §9.1).
    return Object.values(call.args).every((value) => value === null) ? { ...unread, floor: null } : unread;
  }
  // No reader knows the lines of other shells (02 §9.9).
  if (host.shell !== 'sh' && given === null) {
    return unreadable('sh', `lines of the shell ${host.shell} are not read`, texts);
  }
  const splits = host.shell !== 'sh' && !Array.isArray(given);
  return analysed(reading, splits ? { ok: false, construct: '`args` is not a list' } : reading.grant, texts, host);
}

/** The analysis of a line that another toolset takes (02 §7.3): read as POSIX, never granted. */
export function analyseLine(line: string, reading: CommandReading | undefined): Analysis {
  if (reading === undefined || reading.form === 'none') {
    return unreadable('sh', `the line is not read${reading === undefined ? '' : `: ${reading.message}`}`, [line]);
  }
  return analysed(reading, { ok: false, construct: 'Reins does not control how this tool runs it' }, [line]);
}

function analysed(reading: Read, grant: Read['grant'], texts: readonly string[], host?: PolicyHost): Analysis {
  const { form, verdict, detail, commands, unquoted } = reading;
  const hidden = host === undefined ? null : hiddenStarter(commands, host);
  const unreadable = verdict === 'unreadable' ? detail : hidden;
  const why = unreadable ?? detail ?? '';
  const state = unreadable === null ? verdict : 'unreadable';
  const floor = state === 'readable' ? null : `the ${form === 'sh' ? 'line' : 'call'} is ${state}: ${why}`;
  const unread = state === 'unreadable' ? floor : null;
  return { form, verdict: state, commands, unread, floor, grant, texts, unquoted, pieces: piecesOf(texts) };
}

/** A program by which others are started, under a name that does not say so: what its words run was not read. */
function hiddenStarter(commands: readonly FoundCommand[], host: PolicyHost): string | null {
  for (const command of commands) {
    const [program] = command.words;
    if (program === undefined || startsOthers(baseName(program.text))) continue;
    const file = filesOf(command, host).map(baseName).find(startsOthers);
    if (file !== undefined && !manyNamed.has(file)) return `the program ${program.text} is ${file}`;
  }
  return null;
}

const startsOthers = (name: string): boolean => shells.has(name) || launcherOf(name)?.subcommands.length === 0;

/** Files that are another program under each of their names. */
export const manyNamed: ReadonlySet<string> = new Set('busybox toybox coreutils ccache distcc icecc'.split(' '));

/** The real paths of what a program word may start, below each directory that a `cd` before it may have led to. */
export function filesOf({ words, directories }: FoundCommand, host: PolicyHost): readonly string[] {
  const word = words[0]?.text ?? '';
  const places = word.includes('/') && !word.startsWith('/') ? directories : [''];
  return places.flatMap((directory) => {
    const place = directory.replaceAll('\0', host.home);
    const cwd = place === '' ? host.cwd : place.startsWith('/') ? place : `${host.cwd}/${place}`;
    const program = host.resolveProgram(word, cwd);
    return program === null ? [] : [program.real];
  });
}

const unreadable = (form: Analysis['form'], why: string, texts: readonly string[]): Analysis => ({
  form,
  verdict: 'unreadable',
  commands: [],
  unread: why,
  floor: why,
  grant: { ok: false, construct: why },
  texts,
  unquoted: null,
  pieces: piecesOf(texts),
});

function piecesOf(texts: readonly string[]): () => readonly string[] {
  let pieces: readonly string[] | null = null;
  return () => {
    if (pieces === null) {
      const text = texts.join('\n');
      // Quotes and backslashes may split a word that the shell joins again.
      pieces = [...new Set([...rawPieces(text), ...rawPieces(text.replace(/\\\n|['"\\]/g, ''))])];
    }
    return pieces;
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
