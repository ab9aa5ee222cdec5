/** Names by which the value of a variable, of an option or of a setting is known for a line that somebody starts. */

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Variables whose value is a line that somebody starts. */
const lines = words(
  'PROMPT_COMMAND PAGER MANPAGER SYSTEMD_PAGER AWS_PAGER GH_PAGER EDITOR VISUAL FCEDIT SUDO_EDITOR SYSTEMD_EDITOR BROWSER ' +
    'SHELL LESSOPEN LESSCLOSE SSH_ASKPASS SUDO_ASKPASS RSYNC_RSH CVS_RSH GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH ' +
    'GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_ASKPASS GIT_PROXY_COMMAND CC CXX LD AR MAKE RUSTC RUSTDOC ' +
    'RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER PSQL_EDITOR FZF_DEFAULT_COMMAND CCACHE_PREFIX LESSEDIT BASH_ALIASES BASH_CMDS',
);

/** What a build calls its programs, and what others have their own names for. */
const tools = words(
  'CPP FC F77 LEX YACC STRIP RANLIB NM OBJCOPY INSTALL RM CP MV LN MKDIR PKG_CONFIG HOSTCC HOSTCXX BUILD_CC CC_FOR_BUILD ' +
    'GCCGO CARGO PYTHON NODE PERL PROTOC P4DIFF AUTOSSH_PATH CMAKE NINJA',
);

/** What most likely is one, by the end of its name: `BAT_PAGER`, `KUBE_EDITOR`, `RESTIC_PASSWORD_COMMAND`. */
const guessedNames =
  /(?:PAGER|EDITOR|_BROWSER|_ASKPASS|_RSH|_SSH|_SHELL|_COMMAND|PASSCOMMAND|_LAUNCHER|_LINKER|_PROG|DIFFPROG|_EXTERNAL_DIFF)$/;

/** The same by the form of their names; npm takes its own in any case. */
const lineNames =
  /^(?:CARGO_TARGET_\w+_(?:RUNNER|LINKER)|CARGO_BUILD_RUST(?:C|DOC)\w*|npm_config_(?:(?:script_)?shell|editor|viewer|browser|git))$/i;

/** How the value of a variable counts; null for one that nobody starts. */
export function heldBy(name: string): 'line' | 'guess' | null {
  if (lines.has(name) || lineNames.test(name)) return 'line';
  return tools.has(name) || guessedNames.test(name) ? 'guess' : null;
}

/** Ends of names that say what stands there, whatever is before them: `sshcmd`, `C_COMPILER_LAUNCHER`, `script-shell`. */
const ends =
  /(?:pager|command|cmd|editor|askpass|launcher|linker|renderer|executable|viewer|emulator|(?:^|[^a-z])(?:exec|preview|program|prog|shell|ssh|browser|compiler|wrapper|terminal|interpreter|hook|using|opener|scripts?|run_under|prgbox|credential_process))$/;

/** Whether an option, a property or a setting of this name most likely holds a line: its words may be put together in any way. */
export const namesLine = (name: string): boolean =>
  name.length <= 128 && ends.test(name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase());
