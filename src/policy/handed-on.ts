import type { CommandWord } from '../schema/command.ts';
import { baseName, isInterpreter } from '../shell/programs.ts';
import { listedOperands } from './option-tables.ts';
import { anywhere, fromWords, type Reached, type ReachOf, together, unchosen } from './reach.ts';

/** What those print that hand on what they are given: lines as they are, less of them, or paths made shorter. */

/** Those that hand on lines as they are, all of them or some. */
const passing: ReadonlySet<string> = new Set(
  'head tail sort uniq tac shuf tee cat nl column less more pv sponge'.split(' '),
);

/** The lines that a program reads, as far as it hands them on; anything where it may print others. */
export function handedOn(name: string, rest: readonly CommandWord[], read: () => Reached): Reached {
  if (passing.has(name)) return namesFiles(name, rest) ? anywhere : read();
  if (!rewrites(name, rest)) return anywhere;
  const given = read();
  // Less of a text that the line spells out may be any text.
  if (given.texts.length === 0) return unchosen(given);
  // Blanks for line ends leave each word as it is.
  return name === 'tr' && !rest.some(({ text }) => text.startsWith('-')) ? given : anywhere;
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

/** What `xargs` has another program print of the names that it reads. */
export function completed(rest: readonly CommandWord[], read: () => Reached): Reached {
  const at = rest.findIndex(({ text }) =>
    /^(ls|basename|dirname|realpath|readlink|echo|stat|[ef]?grep|rg)$/.test(text),
  );
  const isSearch = /grep$|^rg$/.test(rest[at]?.text ?? '');
  const lists = rest.slice(at + 1).some(({ text }) => /^-[a-zA-Z0-9]*[lL]|^--files-with/.test(text));
  if (at === -1 || (isSearch && !lists)) return anywhere;
  return rest.slice(0, at).every(({ text }) => /^-(?!-?a)|^[0-9]+$|^\{\}$/.test(text)) ? unchosen(read()) : anywhere;
}

/** What `basename`, `dirname` and their like make of paths. */
export function shortened(name: string, rest: readonly CommandWord[], reachOf: ReachOf): Reached {
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
