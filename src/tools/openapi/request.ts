import { isObject, type JsonObject } from '../../text/json-object.ts';
import { fail, isFailure, type ToolFailure } from '../failure.ts';
import type { Body } from '../web-arguments.ts';
import type { Members } from './members.ts';
import type { HookDefinition, Parameter } from './operations.ts';

/** A request as it is made of the arguments. */
export type HookRequest = {
  /** Path and query, behind the base URL; every value is encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body | null;
};

/**
 * Writes the arguments into a request (05 §9.5.2). Pure.
 * @param args all arguments, the operator's among them; what the operation does not declare goes into an object body, or
 * into the query where there is none
 */
export function requestOf(definition: HookDefinition, members: Members, args: JsonObject): HookRequest | ToolFailure {
  let { path } = definition;
  const query: string[] = [];
  const headers: Record<string, string> = {};
  for (const { argument, goes } of members.list) {
    if (goes.to !== 'parameter' || !given(args, argument)) continue;
    const { parameter } = goes;
    const value = args[argument];
    if (parameter.in === 'path') {
      const segment = pathSegment(parameter, value);
      if (segment === null) {
        const message = `"${argument}" must be one part of a path, not empty, "." or "..".`;
        return fail('invalid_arguments', message, { path: argument });
      }
      path = path.replaceAll(`{${parameter.name}}`, () => segment);
    } else if (parameter.in === 'query') {
      const taken = takenName(members, args, parameter, value);
      if (taken !== null) {
        const message = `"${argument}" must not hold "${taken}": it would be sent as another parameter of that name.`;
        return fail('invalid_arguments', message, { path: `${argument}.${taken}` });
      }
      query.push(...queryParts(parameter, value));
    } else {
      const text = plain(parameter, value);
      if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) {
        const message = `"${argument}" must be one line of Latin-1 text: it is sent as a header.`;
        return fail('invalid_arguments', message, { path: argument });
      }
      headers[parameter.name.toLowerCase()] = text;
    }
  }
  const rest = undeclared(members, args);
  const value = bodyValue(definition, members, args, rest);
  if (!isObject(value)) for (const [name, one] of rest) query.push(`${encode(name)}=${encode(textOf(one))}`);
  const body = value === undefined ? null : written(definition.requestBody?.media ?? '', value);
  if (isFailure(body)) return body;
  const separator = path.includes('?') ? '&' : '?';
  return { path: query.length === 0 ? path : `${path}${separator}${query.join('&')}`, headers, body };
}

const given = (args: JsonObject, argument: string): boolean =>
  Object.hasOwn(args, argument) && args[argument] !== undefined;

type Undeclared = readonly (readonly [string, unknown])[];

/** What the operator adds to every call, also to one that does not know it (05 §9.5.1). */
function undeclared(members: Members, args: JsonObject): Undeclared {
  const names = new Set(members.list.map(({ argument }) => argument));
  return Object.entries(args).filter(([name, value]) => !names.has(name) && value !== undefined);
}

/** @returns undefined when no body is sent */
function bodyValue({ requestBody }: HookDefinition, members: Members, args: JsonObject, rest: Undeclared): unknown {
  if (requestBody === null) return undefined;
  const whole = members.list.find(({ goes }) => goes.to === 'body');
  if (whole !== undefined) {
    const value = given(args, whole.argument) ? args[whole.argument] : undefined;
    if (rest.length === 0) return value;
    return isObject(value) || value === undefined ? { ...value, ...Object.fromEntries(rest) } : value;
  }
  const fields = members.list.flatMap(({ argument, goes }): (readonly [string, unknown])[] =>
    goes.to === 'field' && given(args, argument) ? [[goes.name, args[argument]]] : [],
  );
  const value = Object.fromEntries([...fields, ...rest]);
  return Object.keys(value).length === 0 && !requestBody.required ? undefined : value;
}

function written(media: string, value: unknown): Body | ToolFailure {
  if (media.endsWith('json')) return { bytes: Buffer.from(JSON.stringify(value)), type: media };
  if (isObject(value)) return { bytes: Buffer.from(formText(value)), type: media };
  return fail('invalid_arguments', '"body" must be an object: it is sent as a form.', { path: 'body' });
}

