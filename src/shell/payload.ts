import type { CommandWord } from '../schema/command.ts';
import { builtinPayloads, type Handed, substitutesIn, valuePayloads } from './assigned.ts';
import { type CodeLines, linesInCode, linesOfSed } from './code-lines.ts';
import { filledIn, placeOf, putIn, readBehind } from './filled-in.ts';
import { type Launcher, launcherOf, launches } from './launchers.ts';
import { guessedLines, lineOptions } from './line-options.ts';
import { baseName, shells } from './programs.ts';
import { runtimeLines } from './runtime-options.ts';
import { literalWord } from './words.ts';

/** What a command starts besides itself, as far as its words tell. */
export type Payload =
  | { readonly kind: 'words'; readonly words: readonly CommandWord[] }
  | Handed
  /** What it reads from standard input is a script. */
  | { readonly kind: 'input' }
  /** It starts what its words do not spell out. */
  | { readonly kind: 'unnamed'; readonly why: string }
  /** Its words do not say what it starts. */
  | { readonly kind: 'unreadable'; readonly why: string };

/** Searches that start a command for what they find: the options behind which it stands, up to a `;` or `+`. */
const finders: Readonly<Record<string, readonly string[]>> = {
  find: ['-exec', '-execdir', '-ok', '-okdir'],
  ...Object.fromEntries(['fd', 'fdfind'].map((name) => [name, ['-x', '-X', '--exec', '--exec-batch']])),
};

/** A file that is what somebody else writes. */
const descriptor = /^\/dev\/(stdin|fd\/[0-9]+)$|^\/proc\/(self|thread-self|[0-9]+)\/fd\/[0-9]+$/;

/** The payloads of a command (02 §9.3, §9.5); none for a program that starts no other one that its words name. */
export function payloadsOf(words: readonly CommandWord[]): readonly Payload[] {
  const [program, ...rest] = words;
  if (program === undefined) return [];
  const name = baseName(program.text);
  if (shells.has(name)) return shellPayload(name, rest);
  // Where `time` is a word of the shell, its options look like a program of their own; where it is a file, it runs on.
  const time = name.startsWith('-') ? launcherOf('time') : undefined;
  if (time !== undefined) return launcherPayloads('time', time, words);
  if (name === 'eval')
    return rest.length === 0 ? [] : [{ kind: 'line', words: rest[0]?.text === '--' ? rest.slice(1) : rest }];
  // Its variables are words of its own.
  if (/^[bg]?make$/.test(name)) return [...rest.flatMap(assigned), ...codePayloads(name, rest)];
  if (name === 'trap') {
    const [action, signal] = rest[0]?.text === '--' ? rest.slice(1) : rest;
    return action === undefined || signal === undefined || action.text === '-' || action.text === '-l'
      ? []
      : [{ kind: 'line', words: [action] }];
  }
  if (name === 'alias') {
    return rest.flatMap((word) => {
      const at = word.text.indexOf('=');
      return at < 1 ? [] : [{ kind: 'line' as const, words: [{ ...word, text: word.text.slice(at + 1) }] }];
    });
  }
  // The file that a name stands for from here on.
  if (name === 'hash' && rest[0]?.text === '-p') return [{ kind: 'words', words: rest.slice(1, 2) }];
  if (name === 'source' || name === '.') {
    const words = rest[0]?.text === '--' ? rest.slice(1) : rest;
    return words[0] === undefined ? [] : [scriptPayload(words[0], words)];
  }
  const runners = Object.hasOwn(finders, name) ? finders[name] : undefined;
  if (runners !== undefined) return finderPayloads(runners, rest);
  // Alone it gives the shell itself something else to read.
  if (name === 'exec' && rest.length === 0) return [{ kind: 'input' }];
  // What `git` itself starts for its subcommands, and what they are called where they are files.
  if (/^git-[a-z]/.test(name)) {
    const git = { text: 'git', path: 'git', open: false };
    const subcommand = name.slice('git-'.length);
    return [{ kind: 'words', words: [git, { ...git, text: subcommand, path: subcommand }, ...rest] }];
  }
  const launcher = launcherOf(name);
  const texts = rest.map((word) => word.text);
  if (launcher !== undefined && launches(name, texts)) {
    if (tellsOfItself(texts) || (name === 'command' && onlyLooks(texts))) return [];
    return [...launcherPayloads(name, launcher, rest), ...optionPayloads(name, rest), ...codePayloads(name, rest)];
  }
  return [...builtinPayloads(name, rest), ...optionPayloads(name, rest), ...codePayloads(name, rest)];
}

