import type { EvaluateOptions } from './evaluate.ts';
import type { PolicyCall, PolicyHost } from '../schema/policy.ts';
import { analyseCall } from './analysis.ts';
import { controlling, credentials, runningLater, secretLooking } from './catalogue.ts';
import { compileGlob, type Glob, matchGlob } from './glob.ts';
import { argumentPaths, floorOf, wallOf } from './guards.ts';
import type { PathValue } from './paths.ts';
import { createScope, type Scope } from './scope.ts';
import { createHeldPlace } from './taken-along.ts';

let compiled: { readonly secret: readonly Glob[]; readonly reserved: readonly Glob[] } | null = null;

let held: readonly { readonly source: string; readonly find: ReturnType<typeof createHeldPlace> }[] | null = null;

/** C and S of the catalogue (02 §13), and W with them, compiled once: they never change. */
function globs(): NonNullable<typeof compiled> {
  if (compiled === null) {
    const secret = globsOf([...credentials, ...secretLooking]);
    compiled = { secret, reserved: [...secret, ...globsOf(controlling)] };
  }
  return compiled;
}

const globsOf = (sources: readonly string[]): readonly Glob[] =>
  sources.flatMap((source) => {
    const read = compileGlob(source);
    return read.ok ? [read.glob] : [];
  });

/**
 * Why nobody but a person may let this call through (03 §7.1, §9): it meets a wall or a floor, whatever the rules say, or
 * touches a path of catalogue C, W or S. @returns null when an agent may, or a choice may be remembered
 */
export function reservedForPeople(call: PolicyCall, host: PolicyHost, options: EvaluateOptions = {}): string | null {
  const scope = createScope(call, host, null, () => analyseCall(call, options.reading, host));
  const guarded = wallOf(scope) ?? floorOf(scope);
  if (guarded !== null) return guarded;
  for (const path of touched(scope)) {
    const hit = globs().reserved.find((glob) => isNamed(glob, path, scope));
    if (hit !== undefined) return `path ${path.given} matches ${hit.source}`;
  }
  return call.tools === 'local_shell' ? secretTaken(scope) : null;
}

/** A directory that is packed, copied or removed whole takes its secrets along: who may not name one may not take it so. */
function secretTaken(scope: Scope): string | null {
  const surely = scope.taken(scope.analysis()).filter(({ anywhere, unsure }) => anywhere !== true && unsure !== true);
  if (surely.length === 0) return null;
  held ??= [...credentials, ...secretLooking].map((source) => ({ source, find: createHeldPlace(source) }));
  for (const taken of surely) {
    for (const { source, find } of held) {
      const path = find(taken, scope.host);
      if (path !== null) return `${taken.given} ${taken.verb ?? 'holds'} ${path}, which matches ${source}`;
    }
  }
  return null;
}

/** The paths of the call, as it gave them, at which secrets are kept or which look like one (catalogue C and S). */
export function secretPaths(call: PolicyCall, host: PolicyHost, options: EvaluateOptions = {}): readonly string[] {
  const scope = createScope(call, host, null, () => analyseCall(call, options.reading, host));
  const secret = [...touched(scope)].filter((path) => globs().secret.some((glob) => isNamed(glob, path, scope)));
  return [...new Set(secret.map(({ given }) => given))];
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
  const later = globsOf(runningLater);
  const stays = (path: PathValue) =>
    path.real().startsWith(`${root}/`) && !later.some((glob) => isNamed(glob, path, scope));
  return paths.length > 0 && paths.every(stays) ? root : null;
}

const touched = (scope: Scope): Iterable<PathValue> =>
  scope.call.tools === 'local_shell' ? scope.named(scope.analysis()) : argumentPaths(scope.call.args, scope).paths;
