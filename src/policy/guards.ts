import type { BuiltInProvider } from '../schema/tool-names.ts';
import type { CommandTables } from '../schema/command-tables.ts';
import type { CommandWord } from '../schema/command.ts';
import { foldCase } from '../text/fold-case.ts';
import { type Analysis, programName } from './analysis.ts';
import { fileUrlPath, isFileUrl } from './foreign-paths.ts';
import { collectPaths, isStandard, placesOfInput, placesOfWord, placesOfWords, tooManyPaths } from './named-paths.ts';
import { listedOperands, type Operand } from './option-tables.ts';
import { placedNames } from './placed-names.ts';
import { ownCommand } from './own-commands.ts';
import { comparable, isWithin, type PathValue } from './paths.ts';
import { isRenamed } from './renamed.ts';
import type { Scope } from './scope.ts';
import { ownIn } from './taken-along.ts';
import { throughLinks } from './through-links.ts';
import { unnamedWrite } from './unnamed-writes.ts';

/** Walls and floors (02 §8.1) over the guarded paths of 11 §6.1. Each answer names what was touched, or is null. */

const readers: ReadonlySet<string> = new Set(
  'read_file read_file_range list_dir find_files grep stat_file count_stats'.split(' '),
);
/** Built-in toolsets whose arguments name no path of this machine. */
const pathless: ReadonlySet<string> = new Set<BuiltInProvider>([
  'web',
  'webhook',
  'echo',
  'print',
  'engine',
  'plan_manager',
  'plan_summary',
  'model_pull',
]);

/** F3 (11 §6.1): directories, with everything below them, and names of files. */
const protectedSource =
  '(^|/)(\\.(git|hg|svn|husky|githooks|vscode|idea|devcontainer|cursor|claude|codex|gemini|ssh)' +
  '|\\.config/(git|fish|autostart|systemd)|\\.github/workflows|Library/LaunchAgents)(/|$)' +
  '|(^|/)(\\.gitmodules|\\.gitattributes|\\.gitconfig|\\.envrc|\\.npmrc|\\.yarnrc[^/]*|\\.pnpmfile\\.cjs|\\.pypirc|pip\\.conf' +
  '|\\.pre-commit-config\\.yaml|\\.mcp\\.json|\\.gitlab-ci\\.yml|\\.bash[^/]*|\\.zsh[^/]*|\\.z?profile|\\.zlog(in|out)|\\.kshrc' +
  '|\\.inputrc|\\.xprofile|\\.xinitrc|\\.pam_environment|\\.?crontab)$' +
  '|^/var/spool/cron(/|$)|^/etc/cron[^/]*(/|$)';
const protectedPath = new RegExp(protectedSource);
const protectedFolded = new RegExp(protectedSource, 'i');
const controlSegment = /(^|\/)\.reins(\/|$)/;

/** What a call would do to a control-plane path: refused under every policy, without an ask. */
export function wallOf(scope: Scope): string | null {
  const { tools, tool, args } = scope.call;
  if (tools === 'local_shell') return shellWall(scope);
  if (pathless.has(tools)) return null;
  const writes = tools !== 'local_fs' || !readers.has(tool);
  for (const path of argumentPaths(args, scope, mayNamePath).paths) {
    if (isSecret(path, scope)) return `own secret: ${path.given}`;
    if (writes && isPlane(path, scope)) return `control plane: ${path.given}`;
  }
  return null;
}

/** Why an `allow` of this call becomes an ask under every policy. */
export function floorOf(scope: Scope): string | null {
  const { tools, tool, args } = scope.call;
  if (tools === 'local_shell') return shellFloor(scope);
  if (pathless.has(tools)) return null;
  const { paths, whole } = argumentPaths(args, scope);
  if (!whole) return 'the arguments are nested too deep to look for paths';
  const writes = tools !== 'local_fs' || !readers.has(tool);
  for (const path of paths) {
    const touched = writes ? touchedProtected(path, scope) : null;
    if (touched !== null) return touched;
    if (tools === 'local_fs' && isOutside(path, scope)) return `outside the workspace: ${path.given}`;
  }
  return null;
}

function shellWall(scope: Scope): string | null {
  const analysis = scope.analysis();
  for (const path of scope.named(analysis)) if (isSecret(path, scope)) return `own secret: ${path.given}`;
  for (const command of analysis.commands) {
    const own = ownCommand(command, scope);
    if (own !== null) return `a command of Reins that no tool call gives: ${own}`;
  }
  for (const text of writtenBy(analysis, scope)) {
    const path = scope.path(text);
    if (isPlane(path, scope)) return `write into the control plane: ${path.given}`;
  }
  return null;
}

/** Redirect targets and write operands; of what was not read, all that stands behind a `>`. */
function writtenBy(analysis: Analysis, scope: Scope): readonly string[] {
  const known = analysis.commands.flatMap((command) => {
    const targets = command.redirects.flatMap(({ target, writes }) => (writes && target !== null ? [target] : []));
    return [...targets, ...written(operandsOf(command.words, scope, scope.host.commandTables) ?? [])].flatMap((word) =>
      placesOfWord(word, command, scope.host),
    );
  });
  const through = throughLinks(known, analysis.commands, scope.host, scope.path);
  return analysis.unread === null ? through : [...through, ...redirectTargets(analysis)];
}

