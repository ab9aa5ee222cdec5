import { finished } from 'node:stream';
import type { Struct } from 'superstruct';
import { checkInput } from '../client/check-input.ts';
import { fromAddress } from '../client/fields.ts';
import type { Routed } from '../client/operation.ts';
import { type RouteClient, type RouteName, routed } from '../client/routes.ts';
import type { Attachment } from '../client/routes/sessions.ts';
import { RuntimeError } from '../schema/errors.ts';
import type { KeptReply, RepeatRecords } from '../schema/repeats.ts';
import { checkAccess } from './access.ts';
import { documentBodyBytes } from './body.ts';
import { refuse } from './error-body.ts';
import { inFields } from './in-fields.ts';
import { cursorOfList, listParameters, markedCursor, pageOfList } from './list-page.ts';
import { createOnce } from './once.ts';
import { preconditionOf } from './precondition.ts';
import type { Call, Reply, Route } from './route.ts';

export type MountDeps = {
  readonly operations: RouteClient;
  readonly now: () => number;
  readonly repeats: RepeatRecords;
  /** A directory that is nobody's business over HTTP: messages call it by its usual name (09 §5.1). */
  readonly reinsHome: string;
};

/** An entry of the table whatever it takes and gives: its own structs say what passes. */
type AnyRouted = Routed<Readonly<Record<string, unknown>>, unknown>;

/** The routes of the table (09 §6.1): one for each entry, and no other way to an operation. */
export function mountOperations(deps: MountDeps): readonly Route[] {
  const ways = { heavy: createTurns(), once: createOnce(deps.repeats) };
  return (Object.keys(routed) as RouteName[]).map((name) => mountOperation(name, deps, ways));
}

/** At most two of the operations that look at everything run at once (09 §10.2), a file among them until it is sent. */
function createTurns() {
  let running = 0;
  return async (body: () => Promise<unknown>, { route }: AnyRouted, { response }: Call): Promise<unknown> => {
    if (running >= mostHeavy) throw refuse('busy', 'Two such requests are being answered already.', { retryAfterS: 1 });
    running += 1;
    const leave = (): void => {
      running -= 1;
    };
    if (route.form === 'attachment') {
      finished(response, leave);
      return body();
    }
    return body().finally(leave);
  };
}

const mostHeavy = 2;

/** What an operation takes, by name. */
type Members = ReadonlyMap<string, Struct>;

type Ways = { readonly heavy: ReturnType<typeof createTurns>; readonly once: ReturnType<typeof createOnce> };

function mountOperation(name: RouteName, deps: MountDeps, { heavy, once }: Ways): Route {
  // Entries differ in the types of their structs alone, and each is used with its own.
  const entry = routed[name] as unknown as AnyRouted;
  const { route, method, path } = entry;
  // As above: the operation of this name takes what its struct let through.
  const operation = deps.operations[name] as (input: unknown) => Promise<unknown>;
  // True because the inputs of the table are `object` structs, which keep their members.
  const members: Members = new Map(Object.entries((entry.input.schema ?? {}) as Readonly<Record<string, Struct>>));
  return {
    method,
    path,
    access: route.access,
    ...(route.form === 'attachment' ? { streams: true } : {}),
    ...(route.body === 'document' ? { maxBodyBytes: documentBodyBytes } : {}),
    async handle(call) {
      const input = checked(name, entry, members, call);
      checkClass(entry, input, call, deps.now());
      const answer = async () =>
        replyOf(entry, await (route.heavy ? heavy(() => operation(input), entry, call) : operation(input)), call.query);
      try {
        return await (route.repeatable ? once(call, async () => kept(await answer())) : answer());
      } catch (error) {
        throw withoutHome(inFields(error, bodyFields(entry)), deps.reinsHome);
      }
    },
  };
}

