import { lineAt } from './draft.ts';
import { createLiteralReader, type Literal, maxDepth, Unreadable } from './literals.ts';

export type TomlTable = {
  /** As written, without quotes: `rule`, `a.b`; empty for the beginning of the file. */
  readonly name: string;
  readonly line: number;
  /** A table below this one (`[rule.x]` after `[[rule]]`, `x.y = 1`) is a value of it too. */
  readonly values: ReadonlyMap<string, Literal>;
};

type Values = Map<string, Literal>;

/** The tables of a TOML file in their order. Dates are texts, and so are `inf` and `nan`. */
export function readToml(text: string): readonly TomlTable[] | { readonly message: string; readonly line: number } {
  const reader = createTomlReader(text);
  let values: Values = new Map();
  const tables: (TomlTable & { readonly values: Values })[] = [{ name: '', line: 1, values }];
  try {
    for (reader.skip(); !reader.end(); reader.skip()) {
      if (reader.peek() !== '[') {
        reader.member(values);
        reader.endLine();
        continue;
      }
      const line = lineAt(text, reader.at());
      const double = reader.take('[[');
      if (!double) reader.expect('[');
      const path = reader.key();
      reader.expect(double ? ']]' : ']');
      reader.endLine();
      values = new Map();
      const owner = tables.findLast(({ name }) => name === path[0]);
      if (path.length > 1 && owner !== undefined) put(owner.values, path.slice(1), values, 'whole');
      tables.push({ name: path.join('.'), line, values });
    }
    return tables;
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { message: error.message, line: lineAt(text, error.at) };
  }
}

function createTomlReader(text: string) {
  const reader = createLiteralReader(text, {
    literalQuotes: true,
    value: (depth) => (reader.peek() === '{' ? inlineTable(depth) : scalar()),
  });

  const key = (): readonly string[] => {
    const parts: string[] = [];
    do {
      reader.match(/[ \t]*/y);
      const quoted = reader.peek() === '"' || reader.peek() === "'";
      const part = quoted ? reader.string() : reader.match(/[A-Za-z0-9_-]+/y);
      if (part === '' && !quoted) throw new Unreadable('expected a name', reader.at());
      parts.push(part);
      if (parts.length > maxDepth) throw new Unreadable(`a key has more than ${maxDepth} parts`, reader.at());
      reader.match(/[ \t]*/y);
    } while (reader.take('.'));
    return parts;
  };

  const member = (into: Values): void => {
    const at = reader.at();
    const path = key();
    reader.expect('=');
    const value = reader.value(path.length);
    if (!put(into, path, value, 'once')) throw new Unreadable(`${path.join('.')} stands twice`, at);
  };

  const inlineTable = (depth: number): Literal => {
    if (depth > maxDepth) throw new Unreadable(`tables are nested more than ${maxDepth} deep`, reader.at());
    reader.expect('{');
    const values: Values = new Map();
    for (;;) {
      reader.skip();
      if (reader.take('}')) return values;
      const at = reader.at();
      const path = key();
      reader.expect('=');
      const value = reader.value(depth + 1);
      if (!put(values, path, value, 'once')) throw new Unreadable(`${path.join('.')} stands twice`, at);
      reader.skip();
      if (!reader.take(',') && reader.peek() !== '}') reader.expect('}');
    }
  };

  /** Numbers as TOML writes them, and dates; null for what the two languages write alike. */
  const scalar = (): Literal | null => {
    const date = reader.match(/\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d[\d:.]*(?:[Zz]|[+-]\d\d:\d\d)?)?|\d\d:\d\d[\d:.]*/y);
    if (date !== '') return date;
    const special = reader.match(/[+-]?(?:inf|nan)(?![A-Za-z0-9_-])/y);
    if (special !== '') return special;
    const number = reader.match(/0[xob][0-9A-Fa-f_]+|[+-]?\d[\d_]*(?:\.[\d_]+)?(?:[eE][+-]?[\d_]+)?/y);
    return number === '' ? null : Number(number.replaceAll('_', ''));
  };

  return {
    ...reader,
    key,
    member,
    /** @throws Unreadable when something else stands in the line */
    endLine(): void {
      reader.match(/[ \t]*(?:#[^\n]*)?/y);
      if (!reader.end() && reader.match(/\r?\n/y) === '')
        throw new Unreadable('expected the end of the line', reader.at());
    },
  };
}

/**
 * Puts a value where a dotted key leads.
 * @param how `once`: nothing may be there; `whole`: what is there stays, as further elements of a list of tables do
 * @returns false when something is in its way
 */
function put(into: Values, path: readonly string[], value: Literal, how: 'once' | 'whole'): boolean {
  let table = into;
  for (const part of path.slice(0, -1)) {
    const there = table.get(part);
    if (there !== undefined && !(there instanceof Map)) return false;
    const next: Values = there ?? new Map();
    table.set(part, next);
    table = next;
  }
  const last = path.at(-1) ?? '';
  if (table.has(last)) return how === 'whole';
  table.set(last, value);
  return true;
}
