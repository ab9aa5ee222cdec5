import { isNestedDeeper, mostLevels } from './json-depth.ts';

const maxAliases = 100;
/** In the reader's tokens a value lies in an entry, that in a list, and that in a token. */
const mostTokenLevels = 3 * mostLevels;
const tooDeep = { fault: `is nested deeper than ${mostLevels} levels` };

/** A YAML text as the JSON text of its value, or the end of a sentence about it that says why there is none. */
export type YamlJson = { readonly json: string } | { readonly fault: string };

/** Reads YAML without tags and with at most 100 aliases. Takes seconds for a text of some MiB. Never throws. */
export async function yamlToJson(text: string): Promise<YamlJson> {
  const { Composer, LineCounter, Parser } = await import('yaml');
  const lines = new LineCounter();
  let isDeep = false;
  /** What makes documents of tokens calls itself for each level; at the end of its stack it takes the program with it. */
  function* shallow() {
    for (const token of new Parser(lines.addNewLine).parse(text)) {
      isDeep = isNestedDeeper(token, mostTokenLevels);
      if (isDeep) return;
      yield token;
    }
  }
  const composer = new Composer({ schema: 'core', merge: true, uniqueKeys: false });
  const [document, second] = firstTwo(composer.compose(shallow(), true, text.length));
  if (isDeep || document === undefined) return tooDeep;
  const fault = document.errors[0] ?? document.warnings[0];
  const at = fault?.pos[0] ?? second?.range[0];
  if (at !== undefined) {
    const { line } = lines.linePos(at);
    const where = line < 1 ? '' : ` at line ${line}`;
    const what = fault?.code === 'TAG_RESOLVE_FAILED' ? 'it has a tag of its own' : 'it does not parse';
    return { fault: `is neither JSON nor YAML${where}: ${what}` };
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: maxAliases });
  } catch {
    return { fault: `has more than ${maxAliases} aliases` };
  }
  try {
    return { json: JSON.stringify(value ?? null) };
  } catch {
    return { fault: 'stands within itself, or unfolds to more than a text can hold' };
  }
}

/** A second document is one too many; the rest need not be read. */
function firstTwo<T>(all: Iterable<T>): readonly T[] {
  const found: T[] = [];
  for (const one of all) {
    found.push(one);
    if (found.length === 2) break;
  }
  return found;
}
