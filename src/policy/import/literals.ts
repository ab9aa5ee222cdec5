/** A literal of a settings language that is no JSON. */
export type Literal = string | number | boolean | null | readonly Literal[] | ReadonlyMap<string, Literal>;

/** Deepest nesting of lists and tables that is read. */
export const maxDepth = 32;

/** Thrown by the reader below only; `at` is an offset. */
export class Unreadable extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/** What a language has beside the literals that both have. */
export type Dialect = {
  /** A value that is none of them, where the reader stands; null when there is none either. */
  value(depth: number): Literal | null;
  /** Single quotes hold no escapes. */
  readonly literalQuotes: boolean;
};

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  '"': '"',
  "'": "'",
  '\\': '\\',
};

/** Reads texts, numbers, words and lists of them, as TOML and Starlark both write them. */
export function createLiteralReader(text: string, dialect: Dialect | null = null) {
  let at = 0;
  const fail = (message: string): never => {
    throw new Unreadable(message, at);
  };

  const reader = {
    at: (): number => at,
    moveTo(place: number): void {
      at = place;
    },
    end: (): boolean => at >= text.length,
    peek: (): string => text.charAt(at),
    startsWith: (what: string): boolean => text.startsWith(what, at),
    /** Passes blanks, line breaks and comments. */
    skip(): void {
      for (; at < text.length; at += 1) {
        if (text.charAt(at) === '#') while (at < text.length && text.charAt(at) !== '\n') at += 1;
        else if (!/\s/.test(text.charAt(at))) return;
      }
    },
    take(what: string): boolean {
      if (!text.startsWith(what, at)) return false;
      at += what.length;
      return true;
    },
    expect(what: string): void {
      if (!reader.take(what)) fail(`expected ${what}`);
    },
    /** What a sticky expression finds here, and passes; empty when nothing does. */
    match(wanted: RegExp): string {
      wanted.lastIndex = at;
      const found = wanted.exec(text)?.[0] ?? '';
      at += found.length;
      return found;
    },
    /** A bare word or key. */
    word(): string {
      return reader.match(/[A-Za-z0-9_.-]+/y) || fail('expected a name');
    },
    string(): string {
      const raw = reader.peek() === 'r' && /['"]/.test(text.charAt(at + 1));
      if (raw) at += 1;
      const quote = reader.peek();
      if (quote !== '"' && quote !== "'") fail('expected a text');
      const long = text.startsWith(quote.repeat(3), at);
      const closing = long ? quote.repeat(3) : quote;
      at += closing.length;
      let value = '';
      while (!text.startsWith(closing, at)) {
        const char = text.charAt(at);
        if (at >= text.length || (!long && char === '\n')) fail('a text is not closed');
        if (char === '\\' && !raw && !(quote === "'" && dialect?.literalQuotes === true)) value += reader.escape(long);
        else {
          value += char;
          at += 1;
        }
      }
      at += closing.length;
      return long ? value.replace(/^\n/, '') : value;
    },
    escape(long: boolean): string {
      // A line break after a backslash is none, nor is what begins the next line.
      if (long && reader.match(/\\[ \t]*\r?\n\s*/y) !== '') return '';
      const code = reader.match(/\\(?:u[0-9A-Fa-f]{4}|U000[0-9A-Fa-f]{5}|U0010[0-9A-Fa-f]{4})/y);
      if (code !== '') return String.fromCodePoint(Number.parseInt(code.slice(2), 16));
      const next = text.charAt(at + 1);
      const meant = Object.hasOwn(escapes, next) ? escapes[next] : undefined;
      if (meant === undefined) return fail(`the escape \\${next} is not read`);
      at += 2;
      return meant;
    },
    value(depth = 0): Literal {
      if (depth > maxDepth) fail(`lists are nested more than ${maxDepth} deep`);
      reader.skip();
      const char = reader.peek();
      if (char === '"' || char === "'" || (char === 'r' && /['"]/.test(text.charAt(at + 1)))) return reader.string();
      if (char === '[' || char === '(') return reader.list(char === '[' ? ']' : ')', depth);
      const own = dialect?.value(depth) ?? null;
      if (own !== null) return own;
      const word = reader.word();
      if (/^[Tt]rue$/.test(word)) return true;
      if (/^[Ff]alse$/.test(word)) return false;
      if (word === 'None') return null;
      if (/^-?\d+(\.\d+)?$/.test(word)) return Number(word);
      return fail(`${word} is no plain value`);
    },
    list(closing: string, depth = 0): readonly Literal[] {
      at += 1;
      const values: Literal[] = [];
      for (;;) {
        reader.skip();
        if (reader.take(closing)) return values;
        values.push(reader.value(depth + 1));
        reader.skip();
        if (!reader.take(',') && reader.peek() !== closing) fail(`expected , or ${closing}`);
      }
    },
  };
  return reader;
}

/** The texts of a literal that is one, or a list of them; null for anything else. */
export function textsOf(value: Literal | undefined): readonly string[] | null {
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) return null;
  const texts = value.filter((one) => typeof one === 'string');
  return texts.length === value.length ? texts : null;
}
