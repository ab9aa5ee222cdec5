import type { CommandWord } from '../schema/command.ts';
import { baseName, isInterpreter } from '../shell/programs.ts';
import { firstGroups } from '../text/first-groups.ts';

/** Most places of one word that are looked at, and the longest path of one. */
const maxPlaces = 256;
const maxPath = 4096;

/** A literal in any of the quotes that languages know. Where each is escaped, none has an end: only so far is looked. */
const literal = /(?<!\\)(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`)/g;
const escaped =
  /\\(?:"((?:[^"\\\n]|\\[^"]){1,128})\\?"|'((?:[^'\\\n]|\\[^']){1,128})\\?'|`((?:[^`\\]|\\[^`]){1,128})\\?`)/g;
/** Longest text in other quotes: they may have no end, and each is looked for anew. */
const maxQuoted = 256;
/** What stands between a sign and the one that ends it. */
const between = (begin: string, end = begin): string => `\\${begin}([^\\${begin}\\${end}\\n]{1,${maxQuoted}})\\${end}`;
const brackets = ['()', '{}', '[]', '<>'].map(([begin = '', end]) => between(begin, end));
/** Other quotes of Perl and Ruby: `q(x)`, `qq{x}`, `%q[x]`, `q!x!`. */
const named = new RegExp(
  `(?:\\bqq?\\s{0,16}|%[qQ]?)(?:${[...brackets, ...Array.from('!|/#,~^', (sign) => between(sign))].join('|')})`,
  'g',
);
/** Long brackets of Lua. */
const long = new RegExp(`\\[=*\\[([^\\]\\n]{1,${maxQuoted}})\\]=*\\]`, 'g');
/**
 * What is handed to a function, in a language that nothing is known of: `read("x")`, `f(1, 'x')`, `(insert-file "x")`.
 * Prose has a blank before its bracket, and none behind a name in it.
 */
const argument =
  /(?=["'])(?<=[\w.>!?*-](?:\((?:[^()"'\n]{0,64},)?)[ \t]{0,16}|\([a-z][\w*!?/:+-]{0,64}[ \t]{1,16})(?:"([^"\n]{1,4096})"|'([^'\n]{1,4096})')/g;

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
  if (commanded.has(name)) return pathsInCommands(name, word);
  return isInterpreter(name) ? literalsIn(word, name) : [];
}

/** What a word that is no text hands to functions, whatever the program: no table knows each one that has a language. */
export const pathsInCalls = (word: string): readonly string[] => firstGroups(argument, word, maxPlaces);

/** Options behind which code stands, whatever the program. */
const codeOption =
  /^--?(?:[cex]|ex|esc|eval(?:uate)?|exec|execute|expr|expression|commands?|cmd|code|query|sql|script|statement)$/;
const codeAttached =
  /^--?(?:eval(?:uate)?|exec|execute|expr|expression|commands?|cmd|code|query|sql|script|statement)=/;

/**
 * The paths in the code that a program takes behind an option. No table knows each program that has a language, and there is
 * nothing else that such a word could be: the words of its commands count as well as what stands in quotes.
 */
export function pathsBehindOptions(words: readonly CommandWord[], counts: ReadonlySet<CommandWord>): readonly string[] {
  const name = baseName(words[0]?.text ?? '');
  if (isInterpreter(name) || commanded.has(name)) return [];
  return words.flatMap((word, at) => {
    if (!counts.has(word) || !/[\s"'([{]/.test(word.path)) return [];
    const attached = codeAttached.exec(word.path)?.[0].length ?? 0;
    const isCode = attached > 0 || codeOption.test(words[at - 1]?.text ?? '');
    return isCode ? pathsInCommands('', word.path.slice(attached)) : [];
  });
}

function pathsInCommands(name: string, word: string): readonly string[] {
  const attached = editors.has(name) ? firstGroups(written, word, maxPlaces) : [];
  const operands = [...(word.match(operand) ?? []).slice(0, maxPlaces), ...attached];
  // A command within another one ends with its bracket.
  return [
    ...literalsIn(word),
    ...operands,
    ...operands.flatMap((text) => text.match(/^.*[^\])}`](?=[\])}`]+$)/) ?? []),
    // Another command may follow without a blank: `w x|q`.
    ...operands.flatMap((text) => text.match(/^[^|]+(?=\|)/) ?? []),
  ];
}

const literalsIn = (code: string, name = ''): readonly string[] => {
  const others = /^(?:perl|j?ruby|irb|raku)/.test(name) ? named : /^lua/.test(name) ? long : null;
  const quoted = firstGroups(literal, code, maxPlaces);
  const plain = others === null ? quoted : [...quoted, ...firstGroups(others, code, maxPlaces)];
  const all = /\\["'`]/.test(code) ? [...plain, ...firstGroups(escaped, code, maxPlaces)] : plain;
  // What `open` of Perl is to do with a file stands in front of its name.
  return all.flatMap((text) => (/^[+\s]*[<>]/.test(text) ? [text, text.replace(/^[+<>\s]+/, '')] : [text]));
};
