import { firstGroups } from '../text/first-groups.ts';
import { decodeEscapes } from './printed.ts';

/** Most lines of one text that are looked at. */
const maxLines = 256;

/** Literals that stand behind the name of a function that starts programs: a line, or a program and its words. */
const quoted = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\x60(?:[^\x60\\]|\\.)*\x60`;
const blanks = String.raw`\s{0,16}`;
/** What may stand before a literal: a list, or the name of a parameter. */
const opened = `(?:\\{${blanks})?(?:(?:cmd|args|argv|command|executable|file|fileName|program)${blanks}[:=]${blanks})?(?:new\\s{1,16}String\\[\\]${blanks})?[[({]?${blanks}`;
const calls = new RegExp(
  // `/x/.exec(..)` looks into a text.
  `(?<!/[a-z]{0,6}\\.)(?:(?:system|exec|spawn)\\s{1,16}|(?:system(?:\\d|list)?|exec(?!ute)[a-z]{0,12}|spawn[a-z]{0,12}|popen\\d?|capture\\w{1,3}|run|call|check_(?:call|output)|` +
    `get(?:status)?output|os\\.execute|shell_exec|passthru|proc_open|create_subprocess_\\w{1,12}|System\\.shell|Command(?:\\.new|::new)?|cmd|` +
    `ProcessBuilder|Process\\.Start|job_?start|term_?(?:open|start)|run_command)${blanks}\\(${blanks}|` +
    `(?:CommandContext|posix_spawnp?)${blanks}\\(${blanks}&?[\\w.()]{1,32}${blanks},${blanks})` +
    `${opened}((?:${quoted})(?:${blanks},${blanks}${opened}(?:${quoted})){0,32})`,
  'gi',
);
const literals = new RegExp(quoted, 'g');
/** Perl and Ruby: `qx(..)`, `%x(..)`, `system qw(..)`, `exec q(..)`, `exec *%w(..)`. */
const percent =
  /(?:\bqx|%x|\b(?:system|exec)\s{0,16}\(?\s{0,16}(?:q[qw]?|\*?%w))\s{0,16}[/({[|!]([^/)}\]|!]{1,512})[/)}\]|!]/g;
/** Perl: a word before `=>` is a text. */
const bare = /\b(?:system|exec)\s{0,16}\(?\s{0,16}([\w-]{1,128})\s{0,16}=>/g;
const backticks = /`([^`]{1,4096})`/g;
/** Perl and Ruby: `open(F, "line|")`, `open F, "-|", "program"`, `open("|line")`. */
const opens =
  /\bopen\b\s{0,16}\(?[^"';)]{0,64}["'](?:\+?[<>]?)\s{0,16}(?:\|([^"']{1,512})["']|([^"'|]{1,512})\|["']|(?:-\||\|-)["']\s{0,16},\s{0,16}["']([^"']{1,512})["'])/g;
/** What a template is handed to by its name: `$`, `Bun.$`, `execa`. */
const tagged =
  /(?<![\w$])(?:\w{1,16}\.)?(?:\$\w{0,8}|exec\w{0,12}|sh|spawn\w{0,8})(?:\([^()`]{0,256}\))?`([^`]{1,4096})`/g;
const running: ReadonlySet<string> = new Set('perl raku ruby jruby irb pry php julia'.split(' '));

/** What code spells out behind the names of functions that start programs. */
export function callsIn(code: string, name = ''): readonly string[] {
  if (!/["'`]|\bq|%[xw]|\[\[/.test(code)) return [];
  // Long texts of Python, Lua and their like, as the others are written.
  const text = code.replace(/"""|'''/g, '"').replace(/\[\[([^\]"'`\n]{1,512})\]\]/g, '("$1")');
  const spelled = firstGroups(calls, text, maxLines).flatMap((found) => {
    const words = (found.match(literals) ?? []).map((word) => decodeEscapes(word.slice(1, -1)).replaceAll('\\`', '`'));
    const [first = ''] = words;
    const together = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    return words.length > 1 ? [first, together] : [first];
  });
  if (!running.has(name.replace(/[0-9.]+$/, ''))) return [...spelled, ...firstGroups(tagged, text, maxLines)];
  const piped = Array.from(text.matchAll(opens), ([, one, two, three]) => one ?? two ?? three ?? '').slice(0, maxLines);
  return [
    ...spelled,
    ...piped,
    ...firstGroups(percent, text, maxLines),
    ...firstGroups(bare, text, maxLines),
    ...firstGroups(backticks, text, maxLines),
  ];
}
