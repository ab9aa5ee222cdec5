import { type RuntimeError, usage } from '../schema/errors.ts';
import { type Command, type Flag, takesValue } from './command.ts';
import { quote } from '../text/quote.ts';
import { distance, nearest } from '../text/nearest.ts';
import { commands, definitionsOf, findCommand, flagNames, flagsOf } from './table.ts';
import { globalFlags } from './table/globals.ts';

/** A flag as given: `text` is `true` or `false` for a boolean, null for an `optional` without a value. */
export type GivenFlag = { readonly flag: Flag; readonly text: string | null };

/** What argv says, before any value is read. */
export type Scan = {
  /** The command and its subcommand; empty when no word was given. */
  readonly path: readonly Command[];
  /** True when `run` was put in front (06 §1.3). */
  readonly implicit: boolean;
  readonly words: readonly string[];
  readonly flags: readonly GivenFlag[];
  /** A first word that looks like a command; null for every other. */
  readonly meant: Meant | null;
};

/** A word that was taken for text and may have been meant as a command (06 §1.3). */
export type Meant = {
  readonly given: string;
  readonly command: string;
  /** The command line with the command in the place of the word. */
  readonly argv: readonly string[];
};

type Token = { readonly name: string; readonly text: string | null; readonly shown: string };

/**
 * Finds command, flags and words (06 §1.3). Values are not read, files and environment are not looked at.
 * @throws RuntimeError usage: an undefined flag, a missing value, an unknown subcommand
 */
export function scan(argv: readonly string[]): Scan {
  const path: Command[] = [];
  const words: string[] = [];
  const tokens: Token[] = [];
  let implicit = false;
  let first = -1;
  let index = 0;
  while (index < argv.length) {
    const token = argv[index] ?? '';
    index += 1;
    if (token === '--') {
      // Everything after it is text and never a command word (06 §1.3).
      if (path.length === 0) implicit = pushRun(path);
      words.push(...argv.slice(index));
      break;
    }
    if (token.startsWith('-') && token !== '-') {
      const flag = readFlag(token, path);
      if (flag.text === null && takesValue(flag.definition)) {
        const next = argv[index];
        if (next === undefined) throw usage(`${flag.shown} needs a value`);
        index += 1;
        tokens.push({ name: flag.name, text: next, shown: flag.shown });
      } else tokens.push({ name: flag.name, text: flag.text, shown: flag.shown });
      continue;
    }
    const command = path.at(-1);
    if (command === undefined) {
      const found = token === '-' ? undefined : findCommand(token);
      if (found !== undefined) path.push(found);
      else {
        implicit = pushRun(path);
        first = index - 1;
        words.push(token);
      }
    } else if (command.commands !== undefined && path.length === 1 && words.length === 0) {
      path.push(subcommand(command, token, argv.slice(index)));
    } else words.push(token);
  }
  // No word, but a flag that only a run has: the input comes from `--input` or standard input.
  if (path.length === 0 && tokens.some(({ name }) => isOf('run', name))) implicit = pushRun(path);
  // One that only the full-screen terminal has: that is what opens without a word.
  const tui = findCommand('tui');
  if (path.length === 0 && tui !== undefined && tokens.some(({ name }) => isOf('tui', name))) path.push(tui);
  return { path, implicit, words, flags: settle(tokens, path), meant: first < 0 ? null : meantBy(words, argv, first) };
}

const isOf = (command: string, name: string): boolean =>
  !globalFlags.some((flag) => flag.name === name) &&
  (findCommand(command)?.flags ?? []).some((flag) => flag.name === name);

function pushRun(path: Command[]): true {
  const run = findCommand('run');
  if (run !== undefined) path.push(run);
  return true;
}

function subcommand(command: Command, word: string, rest: readonly string[]): Command {
  const found = findCommand(word, command.commands);
  if (found !== undefined) return found;
  const words = (command.commands ?? []).map((entry) => entry.name);
  const [near] = nearest(word, words, 2, 1);
  const meant = near === undefined ? '' : `; did you mean "${near}"?`;
  throw usage(`"${word}" is not a subcommand of "${command.name}" (${words.join(', ')})${meant}`, [
    ...(near === undefined ? [] : [`reins ${[command.name, near, ...rest].map(quote).join(' ')}`]),
    `reins ${command.name} --help`,
    `reins run ${[command.name, word, ...rest].map(quote).join(' ')}`,
  ]);
}

