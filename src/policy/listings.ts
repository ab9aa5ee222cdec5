import type { CommandWord, Origin } from '../schema/command.ts';
import { isPattern } from '../text/file-pattern.ts';
import { baseName, isInterpreter } from '../shell/programs.ts';
import { findTests, type Kind } from './find-tests.ts';
import { lineFilter } from './line-filter.ts';
import { listedOperands } from './option-tables.ts';
import { type Holding, searchList } from './search-lists.ts';
import { spelled } from './taken-along.ts';
import { wildcard } from './wildcard.ts';

/** Which paths the text may be that a command prints, or hands to another one. */
export type Reach = {
  /** Below these; null: anywhere on the machine. */
  readonly places: readonly CommandWord[] | null;
  /** Not everything below them: somebody has chosen. */
  readonly chosen: boolean;
  /** Whether it may be a path that exists, which lies in one of the places. */
  admits(path: string, place: string, kind: Kind): boolean;
  /** Whether names at any depth are chosen by a pattern that this one matches. */
  mayBeNamed(name: string): boolean;
  /** What each of these files holds. */
  readonly holding?: Holding;
};

/** Only what is in the line: each of these texts. */
export type Reached = { readonly reaches: readonly Reach[]; readonly texts: readonly string[] };

const nothing: Reached = { reaches: [], texts: [] };
const whole = { chosen: false, admits: () => true, mayBeNamed: () => false };
const anywhere: Reached = { reaches: [{ ...whole, places: null, chosen: true }], texts: [] };
const here: CommandWord = { text: '.', path: '.', open: false };

const names = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Programs that print no path that somebody else has chosen: numbers, dates, names of other things. */
const dull = names(
  'true false : test [ cd unset read sleep wait exit date cal pgrep pidof lsof nproc id whoami who groups ' +
    'hostname uname uptime arch wc seq expr tput tty mktemp uuidgen printenv which type hash df free ps jobs kill',
);
/** Programs of which some subcommands print no more than names of their own. */
const dullBy: Readonly<Record<string, RegExp>> = {
  docker: /^(ps|images|inspect|container|image|network|volume|info|version|port)$/,
  podman: /^(ps|images|inspect|container|image|network|volume|info|version|port)$/,
  kubectl: /^(get|config|version|cluster-info)$/,
  npm: /^(root|prefix|bin|view|whoami|-v|--version)$/,
  yarn: /^(-v|--version)$/,
  pnpm: /^(-v|--version|root|bin)$/,
  brew: /^--?(prefix|cellar|version)$/,
};
/** Those that hand on lines as they are, all of them or some. */
const passing = names('head tail sort uniq tac shuf tee cat nl column less more pv sponge');
/** Those that make of a path another one in the same place. */
const shortening = names('basename dirname realpath readlink');
/** Those of `git` that print files, and the option without which they do not. */
const gitLists: Readonly<Record<string, RegExp | null>> = {
  'ls-files': null,
  'ls-tree': null,
  status: null,
  diff: /^--name-(only|status)$/,
  show: /^--name-(only|status)$/,
  log: /^--name-(only|status)$/,
  'diff-tree': null,
  'diff-index': null,
  'diff-files': null,
  grep: /^(-[a-zA-Z]*[lL]|--files-with|--name-only)/,
};
const gitDull = names('rev-parse merge-base describe tag remote rev-list symbolic-ref for-each-ref name-rev');
/** Of a commit only numbers and dates: whatever else it says somebody has written. */
const plainFormat = /^--(?:format|pretty)=(?:format:)?(?:%[HhTtPp]|%[ac][dDrtiIs]|[\s:_-])+$/;

/** Most places and texts of one word: where there are more it may be anything. */
const maxReaches = 64;
const maxTexts = 256;

type Printed = Extract<Origin, { kind: 'printed' }>;
type ReachOf = (origins: readonly Origin[]) => Reached;

/** Tells what texts of a line may be, by what gives them; each origin is looked at once. */
export function createReachOf(): ReachOf {
  const known = new Map<Origin, Reached>();
  const ofOne = (origin: Origin): Reached => {
    if (origin.kind === 'file') return anywhere;
    return origin.kind === 'text'
      ? { reaches: [], texts: [origin.text] }
      : printed(origin, () => reachOf(origin.input), reachOf);
  };
  const reachOf: ReachOf = (origins) =>
    together(
      origins.map((origin) => {
        const reached = known.get(origin) ?? ofOne(origin);
        known.set(origin, reached);
        return reached;
      }),
    );
  return reachOf;
}

function together(all: readonly Reached[]): Reached {
  const reaches = all.flatMap((one) => one.reaches);
  const texts = [...new Set(all.flatMap((one) => one.texts))];
  return reaches.length > maxReaches || texts.length > maxTexts ? anywhere : { reaches, texts };
}

