import { lineAt } from './draft.ts';
import { createLiteralReader, type Literal, Unreadable } from './literals.ts';

export type TomlTable = {
  /** As written: `rule`, `a.b`; empty for the beginning of the file. */
  readonly name: string;
  readonly line: number;
  readonly values: ReadonlyMap<string, Literal>;
};

/** The tables of a TOML file in their order, as far as settings use it: plain values and lists, no inline tables. */
export function readToml(text: string): readonly TomlTable[] | { readonly message: string; readonly line: number } {
  const reader = createLiteralReader(text);
  reader.literalQuotes = true;
  let values = new Map<string, Literal>();
  const tables: TomlTable[] = [{ name: '', line: 1, values }];
  try {
    for (reader.skip(); !reader.end(); reader.skip()) {
      if (reader.peek() === '[') {
        const line = lineAt(text, reader.at());
        const double = reader.take('[[');
        if (!double) reader.expect('[');
        reader.skip();
        const name = reader.peek() === '"' ? reader.string() : reader.word();
        reader.skip();
        reader.expect(double ? ']]' : ']');
        values = new Map();
        tables.push({ name, line, values });
        continue;
      }
      const key = reader.peek() === '"' || reader.peek() === "'" ? reader.string() : reader.word();
      reader.skip();
      reader.expect('=');
      if (values.has(key)) throw new Unreadable(`${key} stands twice`, reader.at());
      values.set(key, reader.value());
    }
    return tables;
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { message: error.message, line: lineAt(text, error.at) };
  }
}
