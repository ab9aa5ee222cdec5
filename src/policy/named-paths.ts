import type { CommandWord, FoundCommand } from '../schema/command.ts';
import type { PolicyHost } from '../schema/policy.ts';
import { baseName } from '../shell/programs.ts';
import type { Analysis } from './analysis.ts';
import { pathsBehindOptions, pathsInCalls, pathsInCode } from './code-paths.ts';
import { linksMade } from './links-made.ts';
import type { PathValue } from './paths.ts';

/** Reads a path text of the call under judgement. */
export type ReadPath = (text: string) => PathValue;

/**
 * Every path that a call may name: of its words but for those that are texts, its redirections, and for what was not read,
 * its pieces.
 */
export function namedPaths(
  analysis: Analysis,
  host: PolicyHost,
  read: ReadPath,
  texts: ReadonlySet<CommandWord> = new Set(),
): Collected {
  const named = collectPaths(read);
  for (const command of analysis.commands) {
    for (const places of placesOfWords(command.words, texts, command, host)) named.add(places);
    for (const { target } of command.redirects) if (target !== null) named.add(placesOfWord(target, command, host));
    for (const { to } of linksMade(command)) named.add(placesOfWord(to, command, host));
    for (const value of command.values) named.add(placesOfWord(value, command, host));
  }
  if (analysis.unread !== null) named.add(analysis.pieces().map((piece) => expandHome(piece, host)));
  return named;
}

/** Where the words of a command may lead, and what those that are texts spell out; of words that look alike once. */
export function placesOfWords(
  words: readonly CommandWord[],
  texts: ReadonlySet<CommandWord>,
  command: FoundCommand,
  host: PolicyHost,
): readonly (readonly string[])[] {
  const paths = distinct(words.filter((word) => !texts.has(word)));
  const code = texts.size === 0 ? [] : distinct(words.filter((word) => texts.has(word)));
  return [
    ...paths.map((word) => placesOfWord(word, command, host)),
    ...code.map((word) => placesInCode(word.path, command, host)),
    placesOfCode(
      words.filter((word) => !texts.has(word)),
      command,
      host,
    ),
  ];
}

/** Where the code leads that stands behind an option. */
function placesOfCode(words: readonly CommandWord[], command: FoundCommand, host: PolicyHost): readonly string[] {
  const parts = pathsBehindOptions(command.words, new Set(words));
  return [...new Set(parts)].flatMap((part) => command.directories.map((base) => placed(part, base, host)));
}

function distinct(words: readonly CommandWord[]): readonly CommandWord[] {
  if (words.length < manyWords) return words;
  const seen = new Set<string>();
  return words.filter(({ path, open, unset = '' }) => {
    const before = seen.size;
    return seen.add(`${open}\n${unset}\n${path}`).size > before;
  });
}

const manyWords = 64;

/** Paths that were found; `whole` is false where there are more than are looked at, and somebody has to be asked. */
export type Collected = { readonly paths: readonly PathValue[]; readonly whole: boolean };

export const tooManyPaths = 'the line names more paths than are looked at';
/** Most paths of one line: each is looked up on the disk, and held against every rule. People name some hundreds. */
const maxPaths = 4096;

/** Files that every process has, and those that it has opened, by their numbers: no list is about them. */
const standardFile = /^\/dev\/(null|stdin|stdout|stderr|fd\/[0-9]+)$/;

/** A way back in it may lead elsewhere, through a link. */
export const isStandard = ({ lexical, given }: PathValue): boolean =>
  standardFile.test(lexical) && !given.includes('..');

/**
 * Collects paths by their texts, each text once, those that every process has left out. No generator: one that is made for
 * each call gets a map of its own, which keeps the whole call alive until the next full collection.
 */
export function collectPaths(read: ReadPath): Collected & { add(texts: readonly string[]): void } {
  const paths: PathValue[] = [];
  const tested = new Set<string>();
  // No getter: an object with one is of a class of its own, which holds all of this until the next full collection.
  const collected = {
    paths,
    whole: true,
    add(texts: readonly string[]): void {
      for (const text of texts) {
        if (text === '' || tested.has(text) || text.includes('\0')) continue;
        if (tested.size >= maxPaths) {
          collected.whole = false;
          return;
        }
        tested.add(text);
        const path = read(text);
        if (!isStandard(path)) paths.push(path);
      }
    },
  };
  return collected;
}

/**
 * Where a word may lead: each of its parts, below each directory that a `cd` before it may have left the line in. A pattern
 * leads to itself and to every file that it stands for now.
 */
