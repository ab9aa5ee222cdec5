import { isObject } from './json-object.ts';

type Schema = Readonly<Record<string, unknown>>;

const choices = ['allOf', 'anyOf', 'oneOf'] as const;
/** What services refuse where the arguments of a tool are described as a whole, and with it the whole request. */
const refusedAtTop: ReadonlySet<string> = new Set([...choices, 'not', 'enum', 'const']);

/**
 * The JSON schema of a tool's arguments as services take it: one of an object, with the members of all branches that stand
 * at its top. It allows no less than the one it is made of, which is what a call is held against.
 */
export function objectSchema(schema: Schema): Schema {
  const branches = choices.flatMap((name) => schemasIn(schema[name]));
  const required = new Set([schema, ...schemasIn(schema['allOf'])].flatMap((one) => listIn(one['required'])));
  // Closed or open is a word about the members that stand beside it, not about those of the branches.
  const left = (name: string): boolean =>
    refusedAtTop.has(name) || (branches.length > 0 && name === 'additionalProperties');
  return {
    ...Object.fromEntries(Object.entries(schema).filter(([name]) => !left(name))),
    type: 'object',
    properties: Object.fromEntries([...branches, schema].flatMap(membersOf)),
    ...(required.size === 0 && schema['required'] === undefined ? {} : { required: [...required] }),
  };
}

const membersOf = ({ properties }: Schema): readonly [string, unknown][] =>
  isObject(properties) ? Object.entries(properties) : [];

const schemasIn = (value: unknown): readonly Schema[] => listIn(value).filter(isObject);

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
