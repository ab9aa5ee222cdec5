import { define, refine, type Struct } from 'superstruct';

/** JSON Schema keywords of one argument that a struct cannot carry: description, bounds, default. */
export type ArgumentNotes = { readonly description: string } & Readonly<Record<string, unknown>>;

/**
 * The JSON Schema of an `object` struct for a model. Structs know types, members and choices; what refinements and own
 * structs mean is said by `notes`, whose keywords win.
 * @throws TypeError when a member has no type of JSON and its note names none: a mistake of ours.
 */
export function inputSchema<T>(
  struct: Struct<T, unknown>,
  notes: Readonly<Record<keyof T & string, ArgumentNotes>>,
): Readonly<Record<string, unknown>> {
  // True because `object` keeps the structs of its members as its schema.
  const members = struct.schema as Readonly<Record<string, Struct<unknown, unknown>>>;
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  for (const [name, member] of Object.entries(members)) {
    const note: ArgumentNotes | undefined = (notes as Readonly<Record<string, ArgumentNotes>>)[name];
    if (note === undefined) throw new TypeError(`the argument ${name} has no note`);
    properties[name] = { ...('type' in note || 'anyOf' in note ? {} : typeSchema(member, name)), ...note };
    if (!mayBeAbsent(member)) required.push(name);
  }
  return { type: 'object', properties, required, additionalProperties: false };
}

/** Asked of the struct itself: `is` would make an error with a stack for each required argument, at every start. */
const mayBeAbsent = (member: Struct<unknown, unknown>): boolean =>
  [...member.validator(undefined, { branch: [], path: [] })].length === 0;

function typeSchema(struct: Struct<unknown, unknown>, name: string): Readonly<Record<string, unknown>> {
  switch (struct.type) {
    case 'string':
    case 'number':
    case 'integer':
    case 'boolean':
      return { type: struct.type };
    case 'json':
      return {};
    case 'enums':
      // True because `enums` keeps its choices as the values of its schema; ours are strings.
      return { type: 'string', enum: Object.values(struct.schema as Readonly<Record<string, string>>) };
    case 'array':
      // True because `array` keeps the struct of its elements as its schema.
      return { type: 'array', items: typeSchema(struct.schema as Struct<unknown, unknown>, name) };
    default:
      throw new TypeError(`the argument ${name} of type ${struct.type} needs a type in its note`);
  }
}

/** A string of `min` to `max` bytes in UTF-8. */
export const bytes = <T extends string>(struct: Struct<T, null>, min: number, max: number): Struct<T, null> =>
  refine(struct, 'bytes', (value) => {
    const length = Buffer.byteLength(value);
    return (length >= min && length <= max) || `must be ${min} to ${max} bytes long, not ${length}`;
  });

/** A number within bounds. */
export const between = (struct: Struct<number, null>, min: number, max = Number.MAX_SAFE_INTEGER) =>
  refine(struct, 'between', (value) => {
    if (value >= min && value <= max) return true;
    if (max !== Number.MAX_SAFE_INTEGER) return `must be ${min} to ${max}`;
    return value < min ? `must be at least ${min}` : `must be at most ${max}`;
  });

/** Any JSON value, null included, but not nothing. */
export const json = (): Struct<unknown, null> => own('json', (value) => value !== undefined || 'must be given');

/** A struct of our own; `test` gives true or the end of a sentence that begins with the argument's name ("must be …"). */
export const own = <T>(name: string, test: (value: unknown) => true | string): Struct<T, null> =>
  define<T>(name, (value) => test(value));