export function placesOfWord(
  { path, open, unset }: CommandWord,
  { directories, words }: FoundCommand,
  host: PolicyHost,
): readonly string[] {
  const places: string[] = [];
  const program = words[0]?.text ?? '';
  const parts = [path, ...(unset === undefined ? [] : [unset])].flatMap((text) => [
    ...partsOf(text),
    ...pathsInCode(program, text),
    ...pathsInCalls(text),
  ]);
  for (const part of parts) for (const base of directories) places.push(placed(part, base, host));
  if (!/[*?[]/.test(path)) return places;
  if (baseName(program) === 'git') return [...places, ...filesOfPathspecs(places, host)];
  return open ? [...places, ...patternsIn(places, host).flatMap((pattern) => host.filesLike(pattern))] : places;
}

/** Files that patterns of `git` stand for now. To it a dot at the begin of a name is a sign like any other. */
export function filesOfPathspecs(places: readonly string[], host: PolicyHost): readonly string[] {
  return patternsIn(places, host).flatMap((pattern) => {
    const hidden = pattern.replace(/\/(?:(?=\*)|\?|\[[^\]]*\])(?=[^/]*$)/, '/.');
    const each = [pattern, hidden].flatMap((one) => [one, one.replaceAll('/**/', '/')]);
    return [...new Set(each)].flatMap((one) => host.filesLike(one));
  });
}

const patternsIn = (places: readonly string[], host: PolicyHost): readonly string[] =>
  places.flatMap((place) => (/[*?[]/.test(place) ? [place.startsWith('/') ? place : `${host.cwd}/${place}`] : []));

/**
 * Where what a command reads, or is given in a list, may lead. Of a text of several lines only what it spells out counts: as
 * a whole it is no path.
 */
export function placesOfInput(value: CommandWord, command: FoundCommand, host: PolicyHost): readonly string[] {
  return value.path.trim().includes('\n')
    ? placesInCode(value.path, command, host)
    : placesOfWord(value, command, host);
}

/** What a word that is a text spells out, where it is code. */
function placesInCode(text: string, { words, directories }: FoundCommand, host: PolicyHost): readonly string[] {
  const parts = pathsInCode(words[0]?.text ?? '', text);
  return parts.flatMap((part) => directories.map((base) => placed(part, base, host)));
}

/** U+0000 stands for the home directory; a tilde that the shell does not replace is an ordinary character. */
function placed(part: string, base: string, host: PolicyHost): string {
  const text = part.startsWith('~/') ? `./${part}` : part;
  const whole = base === '' || /^[/\0]/.test(text) ? text : `${base}/${text}`;
  return whole.replaceAll('\0', host.home);
}

/** Settings of `ssh` that name a file behind a blank. */
const sshFile =
  /^(?:-o)?\s*(?:(?:identity|certificate|\w{1,32}knownhosts)file|identityagent|controlpath|revokedhostkeys|(?:pkcs11|securitykey)provider)\s+(\S+)\s*$/i;

/**
 * A word, and what stands behind its first `=`, `@`, `:` or `,` or behind an attached short option (02 §7.3); what stands
 * between them too: `-v ~/.ssh:/x`, `type=bind,src=/etc,dst=/x`, `f=<x;type=y`.
 */
function partsOf(word: string): readonly string[] {
  const parts = [word, ...attachedTo(word)].flatMap(piecesOf);
  // `ssh -o 'IdentityFile x'`: a blank stands for the sign.
  const set = sshFile.exec(word)?.[1];
  if (set !== undefined) parts.push(set);
  const address = /file:(?:\/\/[^/?#]*)?([^?#]+)/i.exec(word)?.[1];
  return address === undefined ? parts : [...parts, decoded(address)];
}

function piecesOf(text: string): readonly string[] {
  const pieces = [text];
  for (const separator of '=@:,') {
    const at = text.indexOf(separator);
    if (at !== -1) pieces.push(text.slice(at + 1));
  }
  if (pieces.length === 1) return pieces;
  const all = [...pieces, ...text.split(/[=@:,;<]/, maxPieces)];
  // Some settings stand with blanks around the sign: `post_file = .env`.
  return /\s/.test(text) ? [...all, ...all.map((piece) => piece.trim())] : all;
}

/** Most letters of a bundle of options that are looked behind. */
const maxLetters = 8;

/** What may be the value of a short option: behind each letter of a bundle (`-xf.env`), and from the first slash on. */
function attachedTo(word: string): readonly string[] {
  if (!/^-[^-]./.test(word)) return [];
  // Of letters alone nearly every word is options and no more.
  const letters = /[^-A-Za-z]/.test(word) ? (/^-[A-Za-z]*/.exec(word)?.[0].length ?? 0) : 0;
  const values = [word.slice(2)];
  for (let at = 3; at <= letters && at < word.length && at <= maxLetters; at += 1) values.push(word.slice(at));
  return word.includes('/') ? [...values, word.slice(word.indexOf('/'))] : values;
}

/** The path of an address, as `curl` and `sqlite3` open it; one that cannot be decoded is taken as it is. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Most pieces of one word that are looked at. */
const maxPieces = 32;

function expandHome(piece: string, host: PolicyHost): string {
  if (piece === '~' || piece === '$HOME') return host.home;
  if (piece.startsWith('$HOME/')) return `${host.home}${piece.slice('$HOME'.length)}`;
  return piece;
}
