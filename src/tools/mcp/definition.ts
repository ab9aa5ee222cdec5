import { type Infer, is, optional, record, refine, string, type, unknown } from 'superstruct';

const object = record(string(), unknown());
/** A name that can be shown, typed and compared: nothing invisible, no blanks. */
const name = refine(string(), 'name', (text) => /^[^\s\p{C}]{1,128}$/u.test(text));

/** A tool as its server describes it; these members are what a pin is of (05 §2.6.1). */
export const Definition = type({
  name,
  title: optional(string()),
  description: optional(string()),
  inputSchema: object,
  outputSchema: optional(object),
  annotations: optional(object),
});
export type Definition = Infer<typeof Definition>;

/** The members of a definition and nothing else; null for what is none. */
export function readDefinition(value: unknown): Definition | null {
  if (!is(value, Definition)) return null;
  const { title, description, inputSchema, outputSchema, annotations } = value;
  return {
    name: value.name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}
