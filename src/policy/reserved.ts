import type { EvaluateOptions } from './evaluate.ts';
import type { PolicyCall, PolicyHost } from '../schema/policy.ts';
import { analyseCall } from './analysis.ts';
import { controlling, credentials, secretLooking } from './catalogue.ts';
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
  const places = scope.places();
  for (const path of touched(scope)) {
    const names = path.real() === path.lexical ? [path.lexical] : [path.lexical, path.real()];
    const hit = reservedGlobs().find((glob) => names.some((name) => matchGlob(glob, name, places)));
    if (hit !== undefined) return `path ${path.given} matches ${hit.source}`;
  }
  return null;
}

const touched = (scope: Scope): Iterable<PathValue> =>
  scope.call.tools === 'local_shell' ? scope.named(scope.analysis()) : argumentPaths(scope.call.args, scope).paths;
