import { isObject, type JsonObject } from '../../text/json-object.ts';
import type { ServiceDocument } from './read-document.ts';

/** The parameters of a Swagger 2.0 operation as 3.x has them: types in a schema, body and form fields in a body. */
export function swaggerParameters(
  { root }: ServiceDocument,
  given: readonly JsonObject[],
  operation: JsonObject,
): { readonly parameters: readonly JsonObject[]; readonly body: JsonObject | null } {
  // The operation's own parameters come later and win.
  const latest = new Map(given.map((one) => [`${String(one['in'])} ${String(one['name'])}`, one]));
  const all = [...latest.values()];
  const body = all.find((one) => one['in'] === 'body');
  const fields = all.filter((one) => one['in'] === 'formData');
  const parameters = all.filter((one) => one['in'] !== 'body' && one['in'] !== 'formData').map(parameterOf);
  const consumes = mediaTypes(operation['consumes']) ?? mediaTypes(root['consumes']) ?? ['application/json'];
  if (body !== undefined) {
    const { required, description, schema } = body;
    const content = Object.fromEntries(consumes.map((media) => [media, { schema }]));
    return { parameters, body: { required, description, content } };
  }
  return { parameters, body: fields.length === 0 ? null : formOf(fields, consumes) };
}

/** Files cannot be sent in a form of texts. */
function formOf(fields: readonly JsonObject[], consumes: readonly string[]): JsonObject {
  const hasFile = fields.some((one) => one['type'] === 'file');
  const urlencoded = 'application/x-www-form-urlencoded';
  const media = hasFile
    ? 'multipart/form-data'
    : consumes.includes(urlencoded)
      ? urlencoded
      : (consumes[0] ?? urlencoded);
  const required = fields.filter((one) => one['required'] === true).map((one) => String(one['name']));
  const properties = Object.fromEntries(
    fields.map((one) => [String(one['name']), { ...schemaOf(one), description: one['description'] }]),
  );
  const chosen = media === 'application/json' ? urlencoded : media;
  return { required: required.length > 0, content: { [chosen]: { schema: { type: 'object', properties, required } } } };
}

const mediaTypes = (value: unknown): readonly string[] | null => {
  const types = Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
  return types.length === 0 ? null : types;
};

const parameterKeys: ReadonlySet<string> = new Set(['name', 'in', 'description', 'required', 'collectionFormat']);

const schemaOf = (parameter: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(parameter).filter(([key]) => !parameterKeys.has(key)));

/** `collectionFormat` in the words of 3.x; without one, lists are joined by commas. */
function parameterOf(parameter: JsonObject): JsonObject {
  const { name, in: place, description, required, collectionFormat } = parameter;
  const common = { name, in: place, description, required, schema: isObject(parameter) ? schemaOf(parameter) : {} };
  if (place !== 'query') return common;
  switch (collectionFormat) {
    case 'multi':
      return { ...common, style: 'form', explode: true };
    case 'ssv':
      return { ...common, style: 'spaceDelimited', explode: false };
    case 'pipes':
      return { ...common, style: 'pipeDelimited', explode: false };
    default:
      return { ...common, style: 'form', explode: false };
  }
}
