const maxAliases = 100;

/** A YAML text as the JSON text of its value, or the end of a sentence about it that says why there is none. */
export type YamlJson = { readonly json: string } | { readonly fault: string };

/** Reads YAML without tags and with at most 100 aliases. Takes seconds for a text of some MiB. Never throws. */
export async function yamlToJson(text: string): Promise<YamlJson> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { schema: 'core', merge: true, uniqueKeys: false, prettyErrors: true });
  const fault = document.errors[0] ?? document.warnings[0];
  if (fault !== undefined) {
    const line = fault.linePos?.[0].line;
    const where = line === undefined ? '' : ` at line ${line}`;
    const what = fault.code === 'TAG_RESOLVE_FAILED' ? 'it has a tag of its own' : 'it does not parse';
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
