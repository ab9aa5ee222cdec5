import type { CommandWord } from '../schema/command.ts';
import { anywhere, here, nothing, oneOf, type Reached, whole } from './reach.ts';
import { holding } from './search-listings.ts';
import { wildcard } from './wildcard.ts';

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
/** Those that print names of commits, branches and servers. */
const gitDull: ReadonlySet<string> = new Set(
  'rev-parse merge-base describe tag remote rev-list symbolic-ref for-each-ref name-rev'.split(' '),
);
/** Options of `rev-parse` that print where its own files are, which are no files of the repository. */
const gitPlaces = /^--(?:git-path|git-dir|git-common-dir|absolute-git-dir|shared-index-path)$/;
/** Of a commit only numbers and dates: whatever else it says somebody has written. */
const plainFormat = /^--(?:format|pretty)=(?:format:)?(?:%[HhTtPp]|%[ac][dDrtiIs]|[\s:_-])+$/;

/** What `git` prints. */
export function git(rest: readonly CommandWord[]): Reached {
  const at = rest.findIndex(({ text }, index) => !text.startsWith('-') && !/^-[Cc]$/.test(rest[index - 1]?.text ?? ''));
  const subcommand = rest[at]?.text ?? '';
  const behind = rest.slice(at + 1);
  const option = Object.hasOwn(gitLists, subcommand) ? gitLists[subcommand] : undefined;
  if (subcommand === 'rev-parse' && behind.some(({ text }) => text === '--show-toplevel')) {
    return oneOf({ ...whole, places: [here] });
  }
  if (subcommand === 'rev-parse' && behind.some(({ text }) => gitPlaces.test(text))) return anywhere;
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
