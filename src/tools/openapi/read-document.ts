import { type YamlJson, yamlToJson } from '../../text/yaml-json.ts';
import { isNestedDeeper, mostLevels } from '../../text/json-depth.ts';
import { isObject, type JsonObject } from '../../text/json-object.ts';

/** A description of a service as plain JSON, of a kind that is understood. */
export type ServiceDocument = {
  readonly root: JsonObject;
  /** `2.0`, `3.0` or `3.1`. */
  readonly version: '2.0' | '3.0' | '3.1';
};

export type ReadDocument =
  | { readonly ok: true; readonly document: ServiceDocument }
  /** One sentence that says what it is instead. */
  | { readonly ok: false; readonly message: string };

/** Largest description, and how much one may unfold to (05 §9.3.1). */
export const maxDocumentBytes = 10 * 1024 * 1024;
const maxNodes = 200_000;
/** Longer YAML is read beside the main thread. */
const maxHere = 64 * 1024;

export type ReadYaml = (text: string) => Promise<YamlJson>;

const bad = (message: string): ReadDocument => ({ ok: false, message });

/**
 * Reads an OpenAPI 3.0 or 3.1 or Swagger 2.0 document, JSON or YAML. Fetches nothing and never throws.
 * @param readLong reads YAML that takes long; never rejects
 */
export async function readDocument(bytes: Uint8Array, readLong: ReadYaml = yamlToJson): Promise<ReadDocument> {
  if (bytes.length > maxDocumentBytes) return bad(`the description is larger than ${maxDocumentBytes} bytes`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return bad('the description is not UTF-8 text');
  }
  const start = text.trimStart();
  if (start === '') return bad('the description is empty');
  if (/^<(?:!doctype|html|\?xml)/i.test(start)) return bad('the description is HTML or XML, not OpenAPI');
  const read = /^[{[]/.test(start) ? readJson(start) : null;
  const value = read ?? (await readYaml(text, readLong));
  if (!('value' in value)) return bad(value.message);
  if (!isObject(value.value)) return bad('the description is no object');
  if (hasMoreNodes(value.value, maxNodes)) return bad(`the description has more than ${maxNodes} values`);
  // Everything that walks it calls itself for what lies deeper.
  if (isNestedDeeper(value.value, mostLevels)) return bad(`the description is nested deeper than ${mostLevels} levels`);
  return versionOf(value.value);
}

type Value = { readonly value: unknown } | { readonly message: string };

/** @returns null for what is no JSON: a YAML text may begin with a brace, too. */
function readJson(text: string): Value | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

async function readYaml(text: string, readLong: ReadYaml): Promise<Value> {
  const read = await (text.length <= maxHere ? yamlToJson(text) : readLong(text));
  if ('json' in read) return { value: JSON.parse(read.json) };
  return { message: `the description ${read.fault}` };
}

/** Counts as a tree: what is named twice counts twice. Stops as soon as it is certain. */
function hasMoreNodes(root: unknown, limit: number): boolean {
  const open: unknown[] = [root];
  for (let count = 1; open.length > 0; ) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    const members: unknown[] = Array.isArray(value) ? value : Object.values(value);
    count += members.length;
    if (count > limit) return true;
    for (const member of members) open.push(member);
  }
  return false;
}

function versionOf(root: JsonObject): ReadDocument {
  const { openapi, swagger } = root;
  // YAML reads `swagger: 2.0` as a number.
  const named = typeof openapi === 'string' ? openapi : (swagger ?? openapi);
  const text = typeof named === 'number' ? named.toFixed(1) : named;
  if (typeof text !== 'string') return bad('the description names no OpenAPI version: it is something else');
  if (!isObject(root['paths']) && !text.startsWith('3.1')) return bad('the description has no paths');
  const version = (['2.0', '3.0', '3.1'] as const).find((one) => text === one || text.startsWith(`${one}.`));
  return version === undefined
    ? bad(`the description is of version ${text.slice(0, 20)}; 3.0, 3.1 and Swagger 2.0 are read`)
    : { ok: true, document: { root, version } };
}
