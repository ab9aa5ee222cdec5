import { isObject, type JsonObject } from '../../text/json-object.ts';
import { parseUrl } from '../../text/parse-url.ts';
import type { ServiceDocument } from './read-document.ts';
import { follow, Unusable } from './references.ts';
import { createSchemas, type Schemas } from './schema.ts';
import { swaggerParameters } from './swagger.ts';

/** A parameter as it is sent. */
export type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly style: string;
  readonly explode: boolean;
  readonly schema: JsonObject;
};

export type RequestBody = {
  readonly required: boolean;
  readonly media: string;
  readonly description: string;
  readonly schema: JsonObject;
};

/** What is pinned of a tool of a hook (05 §2.6.1): all that its calls are made of, references resolved. */
export type HookDefinition = {
  readonly method: string;
  readonly path: string;
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody: RequestBody | null;
};

export type Operations = {
  readonly definitions: readonly HookDefinition[];
  readonly skipped: readonly { readonly operation: string; readonly reason: string }[];
  /** Paths of the servers that the description names; calls do not go there (05 §9.3.5). */
  readonly serverPaths: readonly string[];
};

const methods = ['get', 'head', 'post', 'put', 'patch', 'delete'] as const;
/** Most operations of one service (05 §9.3.1). */
const maxOperations = 2000;
/** What watches a service calls it, not a model (05 §9.4.1). */
const watchPaths: ReadonlySet<string> = new Set(['health', 'healthz', 'ready', 'readyz', 'livez', 'metrics']);

/**
 * The operations of a document that can be tools, in its order, and the others with the reason (05 §9.4). Never throws.
 * @param specPath path of the description itself, which is no tool
 */
export function operationsOf(document: ServiceDocument, specPath: string | null): Operations {
  const definitions: HookDefinition[] = [];
  const skipped: { operation: string; reason: string }[] = [];
  const taken = new Set<string>();
  const schemas = createSchemas(document);
  const paths = isObject(document.root['paths']) ? document.root['paths'] : {};
  let count = 0;
  const skip = (operation: string, { message }: Unusable): void => {
    skipped.push({ operation: operation.slice(0, 300), reason: message });
  };
  for (const [path, item] of Object.entries(paths)) {
    if (!path.startsWith('/')) continue;
    const shared = attempt(() => follow(document.root, item));
    if (shared instanceof Unusable) {
      skip(path, shared);
      continue;
    }
    for (const method of methods) {
      const own = shared[method];
      if (!isObject(own)) continue;
      count += 1;
      const isTooMany = count > maxOperations;
      const definition = attempt(() => {
        if (isTooMany) throw new Unusable(`a service has at most ${maxOperations} operations here`);
        const reason = excluded(path, own, specPath);
        if (reason !== null) throw new Unusable(reason);
        return definitionOf(document, schemas, { method, path, shared, operation: own });
      });
      if (definition instanceof Unusable) skip(`${method.toUpperCase()} ${path}`, definition);
      else definitions.push({ ...definition, name: uniqueName(definition.name, taken) });
    }
  }
  return { definitions, skipped, serverPaths: serverPaths(document) };
}

/** What makes one operation unusable is a result: the others are usable all the same. */
function attempt<T>(body: () => T): T | Unusable {
  try {
    return body();
  } catch (error) {
    if (error instanceof Unusable) return error;
    throw error;
  }
}

function serverPaths({ root, version }: ServiceDocument): readonly string[] {
  if (version === '2.0') return [textOf(root['basePath']).replace(/\/+$/, '')];
  return listOf(root['servers']).flatMap((server) => {
    const url = isObject(server) ? textOf(server['url']) : '';
    if (url === '' || url.includes('{')) return [];
    return [parseUrl(url, 'http://x')?.pathname.replace(/\/+$/, '') ?? url];
  });
}

function excluded(path: string, operation: JsonObject, specPath: string | null): string | null {
  if (watchPaths.has(path.split('/').at(-1) ?? '')) return 'it is a check of the service itself';
  if (path === specPath) return 'it is the description itself';
  return operation['x-reins-ignore'] === true ? 'it has x-reins-ignore' : null;
}

type Described = {
  readonly method: (typeof methods)[number];
  readonly path: string;
  /** What all operations of the path have in common. */
  readonly shared: JsonObject;
  readonly operation: JsonObject;
};

function definitionOf(
  document: ServiceDocument,
  schemas: Schemas,
  { method, path, shared, operation }: Described,
): HookDefinition {
  const given = [...listOf(shared['parameters']), ...listOf(operation['parameters'])].map((one) =>
    follow(document.root, one),
  );
  const read =
    document.version === '2.0' ? swaggerParameters(document, given, operation) : { parameters: given, body: null };
  const parameters = parametersOf(schemas, read.parameters, path);
  const body =
    read.body ?? (operation['requestBody'] === undefined ? null : follow(document.root, operation['requestBody']));
  return {
    method: method.toUpperCase(),
    path,
    name: nameOf(operation, method, path),
    description: describe(operation),
    parameters,
    requestBody: body === null || method === 'get' || method === 'head' ? null : bodyOf(schemas, body),
  };
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** 05 §9.4.3: each once. */
function describe(operation: JsonObject): string {
  const summary = textOf(operation['summary']).trim();
  const description = textOf(operation['description']).trim();
  const text = description.startsWith(summary) ? description : [summary, description].filter(Boolean).join('\n');
  return operation['deprecated'] === true ? `(deprecated) ${text}`.trimEnd() : text;
}

/** What belongs to the connection, or is no name of a header: no description sets it (05 §5.2.2). */
const isReserved = (name: string): boolean =>
  !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) ||
  /^(?:host|content-length|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|cookie|origin|referer|proxy-.*|sec-.*)$/i.test(
    name,
  );

