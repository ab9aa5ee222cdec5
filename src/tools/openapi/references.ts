import { isObject, type JsonObject } from '../../text/json-object.ts';

/** Why an operation is no tool. */
export class Unusable extends Error {}

/**
 * What a local reference leads to (05 §9.3.2). Nothing outside the document is ever read.
 * @throws Unusable for a reference that leaves the document or leads nowhere
 */
export function lookUp(root: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#/')) {
    throw new Unusable(`it refers to "${reference.slice(0, 100)}", which is outside the document and is not fetched`);
  }
  let value: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) {
      throw new Unusable(`it refers to "${reference.slice(0, 100)}", which is not in the document`);
    }
    // An own member was just found.
    value = (value as JsonObject)[name];
  }
  return value;
}

/** The object itself, or what its references lead to: for path items, parameters and bodies. @throws Unusable */
export function follow(root: JsonObject, value: unknown): JsonObject {
  let found = value;
  for (let steps = 0; steps < 16; steps += 1) {
    if (!isObject(found)) throw new Unusable('a part of it is no object');
    const { $ref } = found;
    if (typeof $ref !== 'string') return found;
    found = lookUp(root, $ref);
  }
  throw new Unusable('its references go round in a circle');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
