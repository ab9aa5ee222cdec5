import type { JsonObject } from '../text/json-object.ts';
import { withoutHidden } from './hidden-characters.ts';
import { visibleSchema } from './visible-schema.ts';

/** What is odd about a definition from outside, as people are told (05 §2.6.5). */
export type DefinitionFlag =
  | 'hidden characters removed'
  | 'values with hidden characters left out'
  | 'description cut'
  | 'inner descriptions left out';

export type OfferedDefinition =
  | {
      readonly ok: true;
      readonly description: string;
      readonly schema: JsonObject;
      readonly flags: readonly DefinitionFlag[];
    }
  /** Its schema is too large for any model, or cannot be told without what nobody sees: the tool is not offered. */
  | { readonly ok: false; readonly reason: string };

/** What a model can be expected to read of one definition (05 §2.6.5). */
const maxDescriptionBytes = 4096;
const maxSchemaBytes = 32 * 1024;

/** A definition from outside as a model may see it: no hidden characters, no more than it can be expected to read. */
export function offeredDefinition(description: string, schema: JsonObject): OfferedDefinition {
  const flags: DefinitionFlag[] = [];
  const said = withoutHidden(description);
  const text = JSON.stringify(schema);
  // Most schemas hide nothing: then they are not taken apart, which for five hundred tools is half of what they cost.
  const plain = !/\\[ubfr]/.test(text) && withoutHidden(text) === text;
  const visible = plain ? null : visibleSchema(schema);
  if (visible?.unusable === true)
    return { ok: false, reason: 'its schema hides characters in a name or a value that a call would have to repeat' };
  if (said !== description || visible?.cleaned === true) flags.push('hidden characters removed');
  if (visible?.leftOut === true) flags.push('values with hidden characters left out');
  const cut = cutText(said, maxDescriptionBytes);
  if (cut.cut) flags.push('description cut');
  let offered = visible?.schema ?? schema;
  if (Buffer.byteLength(plain ? text : JSON.stringify(offered)) > maxSchemaBytes) {
    offered = withoutDescriptions(offered) as JsonObject;
    flags.push('inner descriptions left out');
    const bytes = Buffer.byteLength(JSON.stringify(offered));
    if (bytes > maxSchemaBytes)
      return { ok: false, reason: `its schema has ${bytes} bytes; at most ${maxSchemaBytes} are offered` };
  }
  return { ok: true, description: cut.text, schema: offered, flags };
}

function cutText(text: string, maxBytes: number): { readonly text: string; readonly cut: boolean } {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return { text, cut: false };
  const end = '…';
  const kept = bytes.subarray(0, maxBytes - Buffer.byteLength(end)).toString('utf8');
  return { text: `${kept.replace(/\ufffd+$/, '')}${end}`, cut: true };
}

/** A member of an object may itself be named `description`: only texts are left out. */
function withoutDescriptions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDescriptions);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, member]) => !(key === 'description' && typeof member === 'string'))
      .map(([key, member]) => [key, withoutDescriptions(member)]),
  );
}
