import type { CommandWord } from '../schema/command.ts';
import { type Launcher, launcherOf, launches } from './launchers.ts';
import { shells } from './programs.ts';

/** What a command starts besides itself, as far as its words tell. */
export type Payload =
  | { readonly kind: 'words'; readonly words: readonly CommandWord[] }
  /** A line for a shell, put together from these words. */
  | { readonly kind: 'line'; readonly words: readonly CommandWord[] }
  /** What it reads from standard input is a script. */
  | { readonly kind: 'input' }
  /** Its words do not say what it starts. */
  | { readonly kind: 'unreadable'; readonly why: string };

const findRunners: ReadonlySet<string> = new Set(['-exec', '-execdir', '-ok', '-okdir']);

/** The payloads of a command (02 §9.3, §9.5); none for a program that starts no other one that its words name. */
export function payloadsOf(words: readonly CommandWord[]): readonly Payload[] {
  const [program, ...rest] = words;
  if (program === undefined) return [];
  const name = baseName(program.text);
  if (shells.has(name)) return shellPayload(rest);
  if (name === 'eval')
    return rest.length === 0 ? [] : [{ kind: 'line', words: rest[0]?.text === '--' ? rest.slice(1) : rest }];
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
  if (name === 'source' || name === '.') {
    if (rest[0]?.text === '/dev/stdin' || rest[0]?.text === '/dev/fd/0') return [{ kind: 'input' }];
    // A script that is read by name is looked up like a program.
    return [{ kind: 'words', words: rest[0]?.text === '--' ? rest.slice(1) : rest }];
  }
  if (name === 'find') return findPayloads(rest);
  const launcher = launcherOf(name);
  if (
    launcher === undefined ||
    !launches(
      name,
      rest.map((word) => word.text),
    )
  )
    return [];
  return launcherPayloads(name, launcher, rest);
}

/** The name that a program word goes by when it is read: its last segment, without what Windows puts behind it. */
export const baseName = (word: string): string =>
  word.slice(word.lastIndexOf('/') + 1).replace(/\.(exe|cmd|bat)$/i, '');

/** `-c` in any bundle; without it and without a script, standard input. */
function shellPayload(rest: readonly CommandWord[]): readonly Payload[] {
  let line = false;
  let input = false;
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at];
    if (word === undefined) break;
    const { text } = word;
    if (text === '--' || !/^[-+]./.test(text)) {
      const found = text === '--' ? rest[at + 1] : word;
      if (line) return found === undefined ? [] : [{ kind: 'line', words: [found] }];
      return found === undefined || text === '-' || input || found.text === '/dev/stdin' ? [{ kind: 'input' }] : [];
    }
    if (text.startsWith('--command=')) {
      return [{ kind: 'line', words: [{ ...word, text: text.slice('--command='.length) }] }];
    }
    if (/^--(rcfile|init-file|init-command)$/.test(text) || /^[-+][A-Za-z]*[oO]$/.test(text)) at += 1;
    if (text === '--command' || /^-[A-Za-z]*c/.test(text)) line = true;
    if (/^-[A-Za-z]*s/.test(text)) input = true;
  }
  return line ? [] : [{ kind: 'input' }];
}

function findPayloads(rest: readonly CommandWord[]): readonly Payload[] {
  const payloads: Payload[] = [];
  for (let at = 0; at < rest.length; at += 1) {
    if (!findRunners.has(rest[at]?.text ?? '')) continue;
    let end = at + 1;
    while (end < rest.length && rest[end]?.text !== ';' && rest[end]?.text !== '+') end += 1;
    payloads.push({ kind: 'words', words: rest.slice(at + 1, end) });
    at = end;
  }
  return payloads;
}

function launcherPayloads(name: string, launcher: Launcher, rest: readonly CommandWord[]): readonly Payload[] {
  if (launcher.payload === 'any') return anyPayloads(rest);
  const payloads: Payload[] = [];
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
      while (launcher.assignments && isAssignment(rest[at]?.text ?? '')) at += 1;
      break;
    }
    if (launcher.assignments && isAssignment(text)) continue;
    if (text.startsWith('-') && text !== '-') {
      const option = readOption(launcher, text);
      if (option === null) return [...payloads, { kind: 'unreadable', why: `${name} with the option ${text}` }];
      const next = option.next ? rest[at + 1] : undefined;
      if (option.next) at += 1;
      if (option.line !== null) {
        // A line given by an option goes on in the words behind it (`env -S`).
        const line = option.line === '' ? (next === undefined ? [] : [next]) : [{ ...word, text: option.line }];
        const behind = name === 'env' ? rest.slice(at + 1) : [];
        payloads.push({ kind: 'line', words: [...line, ...behind] });
      }
      continue;
    }
    if (text === '-' && launcher.flags.includes('-')) continue;
    // Without a command among its words, what it starts stands in an option, before or behind its operands.
    if (launcher.payload === 'none') continue;
    if (operands === 0) break;
    operands -= 1;
  }
  if (name === 'at' || name === 'batch') return [...payloads, { kind: 'input' }];
  const left = rest.slice(at);
  // Behind the file that `script` writes: the form of other systems.
  if (name === 'script') {
    const operand = rest.findIndex((word) => !word.text.startsWith('-'));
    return [...payloads, ...(operand === -1 ? [] : anyPayloads(rest.slice(operand + 1)))];
  }
  if (launcher.payload === 'none' || left.length === 0) return payloads;
  if (launcher.payload === 'words') return [...payloads, { kind: 'words', words: left }];
  const until = left.findIndex((word) => /^:::/.test(word.text));
  return [...payloads, { kind: 'line', words: until === -1 ? left : left.slice(0, until) }];
}

const isAssignment = (text: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*=/.test(text);

/** As many words of a launcher whose options are not known are looked at. */
const maxBeginnings = 12;

/** Each word as the beginning of a command, and each that holds blanks as a line; also behind the `=` of an option. */
function anyPayloads(rest: readonly CommandWord[]): readonly Payload[] {
  return rest.slice(0, maxBeginnings).flatMap((word, index): readonly Payload[] => {
    const text = word.text.startsWith('-') ? word.text.replace(/^-[^=]*=?/, '') : word.text;
    if (/[ \t\n]/.test(text)) return [{ kind: 'line', words: [{ ...word, text }] }];
    return word.text.startsWith('-') ? [] : [{ kind: 'words', words: rest.slice(index) }];
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