/** @throws RuntimeError unknown_field, invalid_body for what the body holds, invalid_parameter for the rest */
function checked(name: string, entry: AnyRouted, members: Members, call: Call): Readonly<Record<string, unknown>> {
  const given = assemble(entry, members, call);
  try {
    return checkInput(name, given, entry.input);
  } catch (error) {
    const param = error instanceof RuntimeError ? Reflect.get(Object(error.data), 'param') : undefined;
    const [member] = typeof param === 'string' ? param.split(/[.[]/) : [];
    const inBody = member === undefined || Object.hasOwn(Object(call.body), member) || isBodied(entry);
    if (!(error instanceof RuntimeError) || (inBody && !Object.hasOwn(call.params, member ?? ''))) throw error;
    throw refuse('invalid_parameter', error.message, typeof param === 'string' ? { param } : {});
  }
}

/** Members of the input that stand in the body. */
const bodyFields = (entry: AnyRouted): readonly string[] =>
  isBodied(entry)
    ? Object.keys((entry.input.schema ?? {}) as Readonly<Record<string, unknown>>).filter(
        (name) => !entry.path.includes(`{${name}}`) && !headerNames.has(name) && !entry.route.query.includes(name),
      )
    : [];

const isBodied = ({ method }: AnyRouted): boolean => method !== 'GET' && method !== 'DELETE';

/** A reply that is kept is JSON: nothing that creates or starts something answers with a file or a stream. */
function kept(reply: Reply): KeptReply {
  if (typeof reply === 'string' || 'text' in reply || 'pieces' in reply) throw new TypeError('only JSON can be kept');
  // The headers of operations are texts.
  return { headers: {}, json: undefined, ...reply } as KeptReply;
}

function withoutHome(error: unknown, home: string): unknown {
  if (!(error instanceof RuntimeError) || !error.message.includes(home)) return error;
  return new RuntimeError(error.code, error.message.replaceAll(home, '~/.reins'), { cause: error, data: error.data });
}

/** Members of the address, the query, the body and the headers as the one input of an operation. */
function assemble(entry: AnyRouted, members: Members, call: Call): Readonly<Record<string, unknown>> {
  const { route } = entry;
  const inPath = new Set(Object.keys(call.params));
  const bodied = isBodied(entry);
  const inQuery = (name: string): boolean =>
    members.has(name) && !inPath.has(name) && !headerNames.has(name) && (!bodied || route.query.includes(name));
  const said = (name: string, text: string): unknown => {
    const struct = members.get(name);
    return struct === undefined ? text : fromAddress(struct, text);
  };
  const query: Record<string, unknown> = {};
  for (const [name, value] of call.query) {
    if (route.form === 'items' && listParameters.includes(name)) continue;
    if (!inQuery(name)) throw refuse('invalid_parameter', `There is no parameter ${name} here.`, { param: name });
    if (Object.hasOwn(query, name)) throw refuse('invalid_parameter', `${name} is given twice.`, { param: name });
    query[name] = name === 'cursor' ? cursorOfList(entry.path, value) : said(name, value);
  }
  const body = bodyOf(call.body, bodied);
  for (const name of Object.keys(body)) {
    if (inPath.has(name) || headerNames.has(name) || route.query.includes(name)) {
      throw refuse('unknown_field', `${name} does not belong into the body.`, { param: name });
    }
  }
  const params = Object.fromEntries(Object.entries(call.params).map(([name, text]) => [name, said(name, text)]));
  return { ...body, ...query, ...params, ...preconditionOf(route.precondition, call.request.headers) };
}

const headerNames: ReadonlySet<string> = new Set(['if_match', 'if_none_match']);

function bodyOf(body: unknown, taken: boolean): Readonly<Record<string, unknown>> {
  if (body === undefined) return {};
  if (!taken) throw refuse('invalid_body', 'This takes no body.');
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return Object.fromEntries(Object.entries(body));
  throw refuse('invalid_body', 'The body must be an object.');
}

/** A stricter class that this input needs (09 §6). */
function checkClass({ route }: AnyRouted, input: Readonly<Record<string, unknown>>, call: Call, now: number): void {
  const access = route.accessFor?.(input) ?? null;
  if (access === null || call.principal === null) return;
  const refused = checkAccess({ access }, { kind: 'valid', principal: call.principal }, now);
  if (refused !== null) throw refused;
}

function replyOf({ route, path }: AnyRouted, output: unknown, query: URLSearchParams): Reply {
  const status = typeof route.status === 'number' ? route.status : route.status.of(output);
  const headers = route.headers?.(output) ?? {};
  if (status === 204) return { status, headers };
  if (route.form === 'attachment') return attachment(output as Attachment, headers);
  // What goes as items is an array.
  if (route.form === 'items') return { status, headers, json: pageOfList(output as readonly unknown[], query, path) };
  const next: unknown = Reflect.get(Object(output), 'next_cursor');
  const json = typeof next === 'string' ? { ...Object(output), next_cursor: markedCursor(path, next) } : output;
  return { status, headers, json };
}

function attachment({ file, content_type, pieces }: Attachment, headers: Readonly<Record<string, string>>): Reply {
  const plain = file.replace(/[^\w.-]/g, '_');
  const encoded = encodeURIComponent(file);
  return {
    status: 200,
    headers: { ...headers, 'content-disposition': `attachment; filename="${plain}"; filename*=UTF-8''${encoded}` },
    pieces,
    type: content_type,
  };
}