/** What a command prints, by its words and by what it reads. */
function printed({ words, texts }: Printed, read: () => Reached, reachOf: ReachOf): Reached {
  const own = ofProgram(words, read, reachOf);
  if (texts.length > 0) return together([own, { reaches: [], texts }]);
  // A listing prints what it is given, where that is no directory.
  const given =
    own.reaches.length > 0 && words[0]?.text !== 'find'
      ? words.slice(1).filter(({ unknown }) => unknown !== undefined)
      : [];
  return given.length === 0 ? own : together([own, fromWords(given, reachOf)]);
}

function ofProgram(words: readonly CommandWord[], read: () => Reached, reachOf: ReachOf): Reached {
  const [program, ...rest] = words;
  if (program === undefined || program.open) return anywhere;
  const name = baseName(program.text);
  if (dull.has(name) || (Object.hasOwn(dullBy, name) && dullBy[name]?.test(rest[0]?.text ?? ''))) return nothing;
  if (name === 'echo' || name === 'printf') return fromWords(rest, reachOf);
  if (shortening.has(name)) return shortened(name, rest, reachOf);
  if (name === 'command' && /^-[pvV]*[vV]/.test(rest[0]?.text ?? '')) return nothing;
  if (name === 'pwd') return oneOf({ ...whole, places: [here] });
  if (name === 'find' || name === 'gfind') return found(rest, reachOf);
  if (name === 'fd' || name === 'fdfind')
    return listed(rest, [here, ...rest], /^-[a-zA-Z0-9]*[Hu]|^--(hidden|unrestr|no-ig)/, true);
  if (name === 'ls' || name === 'dir' || name === 'vdir') return ls(rest);
  if (name === 'tree' || name === 'du') return listed(rest, rest, name === 'du' ? null : /^-[a-zA-Z0-9]*a/, true);
  if (name === 'git') return git(rest);
  if (/^[ef]?grep$/.test(name)) return grep(rest, read);
  if (name === 'rg') return ripgrep(rest, read);
  if (name === 'xargs') return completed(rest, read);
  if (passing.has(name)) return namesFiles(name, rest) ? anywhere : read();
  if (!rewrites(name, rest)) return anywhere;
  const given = read();
  // Less of a text that the line spells out may be any text.
  if (given.texts.length === 0) return unchosen(given);
  // Blanks for line ends leave each word as it is.
  return name === 'tr' && !rest.some(({ text }) => text.startsWith('-')) ? given : anywhere;
}

/** A pattern is a text here, and stands for the files that it stands for there. */
const fromWords = (words: readonly CommandWord[], reachOf: ReachOf): Reached =>
  together(
    words.map(({ unknown, open, path }) => {
      if (unknown !== undefined) return unchosen(reachOf(unknown.origins));
      return open && isPattern(path) ? { reaches: [], texts: [path] } : nothing;
    }),
  );

function shortened(name: string, rest: readonly CommandWord[], reachOf: ReachOf): Reached {
  // It takes an end away that it is given.
  const operands = rest.filter(({ text }) => !text.startsWith('-'));
  const [first, suffix] = operands;
  const cuts = name === 'basename' && (suffix !== undefined || rest.some(({ text }) => /^(-[a-z]*s|--suf)/.test(text)));
  if (cuts && (first === undefined || operands.length !== rest.length || rest.some(({ open }) => open)))
    return anywhere;
  const known = cuts ? [first] : operands;
  const texts = known.flatMap((word) =>
    word === undefined || word.open
      ? []
      : [name === 'dirname' ? directoryOf(word.path) : withoutEnd(baseName(word.path), suffix?.path ?? '')],
  );
  const unknown = rest.filter((word) => word.unknown !== undefined);
  return together([fromWords(unknown, reachOf), { reaches: [], texts }]);
}

