import type { OperandKind } from '../schema/command-tables.ts';
import type { CommandWord, FoundCommand } from '../schema/command.ts';
import type { PolicyHost } from '../schema/policy.ts';
import { isPattern } from '../text/file-pattern.ts';
import { baseName } from '../shell/programs.ts';
import type { Analysis } from './analysis.ts';
import { createReachOf } from './listings.ts';
import { placesOfWord, type ReadPath } from './named-paths.ts';
import { listedOperands } from './option-tables.ts';
import { comparable } from './paths.ts';
import { placing } from './placed-names.ts';
import type { Reach } from './reach.ts';
import { mayHold } from './search-lists.ts';
import type { Taken } from './taken.ts';
import { kindOfPath, takerOf } from './taken-along.ts';

/**
 * Words that only the run knows: what `find`, `xargs` and `parallel` put in, what a substitution prints, what a name holds by
 * that. No list matches them (02 §7.3), but which paths they may be the line often tells: those below a directory that is
 * listed. They count like a directory that is taken with all it holds, as far as the list may hold a path.
 */

const names = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Programs for which a word is no file, or that tell no more of one than that it is there. */
const harmless = names(
  'kill killall pkill renice wait echo printf test [ [[ expr seq sleep exit return break continue shift true false : read ' +
    'export declare typeset local readonly unset set cd pushd popd ls dir stat du wc basename dirname realpath readlink file ' +
    'tree which type command hash mkdir date docker podman kubectl npm pnpm yarn gh glab brew logger notify-send',
);
/** Searches: one through everything is as common as `grep -r`, and is let be as that is. */
const searches = names('grep egrep fgrep rg ag ack');
/** Programs that change none of their operands, beside those of the tables. */
const readers = names(
  'cat tac nl head tail less more bat base64 xxd od hexdump strings sort uniq cut paste jq awk md5sum sha1sum sha256sum diff cmp',
);
/** Programs that are there to change what they are given; those that do so by an option; those that change the last of it. */
const changers = names(
  'rm unlink shred truncate tee mv touch chmod chown chgrp dd ed ex sponge rename srm trash patch sd',
);
const editors = names('sed gsed perl ruby awk gawk');
const placers = names('cp gcp ln install ginstall rsync');
/** Of `docker` and its like: what takes files of this machine. */
const takesFiles = /^(cp|build|run|create|import|load|compose|apply|publish|pack)$/;
/** Subcommands of `git` whose words are names of its own, or of what it keeps. */
const gitNames = names(
  'tag checkout switch branch rev-parse log show commit push fetch pull merge rebase reset cherry-pick revert describe ' +
    'merge-base remote ls-files rev-list worktree stash bisect name-rev cat-file range-diff format-patch restore add',
);

/** What each unknown word of a call may stand for. */
export function unknownOperands({ commands }: Analysis, host: PolicyHost, read: ReadPath): readonly Taken[] {
  const reachOf = createReachOf();
  return commands.flatMap((command) =>
    unknownOf(command).flatMap((unknown) => takenBy(unknown, command, { host, read, reachOf })),
  );
}

/** What is needed to tell what a word stands for. */
type Sight = {
  readonly host: PolicyHost;
  readonly read: ReadPath;
  readonly reachOf: ReturnType<typeof createReachOf>;
};

/** A word that only the run knows, whether its command may change what it is given, and whether it surely does. */
type Unknown = { readonly word: CommandWord; readonly changes: boolean; readonly sure: boolean };

function unknownOf(command: FoundCommand): readonly Unknown[] {
  const { words, redirects, values } = command;
  const opened = redirects.flatMap(({ target, writes }) =>
    target?.unknown === undefined ? [] : [{ word: target, changes: writes, sure: writes }],
  );
  if (words.length === 0) return opened;
  const own = [...words.slice(1), ...values].filter(({ unknown }) => unknown !== undefined);
  if (own.length === 0 || isHarmless(command)) return opened;
  const name = baseName(words[0]?.text ?? '');
  const kinds = filesOf(command);
  const files = kinds === null ? own : own.filter(({ text }) => kinds.has(text));
  const changing = !readers.has(name) && !searches.has(name);
  return [
    ...opened,
    ...files.map((word) => ({
      word,
      changes: changing && !/^(read|file|rev)$/.test(kinds?.get(word.text) ?? ''),
      sure: rewrites(command, word),
    })),
  ];
}

