import type { CommandWord } from '../schema/command.ts';

/**
 * Directories in which `git` writes over, moves or removes the files that it knows, without a name for each. Where it goes to
 * another commit it does so all day, and nothing is asked: by a branch, a merge, a pull, a stash.
 */

/** @param root stands for the whole working tree */
export function rewrittenBy(rest: readonly CommandWord[], root: CommandWord): readonly CommandWord[] {
  const at = rest.findIndex(({ text }, index) => !text.startsWith('-') && !/^-[Cc]$/.test(rest[index - 1]?.text ?? ''));
  const behind = rest.slice(at + 1);
  const has = (option: RegExp): boolean => behind.some(({ text }) => option.test(text));
  const places = operandsOf(behind).map((word) => (/^:|[*?[]/.test(word.text) ? root : word));
  switch (rest[at]?.text) {
    case 'checkout':
      return places.length === 0 && has(/^(?:-[a-z]*f|--force)/) ? [root] : places;
    case 'restore':
      return has(/^(?:-[A-Za-z]*S|--staged)/) && !has(/^(?:-[A-Za-z]*W|--worktree)/) ? [] : places;
    case 'reset':
      return has(/^--hard$/) ? [root] : [];
    case 'read-tree':
      return has(/^-[a-z]*u/) ? [root] : [];
    case 'checkout-index':
      return has(/^(?:-[a-z]*a|--all)/) ? [root] : [];
    case 'rm':
      return has(/^--cached$/) ? [] : places;
    case 'mv':
      return places.slice(0, -1);
    default:
      return [];
  }
}

/** Behind `--` all words are places, in front of it some of them may be. */
const operandsOf = (words: readonly CommandWord[]): readonly CommandWord[] =>
  words.filter(
    ({ text }, index) =>
      !text.startsWith('-') && !/^(?:-[bBs]|--(?:source|orphan|conflict))$/.test(words[index - 1]?.text ?? ''),
  );