/** `command -v name` says what a name stands for. */
function onlyLooks(words: readonly string[]): boolean {
  const options = words.slice(
    0,
    words.findIndex((word) => !/^-[pvV]+$/.test(word)),
  );
  return options.some((word) => /[vV]/.test(word));
}

/** What the code in the words of a program starts. */
function codePayloads(name: string, rest: readonly CommandWord[]): readonly Payload[] {
  if (name === 'sed' || name === 'gsed') return codeLines(linesOfSed(rest));
  return rest.flatMap(({ text }) => {
    const option = /^--[\w-]+=/.exec(text)?.[0] ?? '';
    return codeLines(linesInCode(name, text.slice(option.length)));
  });
}

/** The lines that code spells out, and that there are others. */
export const codeLines = ({ lines, guessed, unnamed }: CodeLines): readonly Payload[] => [
  ...lines.map((line) => ({ kind: guessed ? ('guess' as const) : ('line' as const), words: [literalWord(line)] })),
  ...(unnamed === null ? [] : [{ kind: 'unnamed' as const, why: unnamed }]),
];

/** A launcher that only says what it is: behind that word stands no command. */
const tellsOfItself = ([only, ...more]: readonly string[]): boolean =>
  more.length === 0 && (only === '--version' || only === '--help');

/** `-c` in any bundle; without it and without a script, standard input. */
function shellPayload(name: string, rest: readonly CommandWord[]): readonly Payload[] {
  const first: Payload[] = [];
  let line = false;
  let input = false;
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at];
    if (word === undefined) break;
    const { text } = word;
    if (text === '--' || !/^(-.|\+)/.test(text)) {
      // Alone, the dash ends the options as two do.
      const from = /^--?$/.test(text) ? at + 1 : at;
      const found = rest[from];
      if (line) {
        const parameters = substitutesIn(rest.slice(from + 1));
        return found === undefined ? first : [...first, { kind: 'line', words: [found] }, ...parameters];
      }
      if (found === undefined || input) return [...first, { kind: 'input' }];
      return [...first, scriptPayload(found, rest.slice(from))];
    }
    // It may be the one that makes the next word a script.
    if (word.open) return [...first, { kind: 'unreadable', why: `the option ${text} of ${name}` }];
    const own = /^--(?:init-)?command=/.exec(text)?.[0];
    if (own !== undefined) first.push({ kind: 'line', words: [{ ...word, text: text.slice(own.length) }] });
    if (text.startsWith('--command=')) return first;
    if (text === '--init-command' || (name === 'fish' && text === '-C')) {
      const next = rest[at + 1];
      if (next !== undefined) first.push({ kind: 'line', words: [next] });
      at += 1;
    }
    if (/^--(rcfile|init-file)$/.test(text)) {
      const file = rest[at + 1];
      const read = file === undefined ? null : scriptPayload(file, [file]);
      if (read !== null) first.push(read.kind === 'words' ? { ...read, kind: 'script' } : read);
      at += 1;
    }
    if (/^[-+][A-Za-z]*[oO]$/.test(text)) at += 1;
    if (text === '--command' || /^-[A-Za-z]*c/.test(text)) line = true;
    if (/^-[A-Za-z]*s/.test(text)) input = true;
  }
  return line ? first : [...first, { kind: 'input' }];
}

/** The script of a shell may be a descriptor, what another command prints, or a file, which is looked up like a program. */
function scriptPayload(script: CommandWord, words: readonly CommandWord[]): Payload {
  if (descriptor.test(script.text)) return { kind: 'input' };
  return script.open && script.text.startsWith('<(') ? { kind: 'line', words: [script] } : { kind: 'words', words };
}

function finderPayloads(runners: readonly string[], rest: readonly CommandWord[]): readonly Payload[] {
  const payloads: Payload[] = [];
  for (let at = 0; at < rest.length; at += 1) {
    const [word, next] = rest.slice(at, at + 2);
    // An unknown word with a program behind it may be one of them.
    const may = word?.open === true && next?.open === false && !next.text.startsWith('-') && closes(rest, at);
    if (!may && !runners.includes(word?.text ?? '')) continue;
    let end = at + 1;
    while (end < rest.length && rest[end]?.text !== ';' && rest[end]?.text !== '+') end += 1;
    const command = rest.slice(at + 1, end);
    // Without a place `fd` puts what it has found behind the words.
    const behind = !/^-(exec|ok)/.test(word?.text ?? '') && !command.some(({ text }) => /\{[./]{0,2}\}/.test(text));
    payloads.push({ kind: 'words', words: behind ? readBehind(command) : filledIn(command, '{}') });
    at = end;
  }
  return payloads;
}

