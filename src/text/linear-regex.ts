import type { RE2JS } from 're2js';

/** Where a match lies, in UTF-16 units, and what its groups caught; a group that took no part is `undefined`. */
export type RegexMatch = {
  readonly index: number;
  /** The unit behind the match. */
  readonly end: number;
  /** By number: 0 is the whole match. */
  readonly groups: readonly (string | undefined)[];
  /** By name, `(?P<name>..)`. */
  readonly named: Readonly<Record<string, string | undefined>>;
};

/** A compiled expression. Time is linear in the text: at most `size` steps for each unit. */
export type LinearRegex = {
  readonly source: string;
  /** Instructions of the compiled program. */
  readonly size: number;
  /** Whether it matches anywhere. */
  test(text: string): boolean;
  /** Whether the whole text matches. */
  matchWhole(text: string): boolean;
  /** The leftmost match at or behind the unit `from`; null when there is none. */
  exec(text: string, from?: number): RegexMatch | null;
};

export type RegexFlags = {
  readonly ignoreCase?: boolean;
  /** `.` matches a line feed. */
  readonly dotAll?: boolean;
  /** `^` and `$` match at line ends. */
  readonly multiline?: boolean;
};

/** An expression that the engine does not take. The message says what is wrong and where, in one line. */
export class RegexSyntaxError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RegexSyntaxError';
  }
}

/**
 * Compiles RE2 syntax (flags inline too, `(?i)`); no look-around and no back-references. The engine is loaded by the
 * first call; what comes back matches without waiting.
 * @throws RegexSyntaxError for an expression that the engine does not take
 */
export async function compileRegex(source: string, flags: RegexFlags = {}): Promise<LinearRegex> {
  const { RE2JS: engine } = await import('re2js');
  const bits =
    (flags.ignoreCase === true ? engine.CASE_INSENSITIVE : 0) |
    (flags.dotAll === true ? engine.DOTALL : 0) |
    (flags.multiline === true ? engine.MULTILINE : 0);
  try {
    return linearRegex(source, engine.compile(source, bits));
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new RegexSyntaxError(text.replace(/^error parsing regexp: /, ''));
  }
}

function linearRegex(source: string, compiled: RE2JS): LinearRegex {
  const names = Object.entries(compiled.namedGroups());
  const count = compiled.groupCount();
  return {
    source,
    size: compiled.programSize(),
    test: (text) => compiled.test(text),
    matchWhole: (text) => compiled.testExact(text),
    exec(text, from = 0) {
      if (from > text.length) return null;
      const matcher = compiled.matcher(text);
      if (!matcher.find(from)) return null;
      const groups = Array.from({ length: count + 1 }, (_, number) => matcher.group(number) ?? undefined);
      const named = Object.fromEntries(names.map(([name, number]) => [name, groups[number]]));
      return { index: matcher.start(), end: matcher.end(), groups, named };
    },
  };
}