const formText = (value: JsonObject): string =>
  Object.entries(value)
    .flatMap(([name, member]) =>
      (Array.isArray(member) ? member : [member]).map((one) => `${encode(name)}=${encode(textOf(one))}`),
    )
    .join('&');

/** Every character that could mean something in a URL. */
const encode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** One segment that stays one (HOOK-004): null for what would change the shape of the path. */
function pathSegment(parameter: Parameter, value: unknown): string | null {
  const { style, explode } = parameter;
  const name = encode(parameter.name);
  const isList = Array.isArray(value);
  const keyed = isObject(value) && explode;
  const parts = keyed
    ? Object.entries(value).map(([key, member]) => `${encode(key)}=${encode(textOf(member))}`)
    : (isList ? value.map(textOf) : isObject(value) ? objectParts(value, false) : [textOf(value)]).map(encode);
  const plain = parts.join(',');
  if (plain === '') return null;
  const text =
    style === 'label'
      ? `.${parts.join(explode ? '.' : ',')}`
      : style !== 'matrix'
        ? plain
        : keyed || (isList && explode)
          ? parts.map((part) => `;${keyed ? part : `${name}=${part}`}`).join('')
          : `;${name}=${plain}`;
  return /^\.{1,2}$/.test(text) ? null : text;
}

const objectParts = (value: JsonObject, explode: boolean): readonly string[] =>
  Object.entries(value).flatMap(([name, member]) => (explode ? [`${name}=${textOf(member)}`] : [name, textOf(member)]));

/** A value in one text: of a header, or of a parameter with a media type. */
function plain(parameter: Parameter, value: unknown): string {
  if (parameter.style === 'content') return JSON.stringify(value);
  if (Array.isArray(value)) return value.map(textOf).join(',');
  return isObject(value) ? objectParts(value, parameter.explode).join(',') : textOf(value);
}

const separators: Readonly<Record<string, string>> = { spaceDelimited: '%20', pipeDelimited: '%7C' };

function queryParts(parameter: Parameter, value: unknown): readonly string[] {
  const { name, style, explode } = parameter;
  const pair = (key: string, text: string): string => `${encode(key)}=${encode(text)}`;
  if (style === 'content') return [pair(name, JSON.stringify(value))];
  if (Array.isArray(value)) {
    if (value.length === 0) return [];
    if (explode) return value.map((one) => pair(name, textOf(one)));
    return [`${encode(name)}=${value.map((one) => encode(textOf(one))).join(separators[style] ?? ',')}`];
  }
  if (!isObject(value)) return [pair(name, textOf(value))];
  if (style === 'deepObject') return deepPairs(name, value);
  if (explode) return Object.entries(value).map(([key, member]) => pair(key, textOf(member)));
  return [`${encode(name)}=${objectParts(value, false).map(encode).join(',')}`];
}

/**
 * The key of an object, sent as a parameter of its own, that a service may take for another one: for what the operator
 * adds (05 §9.5.1), or for what a rule looks at. Services differ in cases, and in what `name[x]` and `name.x` mean.
 */
function takenName(members: Members, args: JsonObject, parameter: Parameter, value: unknown): string | null {
  const { name: own, style, explode } = parameter;
  if (!isObject(value) || !explode || style === 'content' || style === 'deepObject') return null;
  const base = (name: string): string => name.toLowerCase().replace(/[[.].*$/s, '');
  const declared = members.list.flatMap(({ goes }) =>
    goes.to === 'parameter' && goes.parameter.in === 'query' && goes.parameter.name !== own
      ? [goes.parameter.name]
      : [],
  );
  const names = new Set([...declared, ...undeclared(members, args).map(([name]) => name)].map(base));
  return Object.keys(value).find((key) => names.has(base(key))) ?? null;
}

/** `filter[a][b]=1`; the brackets belong to the style. */
function deepPairs(name: string, value: JsonObject): readonly string[] {
  return Object.entries(value).flatMap(([key, member]): readonly string[] => {
    const at = `${name}[${key}]`;
    if (Array.isArray(member)) return member.map((one) => `${deepName(at)}=${encode(textOf(one))}`);
    return isObject(member) ? deepPairs(at, member) : [`${deepName(at)}=${encode(textOf(member))}`];
  });
}

const deepName = (name: string): string => encode(name).replaceAll('%5B', '[').replaceAll('%5D', ']');
