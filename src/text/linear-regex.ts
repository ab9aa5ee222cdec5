import type { RE2JS } from 're2js';
import { once } from './once.ts';
import { messageOf } from './thrown.ts';

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

/** The engine, loaded: reads RE2 syntax (flags inline too, `(?i)`); no look-around and no back-references. */
export type RegexEngine = {
  /** @throws RegexSyntaxError for an expression that the engine does not take */
  compile(source: string, flags?: RegexFlags): LinearRegex;
  /**
   * Checks an expression as `compile` does, at a fifth of the cost, and compiles it when it is first asked for a match or
   * its size. @throws RegexSyntaxError for an expression that the engine does not take
   */
  read(source: string, flags?: RegexFlags): LinearRegex;
};

/** Loads the engine, once for a process. */
export async function loadRegexEngine(): Promise<RegexEngine> {
  const { RE2JS: engine, RE2Set: Expressions } = await import('re2js');
  const bitsOf = ({ ignoreCase, dotAll, multiline }: RegexFlags): number =>
    (ignoreCase === true ? engine.CASE_INSENSITIVE : 0) |
    (dotAll === true ? engine.DOTALL : 0) |
    (multiline === true ? engine.MULTILINE : 0);
  const compile: RegexEngine['compile'] = (source, flags = {}) =>
    linearRegex(
      source,
      orRefused(() => engine.compile(source, bitsOf(flags))),
    );
  return {
    compile,
    read(source, flags = {}) {
      // A set parses what it is given, with all limits of size and depth, and compiles only when it is matched.
      orRefused(() => new Expressions(Expressions.ANCHOR_BOTH, bitsOf(flags)).add(source));
      return compiledOnUse(source, () => compile(source, flags));
    },
  };
}

/** Compiles one expression; what comes back matches without waiting. @throws RegexSyntaxError as the engine does */
export const compileRegex = async (source: string, flags?: RegexFlags): Promise<LinearRegex> =>
  (await loadRegexEngine()).compile(source, flags);

function orRefused<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const text = messageOf(error);
    throw new RegexSyntaxError(text.replace(/^error parsing regexp: /, ''));
  }
}

function compiledOnUse(source: string, compile: () => LinearRegex): LinearRegex {
  const regex = once(compile);
  return {
    source,
    get size() {
      return regex().size;
    },
    test: (text) => regex().test(text),
    matchWhole: (text) => regex().matchWhole(text),
    exec: (text, from) => regex().exec(text, from),
  };
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
