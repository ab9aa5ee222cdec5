import { baseName, isInterpreter } from '../shell/programs.ts';
import { firstGroups } from '../text/first-groups.ts';

/** Most places of one word that are looked at, and the longest path of one. */
const maxPlaces = 256;
const maxPath = 4096;

/** A literal in any of the quotes that languages know. Where each is escaped, none has an end: only so far is looked. */
const literal = /(?<!\\)(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`)/g;
const escaped =
  /\\(?:"((?:[^"\\\n]|\\[^"]){1,128})\\?"|'((?:[^'\\\n]|\\[^']){1,128})\\?'|`((?:[^`\\]|\\[^`]){1,128})\\?`)/g;
/** Behind each `r` and `w` of a script of `sed`, to the end of its line: nearly all of them are letters of a word. */
const sedFile = new RegExp(`[rRwW](?=[ \\t]{0,64}(\\S[^\\n;}]{0,${maxPath}}))`, 'g');

/** Programs of which a word, or what they read, holds commands that name files: `.read x`, `\\i x`, `r x`. */
const commanded: ReadonlySet<string> = new Set(
  'sqlite3 sqlite psql pgcli mysql mariadb vi vim nvim view ex rvim ed red gdb lldb sftp lftp ftp gnuplot tclsh wish expect'.split(
    ' ',
  ),
);
const editors: ReadonlySet<string> = new Set('vi vim nvim view ex rvim ed red'.split(' '));
/** A file right behind its command: `w!x`, `w>>x`, `:w./x`. */
const written = new RegExp(`(?:[a-z](?:!|>>)|^[+:]+[a-z]{1,8}(?=[./~]))([^\\s;"'|]{1,${maxPath}})`, 'g');
/** A word of such a command: what follows a blank, up to the next one or the end of its line. */
const operand = new RegExp(`(?<=[ \\t])[^\\s;"']{1,${maxPath}}`, 'g');

/**
 * The paths that a word may spell out where it may be code. No list reads a language, but what stands there in quotes is as
 * plain as a word that stands alone; what is put together in code stays unseen (02 §7.3).
 */
export function pathsInCode(program: string, word: string): readonly string[] {
  const name = baseName(program);
  if (name === 'sed' || name === 'gsed') return firstGroups(sedFile, word, maxPlaces).map((file) => file.trim());
  if (!commanded.has(name)) return isInterpreter(name) ? literalsIn(word) : [];
  const attached = editors.has(name) ? firstGroups(written, word, maxPlaces) : [];
  const operands = [...(word.match(operand) ?? []).slice(0, maxPlaces), ...attached];
  // A command within another one ends with its bracket.
  return [
    ...literalsIn(word),
    ...operands,
    ...operands.flatMap((text) => text.match(/^.*[^\])}`](?=[\])}`]+$)/) ?? []),
  ];
}

const literalsIn = (code: string): readonly string[] => {
  const plain = firstGroups(literal, code, maxPlaces);
  const all = /\\["'`]/.test(code) ? [...plain, ...firstGroups(escaped, code, maxPlaces)] : plain;
  // What `open` of Perl is to do with a file stands in front of its name.
  return all.flatMap((text) => (/^[+\s]*[<>]/.test(text) ? [text, text.replace(/^[+<>\s]+/, '')] : [text]));
};