/** The definitions that may be meant while the command is known as far as `path`. */
function candidates(name: string, path: readonly Command[]): readonly Flag[] {
  const command = path.at(-1);
  if (command === undefined) return definitionsOf(name);
  const own = flagsOf(command).filter((flag) => flag.name === name);
  if (own.length > 0 || command.commands === undefined) return own;
  return command.commands.flatMap((below) => (below.flags ?? []).filter((flag) => flag.name === name));
}

function readFlag(token: string, path: readonly Command[]): Token & { readonly definition: Flag } {
  if (!token.startsWith('--')) {
    const short = globalFlags.find((flag) => flag.short !== undefined && `-${flag.short}` === token);
    if (short === undefined) throw undefinedFlag(token, path);
    return { name: short.name, text: 'true', shown: token, definition: short };
  }
  const equals = token.indexOf('=');
  const shown = equals < 0 ? token : token.slice(0, equals);
  const value = equals < 0 ? null : token.slice(equals + 1);
  const name = shown.slice(2);
  const found = candidates(name, path);
  const first = found[0];
  if (first === undefined) {
    const negated = name.startsWith('no-') ? name.slice(3) : '';
    const flag = candidates(negated, path)[0];
    if (flag?.kind !== 'boolean') throw undefinedFlag(shown, path);
    return { name: negated, text: booleanText(value, shown) === 'true' ? 'false' : 'true', shown, definition: flag };
  }
  if (found.some((flag) => takesValue(flag) !== takesValue(first))) {
    throw usage(`${shown} means different things: write it after the command word`);
  }
  const text = first.kind === 'boolean' ? booleanText(value, shown) : value;
  return { name, text, shown, definition: first };
}

function booleanText(value: string | null, shown: string): 'true' | 'false' {
  if (value === null || value === 'true') return 'true';
  if (value === 'false') return 'false';
  throw usage(`${shown} is true or false, not "${value}"`);
}

function undefinedFlag(shown: string, path: readonly Command[]): RuntimeError {
  const name = shown.replace(/^-+/, '');
  const base = name.startsWith('no-') ? name.slice(3) : name;
  const command = path.map((entry) => entry.name).join(' ');
  if (shown.startsWith('--') && (definitionsOf(name).length > 0 || definitionsOf(base)[0]?.kind === 'boolean')) {
    const whole = command === '' ? 'reins' : `reins ${command}`;
    // What a server is started with is what was accepted of it (05 §10.1).
    const isFixed = command === 'mcp update' && ['command', 'arg', 'cwd'].includes(name);
    const instead = isFixed ? '; remove the server and add it again with it' : '';
    return usage(`"${whole}" has no flag ${shown}${instead}`, [
      ...(isFixed ? ['reins mcp remove <name>'] : []),
      `${whole} --help`,
    ]);
  }
  const near = shown.startsWith('--') ? nearest(name, flagNames(path.at(-1)), 2, 1)[0] : undefined;
  return usage(
    `${shown} is not a flag${near === undefined ? '' : ` (did you mean --${near}?)`}; text that begins with - goes after --`,
    [`reins ${command === '' ? '' : `${command} `}--help`],
  );
}

/** Gives every flag the definition of the command that was found, and refuses what it does not have. */
function settle(tokens: readonly Token[], path: readonly Command[]): readonly GivenFlag[] {
  const known = flagsOf(path.at(-1) ?? null);
  const given: GivenFlag[] = [];
  for (const token of tokens) {
    const flag = known.find((entry) => entry.name === token.name);
    if (flag === undefined)
      throw undefinedFlag(token.shown, path.length > 0 ? path : [{ name: '', purpose: '', examples: [] }]);
    if (flag.kind !== 'list' && given.some((entry) => entry.flag === flag)) {
      throw usage(`${token.shown} is given twice`);
    }
    given.push({ flag, text: token.text });
  }
  return given;
}

/** A first word that is nearly a command (06 §1.3). */
function meantBy(words: readonly string[], argv: readonly string[], place: number): Meant | null {
  const [first, second] = words;
  if (first === undefined || /\s/.test(first)) return null;
  let near: { readonly word: string; readonly edits: number } | null = null;
  for (const command of commands) {
    if (second !== undefined && findCommand(second, command.commands ?? []) === undefined) continue;
    for (const word of [command.name, ...(command.aliases ?? [])]) {
      const edits = distance(first, word);
      if (edits <= (word.length >= 6 ? 2 : 1) && edits < (near?.edits ?? Number.POSITIVE_INFINITY))
        near = { word, edits };
    }
  }
  return near === null ? null : { given: first, command: near.word, argv: argv.with(place, near.word) };
}