/** Whether a program is there to change the files that it is given, or this one of them. */
function rewrites({ words: [program, ...rest] }: FoundCommand, word: CommandWord): boolean {
  const name = baseName(program?.text ?? '');
  if (changers.has(name) || (name === 'git' && rest.some(({ text }) => /^(?:apply|am)$/.test(text)))) return true;
  if (editors.has(name)) return rest.some(({ text }) => /^-[A-Za-z0-9]*i|^--in-place|^inplace$/.test(text));
  return placers.has(name) && rest.findLast(({ text }) => !text.startsWith('-')) === word;
}

function isHarmless({ words: [program, ...rest] }: FoundCommand): boolean {
  const name = baseName(program?.text ?? '');
  if (name === 'git') {
    const [subcommand] = rest.filter(({ text }, index) => !text.startsWith('-') && rest[index - 1]?.text !== '-C');
    return gitNames.has(subcommand?.text ?? '') && !rest.some(({ text }) => /^(--no-index|-F|--file|-[cC])/.test(text));
  }
  // What it does with them is said of the command that it starts.
  if (name === 'find') return !rest.some(({ text }) => text === '-delete');
  const files =
    /^(docker|podman|kubectl|npm|pnpm|yarn|gh|glab)$/.test(name) && rest.some(({ text }) => takesFiles.test(text));
  return harmless.has(name) && !files;
}

/** The files among the words of a command and what it does with each, by the shipped tables; null where they do not list it. */
function filesOf({ words: [program, ...rest] }: FoundCommand): ReadonlyMap<string, OperandKind> | null {
  const operands = listedOperands(baseName(program?.text ?? ''), rest, undefined);
  if (operands === null) return null;
  // Of two that look alike the one that is a file counts.
  const files = operands.filter(({ kind }) => kind !== 'text' && kind !== 'none');
  return new Map(files.map(({ text, kind }) => [text, kind]));
}

