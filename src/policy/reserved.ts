import type { EvaluateOptions } from './evaluate.ts';
import type { PolicyCall, PolicyHost } from '../schema/policy.ts';
import { analyseCall } from './analysis.ts';
import { controlling, credentials, runningLater, secretLooking } from './catalogue.ts';
import { compileGlob, type Glob, matchGlob } from './glob.ts';
import { argumentPaths, floorOf, wallOf } from './guards.ts';
import type { PathValue } from './paths.ts';
import { createScope, type Scope } from './scope.ts';

let reserved: readonly Glob[] | null = null;

/** C, W and S of the catalogue (02 §13), compiled once: they never change. */
function reservedGlobs(): readonly Glob[] {
  reserved ??= [...credentials, ...controlling, ...secretLooking].flatMap((source) => {
    const compiled = compileGlob(source);
    return compiled.ok ? [compiled.glob] : [];
  });
  return reserved;
}

/**
 * Why nobody but a person may let this call through (03 §7.1, §9): it meets a wall or a floor, whatever the rules say, or
 * touches a path of catalogue C, W or S. @returns null when an agent may, or a choice may be remembered
 */
export function reservedForPeople(call: PolicyCall, host: PolicyHost, options: EvaluateOptions = {}): string | null {
  const scope = createScope(call, host, null, () => analyseCall(call, options.reading, host));
  const guarded = wallOf(scope) ?? floorOf(scope);
  if (guarded !== null) return guarded;
  for (const path of touched(scope)) {
    const hit = reservedGlobs().find((glob) => isNamed(glob, path, scope));
    if (hit !== undefined) return `path ${path.given} matches ${hit.source}`;
  }
  return null;
}

/** As it was given, and where it leads. */
function isNamed(glob: Glob, path: PathValue, scope: Scope): boolean {
  const names = path.real() === path.lexical ? [path.lexical] : [path.lexical, path.real()];
  return names.some((name) => matchGlob(glob, name, scope.places()));
}

const writers: ReadonlySet<string> = new Set(['write_file', 'edit_file', 'sed']);

/**
 * The workspace that a file writer stays in, for the choice *edits here, this session*: nothing that is reserved for
 * people, nothing that runs code later, and every path below the root. @returns its real path; null for any other call
 */
export function editedRoot(call: PolicyCall, host: PolicyHost): string | null {
  if (call.tools !== 'local_fs' || !writers.has(call.tool) || reservedForPeople(call, host) !== null) return null;
  const scope = createScope(call, host, null, () => analyseCall(call, undefined, host));
  const root = host.realPath(host.workspace);
  const paths = [...touched(scope)];
  const later = runningLater.flatMap((source) => {
    const compiled = compileGlob(source);
    return compiled.ok ? [compiled.glob] : [];
  });
  const stays = (path: PathValue) =>
    path.real().startsWith(`${root}/`) && !later.some((glob) => isNamed(glob, path, scope));
  return paths.length > 0 && paths.every(stays) ? root : null;
}

const touched = (scope: Scope): Iterable<PathValue> =>
  scope.call.tools === 'local_shell' ? scope.named(scope.analysis()) : argumentPaths(scope.call.args, scope).paths;