function shellFloor(scope: Scope): string | null {
  const analysis = scope.analysis();
  if (analysis.floor !== null) return analysis.floor;
  if (!scope.namedWhole(analysis)) return tooManyPaths;
  const { host } = scope;
  for (const { words } of analysis.commands) {
    const program = words[0] === undefined ? null : host.resolveProgram(words[0].text, host.cwd);
    if (program !== null && isPlane(scope.path(program.real), scope)) {
      return `the program belongs to Reins itself: ${programName(program.word, host)}`;
    }
  }
  for (const path of touchedBy(analysis, scope)) {
    if (isPlane(path, scope)) return `control plane: ${path.given}`;
    const touched = touchedProtected(path, scope);
    if (touched !== null) return touched;
  }
  for (const command of analysis.commands) {
    for (const text of placedNames(command, host, scope.path)) {
      const touched = touchedProtected(scope.path(text), scope);
      if (touched !== null) return touched;
    }
    const unnamed = unnamedWrite(command);
    if (unnamed !== null) return `protected path: ${unnamed}`;
  }
  for (const path of scope.named(analysis)) {
    if (path.perProcess()) return `another file in each process: ${path.given}`;
  }
  for (const taken of scope.taken(analysis)) {
    const own = ownIn(taken, host);
    if (own !== null) return own;
  }
  const open = undetermined(analysis, scope);
  if (open !== null) return `what ${open.text} names is not known before it runs`;
  for (const text of writtenBy(analysis, scope)) {
    const path = scope.path(text);
    if (isStandard(path)) continue;
    if (isOutside(path, scope)) return `write outside the workspace: ${path.given}`;
    if (host.hardLinks(path.found()) > 1) return `file with several hard links: ${path.given}`;
  }
  const cwd = scope.path(host.cwd);
  return isOutside(cwd, scope) ? `outside the workspace: ${host.cwd}` : null;
}

/** A target of writing, and below a root that confines any operand (05 §3.4.2), that only the shell can tell. */
function undetermined({ commands }: Analysis, { host }: Scope): CommandWord | null {
  for (const { words, redirects } of commands) {
    const targets = redirects.flatMap(({ target, writes }) => (target !== null && writes ? [target] : []));
    const open = [...targets, ...(host.root === null ? words : [])].find((word) => word.open);
    if (open !== undefined) return open;
  }
  return null;
}

/** What the words behind a program and the redirections name, but for what an option table says is only read. */
function touchedBy(analysis: Analysis, scope: Scope): readonly PathValue[] {
  const touched = collectPaths(scope.path);
  const texts = scope.texts(analysis);
  for (const command of analysis.commands) {
    const words = touchingWords(command.words, analysis, scope);
    for (const places of placesOfWords(words, texts, command, scope.host)) touched.add(places);
    for (const { target } of command.redirects) {
      if (target !== null) touched.add(placesOfWord(target, command, scope.host));
    }
    // What the line gives to a name is judged where it is used; what a program reads is used by it.
    if (command.words.length === 0 && (command.variable ?? null) === null) continue;
    for (const value of command.values) touched.add(placesOfInput(value, command, scope.host));
  }
  return touched.paths;
}

/** Where a command is: what it changes without naming it lies there. */
const here: CommandWord = { text: '.', path: '.', open: false };

/**
 * The programs of the shipped tables change what they call written and nothing else: a pattern of `grep` or a directory to
 * leave out is no path that is touched. A table of the operator vouches for what it calls read.
 */
function touchingWords(words: readonly CommandWord[], analysis: Analysis, scope: Scope): readonly CommandWord[] {
  if (isRenamed(words[0]?.text ?? '', analysis)) return words;
  const shipped = operandsOf(words, scope, undefined);
  if (shipped !== null) return written(shipped);
  const own = operandsOf(words, scope, scope.host.commandTables);
  const read = new Set(
    own?.flatMap(({ text, kind }) => (kind === 'read' || kind === 'file' || kind === 'rev' ? [text] : [])),
  );
  const named = words.slice(1).filter((word) => !read.has(word.text));
  return own === null && words.length > 0 ? [here, ...named] : named;
}

const written = (operands: readonly Operand[]): readonly CommandWord[] =>
  operands.flatMap(({ text, kind }) => (kind === 'write' ? [{ text, path: text, open: false }] : []));

function operandsOf(
  words: readonly CommandWord[],
  { host }: Scope,
  tables: CommandTables | undefined,
): readonly Operand[] | null {
  const [program, ...rest] = words;
  return program === undefined ? null : listedOperands(programName(program.text, host), rest, tables);
}

