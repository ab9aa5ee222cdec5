/** Values that `${…}` in a reply may stand for (08 §6.3). */
export type FillScope = {
  readonly last_user: string;
  readonly last_assistant: string;
  readonly model: string;
  readonly turn: number;
  readonly tool: { readonly name: string; readonly content: string } | null;
  /** Groups of the regular expression that matched; 0 is the whole match. */
  readonly groups: readonly (string | undefined)[];
  readonly offered: readonly string[];
  readonly cwd: string;
};

const simple: ReadonlySet<string> = new Set([
  'last_user',
  'last_assistant',
  'model',
  'turn',
  'tool.name',
  'tool.content',
  'offered',
  'cwd',
]);
/** `$${` is a literal `${`. */
const substitution = /\$\$\{|\$\{([^}]*)\}/g;

const isKnown = (name: string): boolean =>
  simple.has(name) || /^match\.\d{1,2}$/.test(name) || /^tool\.json\.[^.]+(?:\.[^.]+)*$/.test(name);

/** The first substitution of a text that has no meaning, or null. */
export function unknownSubstitution(text: string): string | null {
  for (const [, name] of text.matchAll(substitution)) if (name !== undefined && !isKnown(name)) return name;
  return null;
}

/** A text with its substitutions made; an absent value is the empty text. */
export const fill = (text: string, scope: FillScope): string =>
  text.replace(substitution, (_whole, name: string | undefined) =>
    name === undefined ? '${' : shown(lookUp(name, scope)),
  );

/** Every string of a JSON value filled; a string that is exactly one substitution takes the value itself. */
export function fillDeep(value: unknown, scope: FillScope): unknown {
  if (typeof value === 'string') {
    const only = /^\$\{([^}]*)\}$/.exec(value)?.[1];
    return only === undefined ? fill(value, scope) : (lookUp(only, scope) ?? '');
  }
  if (Array.isArray(value)) return value.map((item) => fillDeep(item, scope));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, fillDeep(member, scope)]));
}

const shown = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** @returns the JSON value, or undefined when there is none. */
function lookUp(name: string, scope: FillScope): unknown {
  switch (name) {
    case 'last_user':
    case 'last_assistant':
    case 'model':
    case 'turn':
    case 'cwd':
      return scope[name];
    case 'offered':
      return scope.offered.join(',');
    case 'tool.name':
      return scope.tool?.name;
    case 'tool.content':
      return scope.tool?.content;
    default:
  }
  if (name.startsWith('match.')) return scope.groups[Number(name.slice('match.'.length))];
  return inJson(scope.tool?.content ?? '', name.slice('tool.json.'.length).split('.'));
}

function inJson(text: string, path: readonly string[]): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    // Object.hasOwn has shown that the member is there; arrays take their indexes as keys.
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}
