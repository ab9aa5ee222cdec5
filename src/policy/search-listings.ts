import type { CommandWord } from '../schema/command.ts';
import { listed } from './file-listings.ts';
import { lineFilter } from './line-filter.ts';
import { anywhere, nothing, type Reached, unchosen } from './reach.ts';
import { searchList } from './search-lists.ts';

/** What those print that search files for a text, or lines that another command prints. */

/** With a list of files it is a search, without one a sieve for lines that other commands print. */
export function grep(rest: readonly CommandWord[], read: () => Reached): Reached {
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

/** What `rg` prints. */
export function ripgrep(rest: readonly CommandWord[], read: () => Reached): Reached {
  const listing = rest.some(({ text }) => text === '--files');
  const lists = listing || rest.some(({ text }) => /^-[a-zA-Z0-9]*l|^--files-with/.test(text));
  const operands = rest.filter(({ text }) => !text.startsWith('-'));
  if (lists) {
    const found = listed(rest, listing ? operands : operands.slice(1), /^-[a-zA-Z0-9]*[u.]|^--(hidden|unrestr|no-ig)/);
    return listing ? found : holding('rg', rest, found);
  }
  return operands.length > 1 ? anywhere : unchosen(read());
}

/** A search lists what holds its pattern. */
export function holding(
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