const closes = (words: readonly CommandWord[], from: number): boolean =>
  words.some(({ text }, index) => index > from && /^[;+]$/.test(text));

const sources: ReadonlySet<string> = new Set([':::', '::::', ':::+', '::::+']);

/** `parallel` fills in what stands behind `:::`, or what it reads; without a command before it, each is a line. */
function parallelPayloads(words: readonly CommandWord[]): readonly Payload[] {
  const at = words.findIndex((word) => sources.has(word.text));
  const before = at === -1 ? words : words.slice(0, at);
  if (at === -1) {
    if (before.length === 0) return [{ kind: 'input' }];
    return [{ kind: 'line', words: readBehind(filledIn(before, '{')) }];
  }
  const behind = words.slice(at + 1).filter((word) => !sources.has(word.text));
  return behind.slice(0, maxBeginnings).map((word) => ({ kind: 'line', words: putIn(before, word) }));
}

function launcherPayloads(name: string, launcher: Launcher, rest: readonly CommandWord[]): readonly Payload[] {
  if (launcher.payload === 'any') return anyPayloads(rest, launcher.subcommands);
  // Without a user named by an option it takes its words as `su` does.
  if (name === 'runuser' && !rest.some((word) => /^(-[A-Za-z]*u|--user)/.test(word.text))) {
    return launcherPayloads('su', { ...launcher, payload: 'none' }, rest);
  }
  const payloads: Payload[] = [];
  const strays: CommandWord[] = [];
  let { operands } = launcher;
  // A subcommand may stand behind another one: `docker compose exec`.
  const { subcommands } = launcher;
  const found = subcommands.length === 0 ? -1 : rest.findIndex((word) => subcommands.includes(word.text));
  let at = found > 0 && rest.slice(0, found).every((word) => !word.text.startsWith('-')) ? found : 0;
  for (; at < rest.length; at += 1) {
    const word = rest[at];
    if (word === undefined) break;
    const { text } = word;
    if (text === '--') {
      at += 1 + operands;
      for (; launcher.assignments && isAssignment(rest[at]?.text ?? ''); at += 1) payloads.push(...assigned(rest[at]));
      break;
    }
    if (launcher.assignments && !text.startsWith('-') && isAssignment(text)) {
      payloads.push(...assigned(word));
      continue;
    }
    if (text.startsWith('-') && text !== '-') {
      const option = readOption(launcher, text);
      if (option === null) return [...payloads, { kind: 'unreadable', why: `${name} with the option ${text}` }];
      const next = option.next ? rest[at + 1] : undefined;
      if (option.next) at += 1;
      if (option.line !== null) {
        // A line given by an option goes on in the words behind it (`env -S`).
        const line = option.line === '' ? (next === undefined ? [] : [next]) : [{ ...word, text: option.line }];
        const behind = name === 'env' ? rest.slice(at + 1) : [];
        // It knows escapes that no shell does: a blank, an end.
        if (name === 'env' && line[0]?.text.includes('\\') === true) {
          return [...payloads, { kind: 'unreadable', why: 'a backslash in the line that env splits' }];
        }
        payloads.push({ kind: 'line', words: [...line, ...behind] });
      }
      continue;
    }
    if (text === '-' && launcher.flags.includes('-')) continue;
    // Without a command among its words, what it starts stands in an option, before or behind its operands.
    if (launcher.payload === 'none') {
      strays.push(word);
      continue;
    }
    if (operands === 0) break;
    operands -= 1;
  }
  if (name === 'at' || name === 'batch') return [...payloads, { kind: 'input' }];
  const left = rest.slice(at);
  if (name === 'parallel') return [...payloads, ...parallelPayloads(left)];
  if (name === 'xargs' && left.length > 0) {
    const place = placeOf(rest.slice(0, at));
    return [...payloads, { kind: 'words', words: place === '' ? readBehind(left) : filledIn(left, place) }];
  }
  // Behind the file that `script` writes: the form of other systems. Without a line it starts a shell.
  if (name === 'script') {
    const operand = rest.findIndex((word) => !word.text.startsWith('-'));
    const input: readonly Payload[] = payloads.length === 0 ? [{ kind: 'input' }] : [];
    return [...payloads, ...input, ...(operand === -1 ? [] : anyPayloads(rest.slice(operand + 1)))];
  }
  // Behind the user stand words for the shell: its script.
  if (name === 'su' && strays.length > 1) payloads.push({ kind: 'words', words: strays.slice(1) });
  if (left.length === 0) {
    const given = payloads.some(({ kind }) => kind === 'line' || kind === 'words');
    return launcher.shell && !given ? [...payloads, { kind: 'input' }] : payloads;
  }
  // Behind `--` stand words for the shell that it starts.
  if (launcher.payload === 'none') return [...payloads, ...anyPayloads(left)];
  const joins = name === 'pnpm' && rest.slice(0, at).some(({ text }) => /^(?:-c|--shell-mode)$/.test(text));
  if (launcher.payload === 'words' && !joins) return [...payloads, { kind: 'words', words: left }];
  const until = left.findIndex((word) => /^:::/.test(word.text));
  return [...payloads, { kind: 'line', words: until === -1 ? left : left.slice(0, until) }];
}

