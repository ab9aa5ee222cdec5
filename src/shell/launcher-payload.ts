import type { CommandWord } from '../schema/command.ts';
import { anyPayloads, opensShell } from './any-payload.ts';
import { valuePayloads } from './assigned.ts';
import { filledIn, placeOf, putIn, readBehind } from './filled-in.ts';
import { type Launcher, maxBeginnings } from './launcher.ts';
import type { Payload } from './payload.ts';

export function launcherPayloads(name: string, launcher: Launcher, rest: readonly CommandWord[]): readonly Payload[] {
  if (launcher.payload === 'any') {
    const begun = anyPayloads(rest, launcher);
    return opensShell(rest, launcher) ? [...begun, { kind: 'input' }] : begun;
  }
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
      for (; launcher.assignments && isAssignment(rest[at]); at += 1) payloads.push(...assigned(rest[at]));
      break;
    }
    if (launcher.assignments && !text.startsWith('-') && isAssignment(word)) {
      // For one shell it is a program, and what is started.
      if (text.startsWith('=')) payloads.push({ kind: 'words', words: rest.slice(at) });
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
    // What stands before the subcommand is no part of what it starts: `yarn workspaces foreach exec`.
    if (at < found) continue;
    if (operands === 0) break;
    operands -= 1;
  }
  if (name === 'at' || name === 'batch') return [...payloads, { kind: 'input' }];
  const left = rest.slice(at);
  if (name === 'parallel') return [...payloads, ...parallelPayloads(rest.slice(0, at), left)];
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

/**
 * `parallel` fills in what stands behind `:::`, what a file behind `::::` holds, or what it reads; without a command before
 * it, each of them is a line.
 */
function parallelPayloads(options: readonly CommandWord[], words: readonly CommandWord[]): readonly Payload[] {
  const at = words.findIndex((word) => /^:::/.test(word.text));
  const command = at === -1 ? words : words.slice(0, at);
  const files = options.filter((_, index) => /^(?:-a|--arg-file)$/.test(options[index - 1]?.text ?? ''));
  const values: CommandWord[] = [];
  let source = '';
  for (const word of at === -1 ? [] : words.slice(at)) {
    if (/^::::?\+?$/.test(word.text)) source = word.text;
    else (source.startsWith('::::') ? files : values).push(word);
  }
  const read: readonly Payload[] =
    command.length > 0 ? [{ kind: 'line', words: readBehind(filledIn(command, '{')) }] : [];
  const inFiles = command.length > 0 ? read : files.map((file): Payload => ({ kind: 'script', words: [file] }));
  if (values.length === 0) return files.length > 0 ? inFiles : command.length > 0 ? read : [{ kind: 'input' }];
  const each = values.slice(0, maxBeginnings).map((word): Payload => ({ kind: 'line', words: putIn(command, word) }));
  const many: readonly Payload[] =
    command.length === 0 && values.length > maxBeginnings
      ? [{ kind: 'unreadable', why: 'parallel with too many lines' }]
      : [];
  return [...each, ...(files.length > 0 ? inFiles : []), ...many];
}

/** `env` and `sudo` take any word with a `=` for one, whatever stands before it; that of `${X:=a}` is not in the word. */
const isAssignment = (word: CommandWord | undefined): boolean => (word?.unset ?? word?.text)?.includes('=') === true;

export function assigned(word: CommandWord | undefined): readonly Payload[] {
  if (word === undefined) return [];
  const equals = word.text.indexOf('=');
  if (equals < 1) return [];
  return valuePayloads(word.text.slice(0, equals), { ...word, text: word.text.slice(equals + 1) });
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