const directoryOf = (path: string): string => path.replace(/\/*[^/]*\/*$/, '') || (path.startsWith('/') ? '/' : '.');

const withoutEnd = (text: string, end: string): string =>
  text.endsWith(end) && text !== end ? text.slice(0, text.length - end.length) : text;

function found(rest: readonly CommandWord[], reachOf: ReachOf): Reached {
  if (rest.some(({ text }) => /^-(files0-from|printf|fprintf)$/.test(text))) return anywhere;
  const tests = findTests(rest);
  // Of a word that comes to nothing no place is left.
  const places = tests.places.every(({ open }) => open) ? [here, ...tests.places] : tests.places;
  // Where it begins only the run knows: what it asks of names holds there too.
  const elsewhere = fromWords(places, reachOf).reaches.map((reach) => ({
    ...reach,
    chosen: tests.narrowed,
    admits: (path: string, _place: string, kind: Kind) => tests.mayGiveName(baseName(path), kind),
    mayBeNamed: tests.asksFor,
  }));
  const own = oneOf({
    places,
    chosen: tests.narrowed,
    admits: (path, place, kind) => places.some((given) => tests.mayGive(spelled(path, place, given.path), kind)),
    mayBeNamed: tests.asksFor,
  });
  return together([own, { reaches: elsewhere, texts: [] }]);
}

const oneOf = (reach: Reach): Reached => ({ reaches: [reach], texts: [] });

/** Everything below some directories; without a dot where only an option shows such names. */
function listed(
  rest: readonly CommandWord[],
  operands: readonly CommandWord[],
  hidden: RegExp | null,
  directories = false,
): Reached {
  const given = operands.filter(({ text }) => !text.startsWith('-'));
  const all = hidden === null || rest.some((word) => mayBeOption(word) || hidden.test(word.text));
  return oneOf({
    places: given.every(({ open }) => open) ? [here, ...given] : given,
    chosen: false,
    admits: (path, place, kind) =>
      (directories || kind === 'other' || kind === 'unknown') && (all || !/(^|\/)\./.test(path.slice(place.length))),
    mayBeNamed: () => false,
  });
}

/** What the shell puts in for it may begin with a dash. */
const mayBeOption = ({ text, open }: CommandWord): boolean => open && /^[-$`]/.test(text);

/** It prints names that another program looks for where the line is. */
function ls(rest: readonly CommandWord[]): Reached {
  const options = rest.filter((word) => mayBeOption(word) || word.text.startsWith('-'));
  const all = options.some(mayBeOption) || options.some(({ text }) => /^-[a-zA-Z0-9]*[aAf]|^--al/.test(text));
  const deep = options.some(({ text }) => /^-[a-zA-Z0-9]*R|^--rec/.test(text));
  return oneOf({
    places: [here, ...rest.filter(({ text }) => !text.startsWith('-'))],
    chosen: false,
    admits: (path, place) => {
      const inner = path.slice(place === '/' ? 1 : place.length + 1);
      if (path === place) return all;
      return (deep || !inner.includes('/')) && (all || !/(^|\/)\./.test(inner));
    },
    mayBeNamed: () => false,
  });
}

function git(rest: readonly CommandWord[]): Reached {
  const at = rest.findIndex(({ text }, index) => !text.startsWith('-') && !/^-[Cc]$/.test(rest[index - 1]?.text ?? ''));
  const subcommand = rest[at]?.text ?? '';
  const behind = rest.slice(at + 1);
  const option = Object.hasOwn(gitLists, subcommand) ? gitLists[subcommand] : undefined;
  if (subcommand === 'rev-parse' && behind.some(({ text }) => text === '--show-toplevel')) {
    return oneOf({ ...whole, places: [here] });
  }
  if (subcommand === 'branch' && behind.some(({ text }) => text === '--show-current')) return nothing;
  if (option === undefined || (option !== null && !behind.some(({ text }) => option.test(text)))) {
    const plain = subcommand === 'log' || subcommand === 'show' ? plainFormat : null;
    if (plain !== null) return behind.some(({ text }) => plain.test(text)) && !patches(behind) ? nothing : anywhere;
    return gitDull.has(subcommand) && !behind.some(({ text }) => /^--(format|pretty)/.test(text)) ? nothing : anywhere;
  }
  const patterns = behind.flatMap(({ text, open }) =>
    open || text.startsWith('-') || !/[*?]/.test(text) ? [] : [wildcard(text.replace(/^(?:\.\/)+/, ''))],
  );
  const untracked = subcommand === 'status' || behind.some(({ text }) => /^-[a-z]*o|^--others/.test(text));
  const only =
    subcommand === 'ls-files' && patterns.length > 0 && !behind.some(({ text }) => /^:|\.\.|^[^-*?]*$/.test(text));
  const listing = oneOf({
    places: [here],
    chosen: only,
    admits: (path, place, kind) => {
      const inner = path.slice(place.length + 1);
      if (!untracked && kind !== 'other' && kind !== 'unknown') return false;
      // Nothing in its own directory is a file of the repository, and our database is kept out of every one.
      if (/(^|\/)\.git(\/|$)/.test(inner) || (!untracked && /(^|\/)\.reins(\/local\.db[^/]*)?$/.test(inner)))
        return false;
      return !only || patterns.some((matches) => matches === null || matches(inner));
    },
    mayBeNamed: () => false,
  });
  return subcommand === 'grep' ? holding('git grep', behind, listing) : listing;
}

const patches = (words: readonly CommandWord[]): boolean =>
  words.some(({ text }) => /^(-p|-u|--patch.*|--stat|--raw|--name.*)$|^[^-].*:/.test(text));

/** With a list of files it is a search, without one a sieve for lines that other commands print. */
function grep(rest: readonly CommandWord[], read: () => Reached): Reached {
  const options = rest.filter(({ text }) => /^-./.test(text));
  const [pattern, ...files] = rest.filter(({ text }) => !/^-./.test(text));
  const lists = options.some(({ text }) => /^-[a-zA-Z0-9]*[lL]|^--files-with/.test(text));
  const deep = options.some(({ text }) => /^-[a-zA-Z0-9]*[rR]|^--(deref|rec)/.test(text));
  if (lists) return deep || files.length > 0 ? holding('grep', rest, listed(rest, files, null)) : nothing;
  if (deep || files.length > 0) return anywhere;
  const filter = lineFilter(pattern, options);
  const given = read();
  return {
    texts: given.texts,
    reaches: given.reaches.map((reach) => ({
      ...reach,
      chosen: reach.chosen || filter.chooses,
      admits: (path, place, kind) => reach.admits(path, place, kind) && filter.mayPass(path, place),
    })),
  };
}

/** A search lists what holds its pattern. */
function holding(
  program: 'grep' | 'rg' | 'git grep',
  rest: readonly CommandWord[],
  { reaches, texts }: Reached,
): Reached {
  const list = searchList(program, rest);
  return {
    texts,
    reaches: reaches.map((reach) => ({
      ...reach,
      ...(list.holding === null ? {} : { holding: list.holding }),
      admits: (path, place, kind) => list.mayLookAt(path) && reach.admits(path, place, kind),
    })),
  };
}

function ripgrep(rest: readonly CommandWord[], read: () => Reached): Reached {
  const listing = rest.some(({ text }) => text === '--files');
  const lists = listing || rest.some(({ text }) => /^-[a-zA-Z0-9]*l|^--files-with/.test(text));
  const operands = rest.filter(({ text }) => !text.startsWith('-'));
  if (lists) {
    const found = listed(rest, listing ? operands : operands.slice(1), /^-[a-zA-Z0-9]*[u.]|^--(hidden|unrestr|no-ig)/);
    return listing ? found : holding('rg', rest, found);
  }
  return operands.length > 1 ? anywhere : unchosen(read());
}

/** What `xargs` has another program print of the names that it reads. */
function completed(rest: readonly CommandWord[], read: () => Reached): Reached {
  const at = rest.findIndex(({ text }) =>
    /^(ls|basename|dirname|realpath|readlink|echo|stat|[ef]?grep|rg)$/.test(text),
  );
  const isSearch = /grep$|^rg$/.test(rest[at]?.text ?? '');
  const lists = rest.slice(at + 1).some(({ text }) => /^-[a-zA-Z0-9]*[lL]|^--files-with/.test(text));
  if (at === -1 || (isSearch && !lists)) return anywhere;
  return rest.slice(0, at).every(({ text }) => /^-(?!-?a)|^[0-9]+$|^\{\}$/.test(text)) ? unchosen(read()) : anywhere;
}

/** A program that reads lines and names a file beside them: who knows what is in it. */
function namesFiles(name: string, rest: readonly CommandWord[]): boolean {
  if (name === 'tee') return false;
  const operands = listedOperands(name, rest, undefined);
  if (operands !== null) return operands.some(({ kind, text }) => kind === 'read' && text !== '-');
  return rest.some(({ text }) => !text.startsWith('-') && !/^\+?[0-9]+$/.test(text));
}

/** Rewriting that takes something away from a line, or cuts it up, and puts nothing of its own in. */
function rewrites(name: string, rest: readonly CommandWord[]): boolean {
  if (rest.some(({ open }) => open)) return false;
  const texts = rest.map(({ text }) => text);
  const scripts = texts.filter((text) => !text.startsWith('-'));
  if (name === 'cut') return scripts.every((text) => /^[0-9,-]+$|^.$/.test(text));
  if (name === 'tr') return scripts.every((text) => /^(?:\\[nt0r]|\s|\[:space:\]|\[:blank:\])*$/.test(text));
  if (/^[gmn]?awk$/.test(name))
    return scripts.every((text) => /^\s*\{\s*print \$(?:[0-9]|NF)\s*;?\s*\}\s*$/.test(text));
  if (name === 'sed' || name === 'gsed') {
    const deletes = /^s([,|#/@])(?:(?!\1).)*\1\1g?$|^[0-9]+(,[0-9$]+)?[dpq]$|^\/[^/]*\/!?[dp]$/;
    return (
      scripts.length === 1 && deletes.test(scripts[0] ?? '') && texts.every((text) => /^-[nEr]+$|^[^-]/.test(text))
    );
  }
  return !isInterpreter(name) && (name === 'wc' || name === 'xclip');
}

/** The same places, of whose names nothing is known any more. */
const unchosen = ({ reaches, texts }: Reached): Reached => ({
  texts,
  reaches: reaches.map(({ holding: _, ...reach }) => ({ ...reach, admits: () => true })),
});
