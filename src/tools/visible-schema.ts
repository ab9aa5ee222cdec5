import { isObject, type JsonObject } from '../text/json-object.ts';
import { carriesHidden, withoutHidden } from './hidden-characters.ts';

export type VisibleSchema = {
  readonly schema: JsonObject;
  /** A text that only describes lost characters. */
  readonly cleaned: boolean;
  /** A value that somebody could choose is not told. */
  readonly leftOut: boolean;
  /** What a call has to repeat holds hidden characters: changed it would mean something else. */
  readonly unusable: boolean;
};

/** Keywords whose members are named by the schema itself. */
const named: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);
/** What refers to a name, or is the one value there is. */
const repeated: ReadonlySet<string> = new Set([
  'const',
  'required',
  'dependentRequired',
  '$ref',
  '$dynamicRef',
  '$id',
  '$anchor',
  '$dynamicAnchor',
]);
const advice: ReadonlySet<string> = new Set(['default', 'example', 'pattern']);

/**
 * A schema from outside without what only a model would read. Texts lose their hidden characters. A value is one thing or
 * another, so one that holds them is left out whole, and the others stay to be chosen.
 */
export function visibleSchema(schema: JsonObject): VisibleSchema {
  const found = { cleaned: false, leftOut: false, unusable: false };
  const isHidden = (value: unknown): boolean => carriesHidden(JSON.stringify(value));
  const kept = (values: readonly unknown[]): readonly unknown[] => {
    const rest = values.filter((value) => !isHidden(value));
    if (rest.length < values.length) found.leftOut = true;
    return rest;
  };

  const below = (value: unknown): unknown => {
    if (typeof value === 'string') {
      const visible = withoutHidden(value);
      if (visible !== value) found.cleaned = true;
      return visible;
    }
    if (Array.isArray(value)) return value.map(below);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).flatMap(([key, member]) => keyword(key, member)));
  };

  const keyword = (key: string, member: unknown): readonly (readonly [string, unknown])[] => {
    if (isHidden(key) || (repeated.has(key) && isHidden(member))) {
      found.unusable = true;
      return [];
    }
    if (repeated.has(key)) return [[key, member]];
    if (advice.has(key)) {
      if (!isHidden(member)) return [[key, member]];
      found.leftOut = true;
      return [];
    }
    if (key === 'examples' && Array.isArray(member)) return [[key, kept(member)]];
    if (key === 'enum' && Array.isArray(member)) {
      const rest = kept(member);
      if (rest.length === 0 && member.length > 0) found.unusable = true;
      return [[key, rest]];
    }
    return [[key, named.has(key) && isObject(member) ? members(member) : below(member)]];
  };

  const members = (schemas: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(schemas).map(([name, one]) => {
        if (isHidden(name)) found.unusable = true;
        return [name, below(one)];
      }),
    );

  const visible = Object.fromEntries(Object.entries(schema).flatMap(([key, member]) => keyword(key, member)));
  return { schema: visible, ...found };
}
