import type { JsonObject } from '../text/json-object.ts';

/** What is odd about a definition from outside, as people are told (05 §2.6.5). */
export type DefinitionFlag = 'hidden characters removed' | 'description cut' | 'inner descriptions left out';

export type OfferedDefinition =
  | {
      readonly ok: true;
      readonly description: string;
      readonly schema: JsonObject;
      readonly flags: readonly DefinitionFlag[];
    }
  /** Its schema is too large for any model: the tool is not offered. */
  | { readonly ok: false; readonly reason: string };

/** What a model can be expected to read of one definition (05 §2.6.5). */
const maxDescriptionBytes = 4096;
const maxSchemaBytes = 32 * 1024;

/** A definition from outside as a model may see it: no hidden characters, no more than it can be expected to read. */
export function offeredDefinition(description: string, schema: JsonObject): OfferedDefinition {
  const flags: DefinitionFlag[] = [];
  const clean = (text: string): string => {
    const visible = withoutHidden(text);
    if (visible !== text && !flags.includes('hidden characters removed')) flags.push('hidden characters removed');
    return visible;
  };
  const cut = cutText(clean(description), maxDescriptionBytes);
  if (cut.cut) flags.push('description cut');
  const text = JSON.stringify(schema);
  // Most schemas hide nothing: then they are not taken apart, which for five hundred tools is half of what they cost.
  const plain = !/\\[ubfr]/.test(text) && withoutHidden(text) === text;
  let offered = plain ? schema : (cleaned(schema, clean) as JsonObject);
  if (Buffer.byteLength(plain ? text : JSON.stringify(offered)) > maxSchemaBytes) {
    offered = withoutDescriptions(offered) as JsonObject;
    flags.push('inner descriptions left out');
    const bytes = Buffer.byteLength(JSON.stringify(offered));
    if (bytes > maxSchemaBytes)
      return { ok: false, reason: `its schema has ${bytes} bytes; at most ${maxSchemaBytes} are offered` };
  }
  return { ok: true, description: cut.text, schema: offered, flags };
}

/**
 * C0 and C1 controls but line feed and tab, bidirectional controls, and what has no width or no shape: a text can be written
 * in tags or in variation selectors alone, which models read and people do not see. A selector behind an emoji stays.
 */
const hiddenCharacters =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\u034f|\u17b4|\u17b5|[\u180b-\u180d]|\u180f|[\ufe00-\ufe0d]|(?<!\p{Emoji})[\ufe0e\ufe0f]|[\u{1d173}-\u{1d17a}]|[\u{e0000}-\u{e0fff}]/gu;

const withoutHidden = (text: string): string => text.replace(hiddenCharacters, '');

function cutText(text: string, maxBytes: number): { readonly text: string; readonly cut: boolean } {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return { text, cut: false };
  const end = '…';
  const kept = bytes.subarray(0, maxBytes - Buffer.byteLength(end)).toString('utf8');
  return { text: `${kept.replace(/\ufffd+$/, '')}${end}`, cut: true };
}

/** Texts of the schema are a model's reading, too. Names of members stay: they are sent as they are. */
function cleaned(value: unknown, clean: (text: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => cleaned(one, clean));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      (key === 'description' || key === 'title') && typeof member === 'string' ? clean(member) : cleaned(member, clean),
    ]),
  );
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