/** What stands behind a `>` of a line that no grammar has read; quotes do not hide it. */
function redirectTargets(analysis: Analysis): readonly string[] {
  const texts = analysis.texts.join('\n');
  return Array.from(texts.matchAll(/>[|&]?[\s'"\\]*([^\s'"\\;|&<>()`]+)/g), (match) => match[1] ?? '');
}

/** F1: by either name, or by identity. */
function isSecret(path: PathValue, scope: Scope): boolean {
  const { secrets, secretPrefixes } = scope.guarded();
  const named = (text: string): boolean =>
    secrets.some((secret) => isWithin(text, secret)) || secretPrefixes.some((prefix) => text.startsWith(prefix));
  return eitherName(path, named) || scope.host.guardOf(path.found()) === 'secret';
}

/** F1 and F2: what no call may change. */
function isPlane(path: PathValue, scope: Scope): boolean {
  const { plane } = scope.guarded();
  const named = (text: string): boolean =>
    controlSegment.test(text) || plane.some((directory) => isWithin(text, directory));
  const guard = scope.host.guardOf(path.found());
  return eitherName(path, named) || guard === 'plane' || guard === 'self';
}

/** F3, and what 11 §6.1.3 adds for writing: several hard links, a link that leaves the root. */
function touchedProtected(path: PathValue, scope: Scope): string | null {
  const { host } = scope;
  const pattern = host.caseInsensitivePaths ? protectedFolded : protectedPath;
  const named = (text: string): boolean =>
    pattern.test(text) || scope.guarded().path.some((directory) => isWithin(text, directory));
  if (eitherName(path, named)) return `protected path: ${path.given}`;
  if (scope.call.tools === 'local_shell') return null;
  if (host.hardLinks(path.found()) > 1) return `file with several hard links: ${path.given}`;
  const inside = (text: string): boolean => scope.places().workspaces.some((root) => isWithin(text, root));
  return inside(path.lexical) && !inside(path.real()) ? `link out of the workspace: ${path.given}` : null;
}

const eitherName = (path: PathValue, named: (comparable: string) => boolean): boolean =>
  named(path.lexical) || (path.real() !== path.lexical && named(path.real()));

/** Amendment 17: without a confining root, a path outside the workspace asks. */
function isOutside(path: PathValue, { host }: Scope): boolean {
  return host.root !== null && !isWithin(path.real(), comparable(host.root, host));
}

const pathKeys: ReadonlySet<string> = new Set(['path', 'file', 'filename', 'directory', 'cwd', 'uri']);
const maxDepth = 64;
/** In any case: many servers do not tell `path` and `Path` apart. */
const isPathKey = (name: string): boolean => pathKeys.has(name) || pathKeys.has(foldCase(name));
const isUri = (name: string): boolean => foldCase(name) === 'uri';
/** What is longer under a name that only may be one of a path is the content of something. */
const isLong = (text: unknown): boolean => typeof text === 'string' && text.length > 65_536;

/**
 * What servers call a path besides (`source_path`, `destination`, `targetDir`): a wall stands there too. What it refuses is
 * named by nothing else, so a text of that name that is no path is not refused by accident.
 */
const mayNamePath = (name: string): boolean =>
  isPathKey(name) ||
  /(paths?|files?|(path|file)names?|director(y|ies)|dirs?|folders?|(^|_)(source|destination|src|dst|dest|target|root|location))$/.test(
    name
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .replaceAll('-', '_')
      .toLowerCase(),
  );

/**
 * A text in an object that goes by the name of a path (`path: {value: 'a'}`) may be one; what stands on several lines, or is
 * longer than any path, is what such a file holds.
 */
const mayBePath = (text: unknown): boolean => typeof text === 'string' && text.length <= 4096 && !text.includes('\n');

/**
 * Texts of the members that name paths, at any depth (11 §6.1.2), and what an object in the place of one holds: its texts,
 * and the names of its members. `whole` is false when some were too deep to see.
 */
export function argumentPaths(
  args: unknown,
  scope: Scope,
  isKey: (name: string) => boolean = isPathKey,
): { paths: readonly PathValue[]; whole: boolean } {
  const paths: PathValue[] = [];
  let whole = true;
  const add = (text: unknown): void => {
    if (typeof text !== 'string' || text.includes('\0')) return;
    paths.push(scope.path(isFileUrl(text) ? fileUrlPath(text) : text));
  };
  type Open = { readonly name: string; readonly value: unknown; readonly depth: number; readonly within: boolean };
  const open: Open[] = [{ name: '', value: args, depth: 0, within: false }];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (typeof at.value !== 'object' || at.value === null) continue;
    if (at.depth >= maxDepth) {
      whole = false;
      continue;
    }
    for (const [own, member] of Object.entries(at.value)) {
      const isList = Array.isArray(at.value);
      // The elements of a list go by its name, however deep they stand in it.
      const name = isList ? at.name : own;
      const isNamed = isKey(name) && !isUri(name);
      if (!isList && isKey(at.name)) add(own);
      if ((isNamed || isFileUrl(member)) && (isPathKey(name) || !isLong(member))) add(member);
      else if (at.within && mayBePath(member)) add(member);
      open.push({
        name,
        value: member,
        depth: at.depth + 1,
        within: at.within || (isPathKey(name) && !isUri(name)),
      });
    }
  }
  return { paths, whole };
}
