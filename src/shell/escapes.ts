/** Commands of editors, databases and their like that are lines for a shell, as they are spelled. */

const bang = [/^[ \t]*!(?![=<>])[ \t]*(.+)/gm];
/** A command of `vi` behind `:`, or a range of lines: `%!sort`, `r !ls`. */
const editor = [/(?:^|[\s:|%,$.\d'"+])!(?![=~])[ \t]*(\S.*)/g, /^\+?:?te(?:r(?:m(?:i(?:n(?:al?)?)?)?)?)?[ \t]+(.+)/g];
/** The programs that `vi` has for its own commands; blanks in them stand behind backslashes. */
const settings =
  /\bset?(?:local|global)?[ \t]+(?:[\w=]{1,64}[ \t]+){0,16}(?:makeprg|mp|shell|sh|grepprg|gp|equalprg|ep|keywordprg|kp|formatprg|fp)=([^|\s\\]+)/g;
const debugging = [/^[ \t]*(?:(?:shell|make|pipe|platform[ \t]+shell)[ \t]|!)[ \t]*(.+)/gm];
/** The line of a shell, or the program before its arguments. */
const lisp = [
  /\((?:async-)?shell-command(?:-to-string|-on-region)?\s{1,16}"((?:[^"\\]|\\.)*)"/g,
  /\((?:call-process(?:-shell-command)?|process-lines|process-file|compile|grep)\s{1,16}"((?:[^"\\]|\\.)*)"/g,
  /\(start-(?:file-)?process(?:\s{1,16}(?:"[^"]{0,256}"|[^\s"]{1,64})){2}\s{1,16}"([^"]+)"/g,
  /:command\s{1,16}'?\(\s{0,16}(?:list\s{1,16})?"([^"]+)"/g,
];
const tcl = [/(?:^|[\n;[{"])[ \t]{0,64}(?:exec|spawn|system)[ \t]+([^\]\n;}"]+)/g];
const each = (names: string, patterns: readonly RegExp[]): Record<string, readonly RegExp[]> =>
  Object.fromEntries(names.split(' ').map((name) => [name, patterns]));

/** Programs of which a command starts others, in one of their words or in what they read. */
export const escapes: Readonly<Record<string, readonly RegExp[]>> = {
  ...each('vi vim nvim view ex rvim vimdiff', [...editor, settings]),
  ...each('vifm', editor),
  ...each('kak', [/%sh\{([^}]+)\}/g]),
  ...each('ed red', [/^[\d,$.%]{0,16}[ \t]{0,8}[rwe]?[ \t]{0,8}!(.+)/gm]),
  ...each('dc ftp sftp gnuplot mutt sqlplus', bang),
  ...each('lftp', [...bang, /\bconnect-program[ \t]+["']?([^"'\n;]+)/g]),
  ...each('beeline hive', [/^[ \t]*!(?:sh[ \t]+)?(.+)/gm]),
  ...each('less more most', [/^\+!(.+)/g]),
  ...each('gdb lldb rr', debugging),
  ...each('emacs emacsclient', lisp),
  ...each('osascript', [/\bdo\s{1,16}shell\s{1,16}script\s{1,16}"((?:[^"\\]|\\.)*)"/gi]),
  ...each('tclsh wish expect', tcl),
  ...each('psql pgcli usql', [
    /\\!\s{0,16}(.+)/g,
    /\bprogram\s{1,16}'((?:[^']|'')+)'/gi,
    /\\(?:gx?|o|out|w|write)\s{0,16}\|\s{0,16}(.+)/g,
  ]),
  ...each('mysql mariadb mycli litecli', [/(?:^|[;\n])[ \t]{0,16}(?:\\!|system|\\P|pager)[ \t]+([^;\n]+)/g]),
  ...each('sqlite3 sqlite duckdb', [
    /^[ \t]*\.(?:she?l?l?|sys?t?e?m?)[ \t]+(.+)/gm,
    /\bedit\s{0,16}\([^()]{0,256},\s{0,16}'([^']+)'/gi,
    /^[ \t]*\.(?:once|output|import|read|log)[ \t]+["']?\|([^"'\n]+)/gm,
  ]),
  ...each('tmux', [/#\(([^)]+)\)/g]),
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
    // Behind a tab, or what `.RECIPEPREFIX` says.
    /^[\t>|!%&*^~][ \t]*[@+-]*(.+)/gm,
    /^[^\n:=#]+::?[^\n=;]*;[ \t]*[@+-]*(.+)/gm,
    /!=[ \t]*(.+)/g,
  ]),
  ...each('crontab', [/^[ \t]*(?:@\w+|(?:[^\s#]\S*[ \t]+){5})[ \t]*(.+)/gm]),
};
/** What they read is what they work on; they take commands from a terminal. */
export const readsData: ReadonlySet<string> = new Set('less more most mutt'.split(' '));
