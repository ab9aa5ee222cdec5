import type { Repository } from '../schema/policy.ts';
import { expandBraces } from './braces.ts';
import { credentials, secretLooking } from './catalogue.ts';
import { guardedGlob } from './operands.ts';
import { isWithin } from './paths.ts';
import type { Scope } from './scope.ts';

/**
 * `git diff` shows what files hold now, and none of its words need name one: a tracked `.env` with the operator's own values
 * is shown as surely as by `cat .env`, which is not granted. What was committed is no secret any more.
 * @param words those behind `git`, of a command that is granted otherwise
 * @returns why it is not, or null
 */
export function diffProblem(words: readonly string[], repository: Repository | null, scope: Scope): string | null {
  const [subcommand, ...rest] = words;
  if (subcommand !== 'diff' || repository?.changed === undefined || !showsFiles(rest)) return null;
  const end = rest.indexOf('--');
  const before = (end === -1 ? rest : rest.slice(0, end)).filter((word) => !word.startsWith('-'));
  const named = [...before.filter((word) => exists(word, scope)), ...(end === -1 ? [] : rest.slice(end + 1))];
  // Of two commits, or of a range, nothing in the working tree is looked at.
  const revisions = before.filter((word) => !exists(word, scope));
  if (revisions.length > 1 || revisions.some((word) => word.includes('..'))) return null;
  // What is no path as it stands may be a pattern for any.
  const places = named.every((word) => exists(word, scope)) ? named.map((word) => scope.path(word).real()) : [];
  for (const file of repository.changed(telling())) {
    if (places.length > 0 && !places.some((place) => isWithin(file, place))) continue;
    const path = scope.path(file);
    const glob = guardedGlob(path, scope);
    if (glob !== null) return `it would show what was changed in ${path.given}, which matches ${glob}`;
  }
  return null;
}

const told =
  /^(?:--(?:stat|shortstat|numstat|dirstat|summary|name-only|name-status|quiet|no-patch|check)(?:=.*)?|-[qs])$/;

/** Not where it compares with the index alone, or only counts and names. */
const showsFiles = (rest: readonly string[]): boolean =>
  !rest.some((word) => /^--(?:cached|staged)$/.test(word)) &&
  (!rest.some((word) => told.test(word)) || rest.some((word) => /^(?:-[pu]|--patch.*)$/.test(word)));

function exists(word: string, scope: Scope): boolean {
  const found = scope.path(word).found();
  return scope.host.isDirectory(found) || scope.host.hardLinks(found) > 0;
}

let names: RegExp | null = null;

/** Found in whatever the catalogue matches: the longest part of each of its globs that stands for itself. */
function telling(): RegExp {
  if (names !== null) return names;
  const parts = [...credentials, ...secretLooking].flatMap((glob) => {
    const all = expandBraces(glob);
    return (typeof all === 'string' ? [glob] : all).map((one) =>
      one
        .split(/\*+|\?|\[.*?\]/)
        .reduce((best, part) => (literal(part).length > best.length ? literal(part) : best), ''),
    );
  });
  names = new RegExp(parts.map((part) => part.replace(/[.\\+^$(){}|]/g, '\\$&')).join('|'), 'i');
  return names;
}

/** Names of an index begin behind the top of the working tree. */
const literal = (part: string): string => part.replace(/^\/+|\/+$/g, '');
