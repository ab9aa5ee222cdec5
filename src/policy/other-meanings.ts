import { isObject } from '../text/json-object.ts';

/** Gives its words as names of variables. */
const namesVariables = /\b(?:read|readarray|mapfile|getopts|printf|declare|typeset|local|export|readonly|unset|for)\b/;
const pathItself = /(?<![$\w{])PATH\b/;
const pathGiven = /(?<![$\w{])PATH\+?=/;
/** Runs text that is not in the line: what it defines is not known. */
const runsText = /(?:^|[\s(){}])(?:\.|source|eval)\s/;
const remembers = /(?:^|[\s(){}])hash\s/;

/**
 * Tells of a program word whether the line may have the shell start something else by it than is found in PATH: it sets
 * PATH, runs text from elsewhere, or has a function or an alias of that name. A card then names no file for it, where it
 * would name the wrong one. Looked for in the text: too often is no harm.
 */
export function otherMeanings(args: unknown): (word: string, revealed: boolean) => boolean {
  const line = isObject(args) && typeof args['command'] === 'string' && !('args' in args) ? args['command'] : '';
  const own = new Set<string>();
  let all = false;
  let launched = false;
  for (const piece of line.replaceAll('\\\n', '').split(/[;&|\n]/)) {
    // `env` is found as ever, and looks where it is told.
    if (pathGiven.test(piece) && /^\s*env\s/.test(piece)) launched = true;
    else all ||= pathGiven.test(piece);
    all ||= namesVariables.test(piece) && pathItself.test(piece);
    all ||= runsText.test(piece) || (remembers.test(piece) && /\s-\w*p/.test(piece));
    for (const [, name = ''] of piece.matchAll(/(?<![^\s(){}])([^\s(){}'"$]{1,200})\s{0,8}\(\s{0,8}\)/g)) own.add(name);
    for (const [, name = ''] of piece.matchAll(/\bfunction\s{1,8}([^\s(){}]{1,200})/g)) own.add(name);
    if (/\balias\s/.test(piece))
      for (const [, name = ''] of piece.matchAll(/(?<=\s)([^\s='"$]{1,200})=/g)) own.add(name);
  }
  return (word, revealed) => own.has(word) || ((all || (launched && revealed)) && !word.includes('/'));
}
