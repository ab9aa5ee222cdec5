import type { CommandWord } from '../schema/command.ts';
import { firstGroups } from '../text/first-groups.ts';
import { decodeEscapes } from './printed.ts';
import { isInterpreter, shells } from './programs.ts';
import { readSed } from './sed-script.ts';
import { literalWord } from './words.ts';

/**
 * Lines that a program's own language hands to a shell, as far as it spells them out. Lists that tighten see them; what
 * code puts together stays unseen (02 §7.3).
 */
export type CodeLines = {
  readonly lines: readonly string[];
  /** What was found may be no line at all: only one that parses counts. */
  readonly guessed: boolean;
  /** Something is started, and the code does not spell it out: why. */
  readonly unnamed: string | null;
};

/** Most lines of one word that are looked at. */
const maxLines = 256;

const awks: ReadonlySet<string> = new Set('awk gawk mawk nawk original-awk goawk'.split(' '));
const awkText = /(?<!\\)"((?:[^"\\]|\\.)*)"/g;
/** What `system` is given, and what stands before or behind a pipe, by the numbers of the texts. */
const awkLine = /system\s*\(\s*"([0-9]+)"|\|&?\s*"([0-9]+)"|"([0-9]+)"\s*\|&?\s*getline/g;
/** The same with a name in place of a text. */
const awkOpen = /system\s*\(\s*[\w$(]|\bprintf?\b[^|/\n;}]{0,512}\|&?\s*[A-Za-z_$(]|[\w\])]\s*\|&?\s*getline\b/;
/** The same with no more than the begin of a program's name. */
const awkBegun = /system\s*\(\s*"[^"\s\\]{0,256}"\s*[^)\s]/;

/** Literals that stand behind the name of a function that starts programs: a line, or a program and its words. */
const quoted = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\x60(?:[^\x60\\]|\\.)*\x60`;
const blanks = String.raw`\s{0,16}`;
const calls = new RegExp(
  // `/x/.exec(..)` looks into a text.
  `(?<!/[a-z]{0,6}\\.)(?:(?:system|exec|spawn)\\s{1,16}|(?:system\\d?|exec(?!ute)[a-z]{0,12}|spawn[a-z]{0,12}|popen\\d?|capture\\w{1,3}|run|call|check_(?:call|output)|` +
    `get(?:status)?output|os\\.execute|shell_exec|passthru|proc_open|create_subprocess_\\w{1,12}|System\\.shell|Command(?:\\.new)?|cmd)${blanks}\\(${blanks})` +
    `[[(]?${blanks}((?:${quoted})(?:${blanks},${blanks}[[(]?${blanks}(?:${quoted})){0,32})`,
  'gi',
);
const literals = new RegExp(quoted, 'g');
/** Perl and Ruby: `qx(..)`, `%x(..)`, `system qw(..)`. */
const percent = /(?:\bqx|%x|\b(?:system|exec)\s{0,16}\(?\s{0,16}qw)\s{0,16}[/({[|!]([^/)}\]|!]{1,512})[/)}\]|!]/g;
const backticks = /`([^`]{1,4096})`/g;
/** Perl and Ruby: `open(F, "line|")`, `open F, "-|", "program"`, `open("|line")`. */
const opens =
  /\bopen\b\s{0,16}\(?[^"';)]{0,64}["'](?:\+?[<>]?)\s{0,16}(?:\|([^"']{1,512})["']|([^"'|]{1,512})\|["']|(?:-\||\|-)["']\s{0,16},\s{0,16}["']([^"']{1,512})["'])/g;
const running: ReadonlySet<string> = new Set('perl raku ruby jruby irb pry php julia'.split(' '));

const bang = [/^[ \t]*!(?![=<>])[ \t]*(.+)/gm];
/** A command of `vi` behind `:`, or a range of lines: `%!sort`, `r !ls`. */
const editor = [/(?:^|[\s:|%,$.\d'"+])!(?![=~])[ \t]*(\S.*)/g, /^\+?:?te(?:r(?:m(?:i(?:n(?:al?)?)?)?)?)?[ \t]+(.+)/g];
const debugging = [/^[ \t]*(?:(?:shell|make|pipe|platform[ \t]+shell)[ \t]|!)[ \t]*(.+)/gm];
/** The line of a shell, or the program before its arguments. */
const lisp = [
  /\((?:async-)?shell-command(?:-to-string|-on-region)?\s{1,16}"((?:[^"\\]|\\.)*)"/g,
  /\((?:call-process(?:-shell-command)?|process-lines|process-file)\s{1,16}"((?:[^"\\]|\\.)*)"/g,
];
const tcl = [/(?:^|[\n;[{"])[ \t]{0,64}(?:exec|spawn|system)[ \t]+([^\]\n;}"]+)/g];
const each = (names: string, patterns: readonly RegExp[]): Record<string, readonly RegExp[]> =>
  Object.fromEntries(names.split(' ').map((name) => [name, patterns]));

/** Programs of which a command starts others, in one of their words or in what they read. */
const escapes: Readonly<Record<string, readonly RegExp[]>> = {
  ...each('vi vim nvim view ex rvim vimdiff', editor),
  ...each('ed red', [/^[\d,$.%]{0,16}[ \t]{0,8}[rwe]?[ \t]{0,8}!(.+)/gm]),
  ...each('dc ftp lftp sftp gnuplot mutt sqlplus', bang),
  ...each('less more most', [/^\+!(.+)/g]),
  ...each('gdb lldb rr', debugging),
  ...each('emacs emacsclient', lisp),
  ...each('osascript', [/\bdo\s{1,16}shell\s{1,16}script\s{1,16}"((?:[^"\\]|\\.)*)"/gi]),
  ...each('tclsh wish expect', tcl),
  ...each('psql pgcli', [
    /\\!\s{0,16}(.+)/g,
    /\bprogram\s{1,16}'((?:[^']|'')+)'/gi,
    /\\(?:gx?|o|out|w|write)\s{0,16}\|\s{0,16}(.+)/g,
  ]),
  ...each('mysql mariadb', [/(?:^|[;\n])[ \t]{0,16}(?:\\!|system|\\P|pager)[ \t]+([^;\n]+)/g]),
  ...each('sqlite3 sqlite duckdb', [
    /^[ \t]*\.(?:she?l?l?|sys?t?e?m?)[ \t]+(.+)/gm,
    /^[ \t]*\.(?:once|output|import)[ \t]+["']?\|([^"'\n]+)/gm,
  ]),
  ...each('tex pdftex latex pdflatex xelatex lualatex', [/\\write18\s{0,16}\{([^}]{1,512})/g]),
  ...each('rpm', [/%\(([^\n]+)\)/g]),
  ...each('ipython', bang),
  ...each('ghci', [/^[ \t]*:!(.+)/gm]),
  ...each('rake', [/\bsh\s{1,16}\(?\s{0,16}["']([^"'\n]{1,512})["']/g]),
  ...each('rails mongosh mongo flask django-admin exiftool iex mix ghc', []),
  ...each('groovy scala', [/"([^"\n]{1,512})"\s{0,16}\.?\s{0,16}(?:execute\(|!)/g]),
  ...each('clojure clj', [/\(\S{0,64}\bsh\s{1,16}"([^"]{1,512})"/g]),
  ...each('m4', [/syscmd\([ \t]{0,16}`?([^')]+)/g]),
  ...each('make gmake bmake', [
    /\$[({]shell[ \t]+([^)}\n]+)/g,
    /^\t[ \t]*[@+-]*(.+)/gm,
    /^[^\n:=#]+::?[^\n=;]*;[ \t]*(.+)/gm,
  ]),
  ...each('crontab', [/^[ \t]*(?:@\w+|(?:[^\s#]\S*[ \t]+){5})[ \t]*(.+)/gm]),
};
/** What they read is what they work on; they take commands from a terminal. */
const readsData: ReadonlySet<string> = new Set('less more most mutt'.split(' '));

const nothing: CodeLines = { lines: [], guessed: true, unnamed: null };

/** Of one word of a program, or of a text that it reads. */
export function linesInCode(name: string, text: string): CodeLines {
  if (awks.has(name)) return linesOfAwk(text);
  if (isSed(name)) return linesOfSed([literalWord('-e'), literalWord(text)]);
  if (Object.hasOwn(escapes, name)) {
    const own = (escapes[name] ?? []).flatMap((pattern) => firstGroups(pattern, text, maxLines));
    return { ...nothing, lines: [...own, ...callsIn(text)] };
  }
  return isInterpreter(name) && !shells.has(name) ? { ...nothing, lines: callsIn(text, name) } : nothing;
}

function linesOfAwk(script: string): CodeLines {
  const texts: string[] = [];
  const bare = script.replace(awkText, (_, text: string) => `"${texts.push(text) - 1}"`);
  const lines = firstGroups(awkLine, bare, maxLines).map((at) => decodeEscapes(texts[Number(at)] ?? ''));
  const open = awkOpen.test(bare) || awkBegun.test(script);
  return { lines, guessed: false, unnamed: open ? 'what awk starts is no literal' : null };
}

/** Whether what a program reads is code of its own, and not what it works on. */
export function readsCode(name: string, rest: readonly CommandWord[]): boolean {
  if (takesScripts(name)) return scriptsOf(rest).some(({ text }) => /^(?:-|\/dev\/(?:stdin|fd\/0))$/.test(text));
  return Object.hasOwn(escapes, name) ? !readsData.has(name) : isInterpreter(name) && !shells.has(name);
}

const isSed = (name: string): boolean => name === 'sed' || name === 'gsed';

/** Programs whose operands are data, and whose scripts stand behind an option. */
export const takesScripts = (name: string): boolean => awks.has(name) || isSed(name);

/** The files behind `-f`. */
export const scriptsOf = (rest: readonly CommandWord[]): readonly CommandWord[] =>
  rest.flatMap((word, index): readonly CommandWord[] => {
    const option = /^(?:-[nrEsuz]*f|--file=?)/.exec(word.text)?.[0];
    if (option === undefined) return [];
    return option === word.text ? rest.slice(index + 1, index + 2) : [literalWord(word.text.slice(option.length))];
  });

/** What code spells out behind the names of functions that start programs. */
export function callsIn(text: string, name = ''): readonly string[] {
  if (!/["'`]|qx|%x|qw/.test(text)) return [];
  const spelled = firstGroups(calls, text, maxLines).flatMap((found) => {
    const words = (found.match(literals) ?? []).map((word) => decodeEscapes(word.slice(1, -1)).replaceAll('\\`', '`'));
    const [first = ''] = words;
    const together = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    return words.length > 1 ? [first, together] : [first];
  });
  if (!running.has(name.replace(/[0-9.]+$/, ''))) return spelled;
  const opened = Array.from(text.matchAll(opens), ([, one, two, three]) => one ?? two ?? three ?? '').slice(
    0,
    maxLines,
  );
  return [...spelled, ...opened, ...firstGroups(percent, text, maxLines), ...firstGroups(backticks, text, maxLines)];
}

/** Of the words of `sed`: those that are a script. */
export function linesOfSed(rest: readonly CommandWord[]): CodeLines {
  const given: string[] = [];
  let operand: string | null = null;
  for (let at = 0; at < rest.length; at += 1) {
    const text = rest[at]?.text ?? '';
    const option = /^(?:-[nrEsuz]*e|--expression=?)/.exec(text)?.[0];
    if (option !== undefined) {
      const attached = option.length < text.length;
      if (!attached) at += 1;
      given.push(attached ? text.slice(option.length) : (rest[at]?.text ?? ''));
    } else if (/^(?:-[nrEsuz]*[fl]|--file|--line-length)$/.test(text)) {
      at += 1;
    } else if (!text.startsWith('-')) {
      operand ??= text;
    }
  }
  const script = given.length > 0 ? given.join('\n') : (operand ?? '');
  const read = readSed(script);
  if (read === null) return { ...nothing, lines: firstGroups(sedLine, script, maxLines) };
  return { lines: read.lines, guessed: false, unnamed: read.readsThem ? 'sed runs what it reads' : null };
}

/** Of a script that is not understood: behind the command `e`, to the end of the line. */
const sedLine = /(?:^|[\s;{}\d$/!,])e[ \t]+([^\n]+)/g;
