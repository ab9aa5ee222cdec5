import type { CommandWord, Origin } from '../schema/command.ts';
import { baseName } from '../shell/programs.ts';
import { found, listed, ls } from './file-listings.ts';
import { git } from './git-listings.ts';
import { completed, handedOn, shortened } from './handed-on.ts';
import { anywhere, fromWords, here, nothing, oneOf, type Reached, type ReachOf, together, whole } from './reach.ts';
import { grep, ripgrep } from './search-listings.ts';

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
/** Those that make of a path another one in the same place. */
const shortening = names('basename dirname realpath readlink');

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

type Printed = Extract<Origin, { kind: 'printed' }>;

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
  return handedOn(name, rest, read);
}
