import { baseName, interpreters } from '../shell/programs.ts';
import { firstGroups } from '../text/first-groups.ts';

/** Most places of one word that are looked at, and the longest path of one. */
const maxPlaces = 256;
const maxPath = 4096;

/** A literal in any of the quotes that languages know. */
const literal = /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g;
/** Behind each `r` and `w` of a script of `sed`, to the end of its line: nearly all of them are letters of a word. */
const sedFile = new RegExp(`[rRwW](?=[ \\t]{0,64}(\\S[^\\n;}]{0,${maxPath}}))`, 'g');

/**
 * The paths that a word may spell out where it may be code. No list reads a language, but what stands there in quotes is as
 * plain as a word that stands alone; what is put together in code stays unseen (02 §7.3).
 */
export function pathsInCode(program: string, word: string): readonly string[] {
  const name = baseName(program);
  if (name === 'sed' || name === 'gsed') return firstGroups(sedFile, word, maxPlaces).map((file) => file.trim());
  return interpreters.has(name) ? firstGroups(literal, word, maxPlaces) : [];
}