function takenBy(
  { word, changes, sure }: Unknown,
  command: FoundCommand,
  { host, read, reachOf }: Sight,
): readonly Taken[] {
  const { unknown } = word;
  if (unknown === undefined) return [];
  const name = baseName(command.words[0]?.text ?? '');
  const { reaches, texts } = reachOf(unknown.origins);
  const fits = createFit(word, command, host, read);
  const takes = takerOf(command) !== null;
  const admits = (path: string, real: string, reach: Reach): boolean =>
    reach.admits(path, real, kindOfPath(path, host)) &&
    (reach.holding === undefined || mayHold(path, reach.holding, host));
  // `{}/notes`: what is listed is the directory above.
  const inner = !unknown.split && /^(?:\/(?!\.\.?(?:\/|$))[^/*?[{]+)+$/.test(unknown.behind) ? unknown.behind : '';
  const listedPath = (path: string): string =>
    inner !== '' && path.endsWith(inner) ? path.slice(0, -inner.length) || '/' : path;
  const taken = (real: string, reach: Reach | null): Taken => ({
    given: `${word.text} of ${name}`,
    verb: 'may be',
    real,
    changes,
    ...(sure ? {} : { unsure: true as const }),
    opens: false,
    admits: once((path) =>
      // Whoever takes a directory whole takes what lies in it.
      (takes ? [path, ...above(path, real)] : [path]).some(
        (one) => fits(one, reach === null) && (reach === null || admits(listedPath(one), real, reach)),
      ),
    ),
  });
  const listed = reaches.filter(({ chosen }) => chosen || !searches.has(name));
  const below = listed.flatMap((reach): readonly Taken[] => {
    if (reach.places === null) return [{ ...taken('/', null), anywhere: true }];
    return reach.places
      .flatMap((place) => placesOfWord(place, command, host))
      .filter((place) => place !== '' && !place.includes('\0'))
      .map((place) => read(place).found())
      .map((real) => ({ ...taken(real, reach), mayBeNamed: reach.mayBeNamed }));
  });
  const placed = placedBy(word, command, below, { host, read });
  const spelled: readonly Taken[] = texts
    .flatMap((text) => (unknown.split ? text.split(/\s+/) : [text.replace(/\n+$/, '')]))
    .filter((text) => text !== '' && !text.includes('\0') && text.length <= maxPath)
    .slice(0, maxWords)
    .flatMap((text) => [`${unknown.before}${text}${unknown.behind}`, ...(unknown.split ? [text] : [])])
    .flatMap((text) => placesOfWord({ text, path: text, open: isPattern(text) }, command, host))
    .map((place) => ({ ...taken(read(place).found(), null), exactly: true }));
  return [...below, ...placed, ...spelled];
}

/** A copied or moved file arrives in an existing target under the name that it has. */
function placedBy(
  word: CommandWord,
  command: FoundCommand,
  sources: readonly Taken[],
  { host, read }: Pick<Sight, 'host' | 'read'>,
): readonly Taken[] {
  const { source, targets } = placing(command);
  if (!source(word)) return [];
  const places = targets.flatMap((target) => placesOfWord(target, command, host));
  const directories = places
    .filter((place) => place !== '' && !place.includes('\0'))
    .map((place) => read(place).found())
    .filter((real) => host.isDirectory(real));
  return directories.map((real) => ({
    given: `${word.text} of ${baseName(command.words[0]?.text ?? '')}`,
    verb: 'may be',
    real,
    changes: true,
    opens: false,
    arrives: true,
    admits: (path) =>
      path.slice(0, path.lastIndexOf('/')) === (real === '/' ? '' : real) &&
      sources.some((from) => from.anywhere !== true && hasNamed(baseName(path), from, host)),
  }));
}

/** Whether one of these may have the name: directly in the directory, or two deeper. */
const hasNamed = (name: string, { real, admits }: Taken, host: PolicyHost): boolean =>
  ['', '/*', '/*/*']
    .flatMap((above) => (above === '' ? [`${real}/${name}`] : host.filesLike(`${real}${above}/${name}`)))
    .some((path) => (host.hardLinks(path) > 0 || host.isDirectory(path)) && admits?.(path) !== false);

/** The directories that a path lies in, up to this one. */
function above(path: string, directory: string): readonly string[] {
  const found: string[] = [];
  for (let at = path; at !== directory && at.includes('/'); ) {
    at = at.slice(0, at.lastIndexOf('/'));
    found.push(at === '' ? '/' : at);
  }
  return found;
}

/** Many rules ask about the same paths. */
function once(admits: (path: string) => boolean): (path: string) => boolean {
  const known = new Map<string, boolean>();
  return (path) => {
    const answer = known.get(path) ?? admits(path);
    known.set(path, answer);
    return answer;
  };
}

const maxPath = 4096;
const maxWords = 256;

/** Whether a path has the beginning and the end that stand around the unknown part of a word. */
function createFit(
  { unknown }: CommandWord,
  command: FoundCommand,
  host: PolicyHost,
  read: ReadPath,
): (path: string, free: boolean) => boolean {
  // Of several words the first has what stands before, the last what stands behind, and the others neither.
  const { before, behind } = unknown === undefined || unknown.split ? { before: '', behind: '' } : unknown;
  const ends = /\.\.|\/\.?$|[*?[{]/.test(behind) ? '' : behind;
  const open = before === '' || /[=@:,]$|^-[A-Za-z]$|[*?[{]/.test(before);
  const begins = open
    ? null
    : placesOfWord({ text: before, path: before, open: false }, command, host).map((place) => {
        const real = comparable(read(place === '' ? '.' : place).found(), host);
        return { real: place.endsWith('/') ? `${real}/` : real, isDirectory: host.isDirectory(real) };
      });
  return (path, free) => {
    const text = comparable(path, host);
    if (ends !== '' && !text.endsWith(comparable(ends, host))) return false;
    if (begins === null) return true;
    // Behind a directory the way may lead back up.
    return begins.some(({ real, isDirectory }) => (free && isDirectory) || text.startsWith(real));
  };
}