/** `env` and `sudo` take any word with a `=` for one, whatever stands before it. */
const isAssignment = (text: string): boolean => text.includes('=');

function assigned(word: CommandWord | undefined): readonly Payload[] {
  if (word === undefined) return [];
  const equals = word.text.indexOf('=');
  if (equals < 1) return [];
  return valuePayloads(word.text.slice(0, equals), { ...word, text: word.text.slice(equals + 1) });
}

/** What the options of a program that is no launcher have it start. */
const optionPayloads = (name: string, rest: readonly CommandWord[]): readonly Payload[] => [
  ...lineOptions(name, rest).map((word) => ({ kind: 'line' as const, words: [word] })),
  ...[...runtimeLines(name, rest), ...guessedLines(name, rest)].map((word) => ({
    kind: 'guess' as const,
    words: [word],
  })),
];

/** How many words of a launcher are looked at whose options are not known. */
const maxBeginnings = 12;

/** Each word as the beginning of a command, and each that holds blanks as a line; also behind the `=` of an option. */
function anyPayloads(rest: readonly CommandWord[], own: readonly string[] = []): readonly Payload[] {
  return rest.slice(0, maxBeginnings).flatMap((word, index): readonly Payload[] => {
    // `socat EXEC:cmd,pty`
    const address = /^(?:exec|system|shell):([^,]*)/i.exec(word.text)?.[1];
    if (address !== undefined) return [{ kind: 'line', words: [{ ...word, text: address }] }];
    const text = word.text.startsWith('-') ? word.text.replace(/^-[^=]*=?/, '') : word.text;
    if (/[ \t\n]/.test(text)) return [{ kind: 'line', words: [{ ...word, text }] }];
    return word.text.startsWith('-') || own.includes(word.text) ? [] : [{ kind: 'words', words: rest.slice(index) }];
  });
}

type Option = {
  /** The next word belongs to it. */
  readonly next: boolean;
  /** The line that it holds; empty when that is the next word; null when it holds none. */
  readonly line: string | null;
};

/** An option of a launcher; null when it is not known. */
function readOption(launcher: Launcher, text: string): Option | null {
  if (launcher.flags.includes(text) || /^-[0-9]+$/.test(text)) return { next: false, line: null };
  if (launcher.values.includes(text)) return { next: true, line: null };
  if (launcher.lines.includes(text)) return { next: true, line: '' };
  const equals = text.indexOf('=');
  if (text.startsWith('--')) {
    const option = equals === -1 ? '' : text.slice(0, equals);
    if (launcher.lines.includes(option)) return { next: false, line: text.slice(equals + 1) };
    return launcher.values.includes(option) || launcher.flags.includes(option) ? { next: false, line: null } : null;
  }
  for (let at = 1; at < text.length; at += 1) {
    const letter = `-${text.charAt(at)}`;
    const attached = text.slice(at + 1);
    if (launcher.flags.includes(letter)) continue;
    if (launcher.values.includes(letter)) return { next: attached === '', line: null };
    return launcher.lines.includes(letter) ? { next: attached === '', line: attached } : null;
  }
  return { next: false, line: null };
}
