import type { OperandKind } from '../schema/command-tables.ts';
import { parseUrl } from '../text/parse-url.ts';
import { credentials, secretLooking } from './catalogue.ts';
import { compileGlob, type Glob, matchGlob } from './glob.ts';
import { filesOfPathspecs } from './named-paths.ts';
import { isWithin, type PathValue } from './paths.ts';
import type { Scope } from './scope.ts';

let guarded: readonly Glob[] | null = null;

/** The globs C and S of the catalogue (02 §13), compiled once: they never change. */
function guardedGlobs(): readonly Glob[] {
  guarded ??= [...credentials, ...secretLooking].flatMap((source) => {
    const compiled = compileGlob(source);
    return compiled.ok ? [compiled.glob] : [];
  });
  return guarded;
}

/** Why a granted command may not have this operand (02 §9.7), or null. */
export function operandProblem(text: string, kind: OperandKind, scope: Scope): string | null {
  switch (kind) {
    case 'none':
    case 'text':
      return null;
    case 'read':
      // Alone, the dash is standard input.
      return text === '-' ? null : pathProblem(text, 'read_file', scope);
    case 'file':
      return text === '-' ? null : (pathProblem(text, 'read_file', scope) ?? directoryOperand(text, scope));
    case 'write':
      return pathProblem(text, 'write_file', scope);
    case 'rev':
      return revisionProblem(text, scope);
    case 'url':
      return urlProblem(text, scope);
  }
}

function pathProblem(text: string, tool: string, scope: Scope): string | null {
  const path = scope.path(asWritten(text));
  const problem = outside(path, scope) ?? secret(path, scope);
  if (problem !== null) return problem;
  const refused = scope.refusedBy('local_fs', tool, { path: asWritten(text) });
  return refused === null ? null : `operand ${text}: ${refused}`;
}

/** What lies in it is named by no operand, links out of the workspace and secrets among them. */
const directoryOperand = (text: string, scope: Scope): string | null =>
  scope.host.isDirectory(scope.path(asWritten(text)).found()) ? `operand ${text} is a directory` : null;

/** No shell expands the words of a granted command: a tilde in them is an ordinary character. */
const asWritten = (text: string): string => (text.startsWith('~/') ? `./${text}` : text);

function outside(path: PathValue, scope: Scope): string | null {
  const inside = (name: string): boolean => scope.places().workspaces.some((root) => isWithin(name, root));
  return inside(path.lexical) && inside(path.real()) ? null : `operand outside the workspace: ${path.given}`;
}

function secret(path: PathValue, scope: Scope): string | null {
  const glob = guardedGlob(path, scope);
  return glob === null ? null : `operand ${path.given} matches ${glob}`;
}

/** The glob of the catalogue by which no granted command may read a path, or null. */
export function guardedGlob(path: PathValue, scope: Scope): string | null {
  const places = scope.places();
  const hit = guardedGlobs().find(
    (glob) =>
      matchGlob(glob, path.lexical, places) || (path.real() !== path.lexical && matchGlob(glob, path.real(), places)),
  );
  return hit?.source ?? null;
}

function revisionProblem(text: string, scope: Scope): string | null {
  // `HEAD:x`, `:0:x`, and the words of a path before it: `:(top)x`.
  const parts = [
    text,
    ...[...text.matchAll(/:(?:\([^)]*\))?/g)].map(({ 0: mark, index }) => text.slice(index + mark.length)),
  ];
  const climbs = parts.some((part) => part.split(/[/\\]/).includes('..'));
  if (/^([/\\-]|~\/|[A-Za-z]:[/\\]|ext::)/.test(text) || climbs) return `operand ${text}`;
  for (const part of parts) {
    if (part === '') continue;
    const path = scope.path(asWritten(part));
    // Without a repository `git diff` compares two files, wherever a link leads.
    const problem = secret(path, scope) ?? (part === text ? outside(path, scope) : null);
    if (problem !== null) return problem;
    for (const file of filesOfPathspecs([part], scope.host)) {
      const hit = secret(scope.path(file), scope);
      if (hit !== null) return hit;
    }
  }
  return null;
}

function urlProblem(text: string, scope: Scope): string | null {
  // Only what every parser reads alike: `\` ends a host for one and not for the other, `{a,b}` and `[1-9]` are many
  // addresses to the program and one to the reader. Brackets are for the address of a host.
  const plain = /^https?:\/\/(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~-])[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]*$/i.test(text);
  if (!plain || parseUrl(text) === null) return `operand ${text} is no http or https address`;
  const refused = scope.refusedBy('webhook', 'webhook', { url: text });
  return refused === null ? null : `operand ${text}: ${refused}`;
}