/** `Accept` and its like are the client's own (05 §9.4.4). */
const ownHeaders: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization']);

function parametersOf(schemas: Schemas, given: readonly JsonObject[], path: string): readonly Parameter[] {
  const found = new Map<string, Parameter>();
  for (const parameter of given) {
    const { name, in: place } = parameter;
    if (typeof name !== 'string' || name === '' || typeof place !== 'string')
      throw new Unusable('a parameter has no name');
    if (place === 'cookie') {
      if (parameter['required'] === true) throw new Unusable(`it needs the cookie ${name}, and cookies are not sent`);
      continue;
    }
    if (place !== 'path' && place !== 'query' && place !== 'header')
      throw new Unusable(`the place of ${name} is unknown`);
    if (place === 'header' && ownHeaders.has(name.toLowerCase())) continue;
    if (place === 'header' && isReserved(name)) {
      if (parameter['required'] === true) throw new Unusable(`it needs the header ${name}, which is not sent`);
      continue;
    }
    if (place === 'path' && !path.includes(`{${name}}`)) continue;
    // The operation's own come later and win.
    found.set(`${place} ${name}`, parameterOf(schemas, parameter, name, place));
  }
  const named = new Set([...found.values()].filter((one) => one.in === 'path').map((one) => one.name));
  for (const [, name = ''] of path.matchAll(/\{([^{}]*)\}/g)) {
    if (!named.has(name)) throw new Unusable(`its path parameter ${name} is not described`);
  }
  return [...found.values()];
}

function parameterOf(schemas: Schemas, given: JsonObject, name: string, place: Parameter['in']): Parameter {
  const style = textOf(given['style']) || (place === 'query' ? 'form' : 'simple');
  const content = isObject(given['content']) ? Object.entries(given['content'])[0] : undefined;
  const schema = content === undefined ? given['schema'] : isObject(content[1]) ? content[1]['schema'] : {};
  return {
    name,
    in: place,
    required: place === 'path' || given['required'] === true,
    description: textOf(given['description']).trim(),
    // A parameter with a media type is sent as text of that type.
    style: content === undefined ? style : 'content',
    explode: typeof given['explode'] === 'boolean' ? given['explode'] : style === 'form' || style === 'deepObject',
    schema: schemas(schema ?? {}),
  };
}

const isJson = (media: string): boolean => /^application\/(?:json|[^;]*\+json)(?:;|$)/i.test(media);
const isForm = (media: string): boolean => /^application\/x-www-form-urlencoded(?:;|$)/i.test(media);

/** JSON before a form; any other media type cannot be written from arguments (05 §9.4.5). */
function bodyOf(schemas: Schemas, body: JsonObject): RequestBody | null {
  const content = isObject(body['content']) ? Object.entries(body['content']) : [];
  const exact = content.find(([media]) => /^application\/json(?:;|$)/i.test(media));
  const found = exact ?? content.find(([media]) => isJson(media)) ?? content.find(([media]) => isForm(media));
  const required = body['required'] === true;
  if (found === undefined) {
    if (!required) return null;
    const types = content.map(([media]) => media).join(', ');
    throw new Unusable(`its body is ${types.slice(0, 100) || 'of no media type'}, which is not sent`);
  }
  const [media, value] = found;
  return {
    required,
    media: (media.split(';')[0] ?? '').trim().toLowerCase(),
    description: textOf(body['description']).trim(),
    schema: schemas(isObject(value) ? (value['schema'] ?? {}) : {}),
  };
}

/** The name of the tool that an operation becomes (05 §9.4.2). */
function nameOf(operation: JsonObject, method: string, path: string): string {
  for (const given of [operation['operationId'], operation['x-tool-name']]) {
    const name = safeName(textOf(given));
    if (name !== '') return name;
  }
  const parts = path.split('/').filter((part) => part !== '');
  const last = parts.at(-1);
  if (last === undefined) return `root_${method}`;
  const isParameter = (part: string): boolean => /[{}]/.test(part);
  if (!isParameter(last)) return safeName(`${last}_${method}`);
  const literal = parts.slice(0, -1).findLast((part) => !isParameter(part)) ?? 'root';
  return safeName(`${literal}_by_${last.replace(/[{}]/g, '')}_${method}`);
}

const maxName = 64;
const safeName = (text: string): string =>
  text
    .trim()
    .replace(/[^A-Za-z0-9_.-]/g, '_')
    .slice(0, maxName);

/** Equal names: the later ones get a number (05 §9.4.2). */
function uniqueName(name: string, taken: Set<string>): string {
  let unique = name;
  for (let number = 2; taken.has(unique); number += 1) {
    const tail = `_${number}`;
    unique = `${name.slice(0, maxName - tail.length)}${tail}`;
  }
  taken.add(unique);
  return unique;
}
