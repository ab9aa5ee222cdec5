import { enums, object, optional, string } from 'superstruct';
import { createEgress, type Egress } from './egress.ts';
import { fail, isFailure } from './failure.ts';
import { bytes, inputSchema, json, own } from './input-schema.ts';
import { defineTool, type Tool } from './tool.ts';
import {
  bodyOf,
  type Headers,
  headersFault,
  headersOf,
  headersStruct,
  inputBody,
  isQuery,
  type Query,
  queryStruct,
} from './web-arguments.ts';
import { prepareCall, previewCall, type WebFacts } from './web-call.ts';
import { createSender, type Send } from './web-send.ts';

export type WebDeps = {
  /** Config `web-private-hosts`: `host` or `host:port`. */
  readonly privateHosts: readonly string[];
  /** Config `web-timeout`: for one call, redirects and body included. */
  readonly timeoutMs: number;
  /** Config `web-proxy`; null: none. Proxy variables of the environment are ignored. */
  readonly proxy: string | null;
  /** `reins/<version>`. */
  readonly userAgent: string;
  /** Ports of the listeners of this product, which no call reaches. */
  readonly ownPorts?: () => readonly number[];
};

const maxUrlBytes = 8192;
/** The six tools of `web`, and `webhook` (05 §5). */
export function createWebTools(deps: WebDeps): readonly Tool[] {
  const egress = createEgress({
    privateHosts: deps.privateHosts,
    ownPorts: deps.ownPorts ?? (() => []),
    async lookup(host) {
      const { lookup } = await import('node:dns/promises');
      return lookup(host, { all: true, verbatim: true });
    },
  });
  const send = createSender(deps, egress);
  return [
    readTool('web_get', 'GET', egress, send),
    readTool('web_head', 'HEAD', egress, send),
    bodyTool('web_post', 'POST', egress, send),
    bodyTool('web_put', 'PUT', egress, send),
    bodyTool('web_patch', 'PATCH', egress, send),
    readTool('web_delete', 'DELETE', egress, send),
    webhook(egress, send),
  ];
}

const urlText = () => bytes(string(), 1, maxUrlBytes);
const objectOrText = [{ type: 'object' }, { type: 'string' }];
const notes = {
  url: { description: 'The whole URL, with http:// or https://.', minLength: 1 },
  query: { description: 'Query parameters to add: name to text, number, boolean or a list of these.', type: 'object' },
  headers: { description: 'Request headers: name to text.', type: 'object', additionalProperties: { type: 'string' } },
};

type ReadArgs = {
  url: string;
  query?: Query | undefined;
  headers?: Headers | undefined;
  format?: 'text' | 'raw' | undefined;
};

function readTool(tool: string, method: 'GET' | 'HEAD' | 'DELETE', egress: Egress, send: Send): Tool {
  const common = { url: urlText(), query: optional(queryStruct()), headers: optional(headersStruct()) };
  const withFormat = object({ ...common, format: optional(enums(['text', 'raw'])) });
  const plain = object(common);
  const what = {
    GET: 'Fetches a page or a document',
    HEAD: 'Fetches the headers of a URL',
    DELETE: 'Sends a DELETE request',
  };
  const formatNote = { description: 'text: HTML is reduced to text. raw: as it came.', default: 'text' };
  const name = { tools: 'web', tool };
  return defineTool<ReadArgs, WebFacts>({
    spec: {
      ...name,
      description: `${what[method]} over HTTP. Private addresses are not reached.`,
      input_schema:
        method === 'GET' ? inputSchema(withFormat, { ...notes, format: formatNote }) : inputSchema(plain, notes),
      read_only: method !== 'DELETE',
    },
    args: method === 'GET' ? withFormat : plain,
    prepare: ({ url, query, headers, format = 'text' }, site) =>
      prepareCall({ url, query, headers: headers ?? {}, method, body: null, format }, site, egress),
    preview: (_args, facts) => previewCall(facts),
    execute: (args, context) => send(context, args, name),
  });
}

type BodyArgs = ReadArgs & { body: unknown; content_type?: string | undefined };

function bodyTool(tool: string, method: 'POST' | 'PUT' | 'PATCH', egress: Egress, send: Send): Tool {
  const args = object({
    url: urlText(),
    query: optional(queryStruct()),
    headers: optional(headersStruct()),
    body: optional(json()),
    content_type: optional(bytes(string(), 1, 200)),
  });
  const name = { tools: 'web', tool };
  return defineTool<BodyArgs, WebFacts>({
    spec: {
      ...name,
      description: `Sends a ${method} request over HTTP. Redirects are not followed; private addresses are not reached.`,
      input_schema: inputSchema(args, {
        ...notes,
        body: { description: 'A text, or any JSON value.' },
        content_type: { description: 'Default: application/json for JSON, text/plain for a text.' },
      }),
      read_only: false,
    },
    args,
    prepare({ url, query, headers, body, content_type }, site) {
      const typed = content_type === undefined ? true : /^[\x20-\x7e]+$/.test(content_type);
      if (!typed) return fail('invalid_arguments', '"content_type" must be plain text.', { path: 'content_type' });
      const sent = body === undefined ? null : bodyOf(body, content_type);
      return prepareCall({ url, query, headers: headers ?? {}, method, body: sent, format: 'raw' }, site, egress);
    },
    preview: (_args, facts) => previewCall(facts),
    execute: (given, context) => send(context, given, name),
  });
}

type HookArgs = {
  url: string;
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | undefined;
  headers?: Headers | string | undefined;
  query?: Query | string | undefined;
  body: unknown;
  input: unknown;
};

function webhook(egress: Egress, send: Send): Tool {
  const args = object({
    url: urlText(),
    method: optional(enums(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])),
    headers: optional(own<Headers | string>('headers', (value) => typeof value === 'string' || headersFault(value))),
    query: optional(
      own<Query | string>(
        'query',
        (value) => typeof value === 'string' || isQuery(value) || 'must be an object or query text',
      ),
    ),
    body: optional(json()),
    input: optional(json()),
  });
  const name = { tools: 'webhook', tool: 'webhook' };
  return defineTool<HookArgs, WebFacts>({
    spec: {
      ...name,
      description: 'Calls a webhook. Without body, input is sent: JSON as it is, other text as {"message": text}.',
      input_schema: inputSchema(args, {
        url: notes.url,
        method: { description: 'The HTTP method.', default: 'POST' },
        headers: { description: 'Request headers: an object, or its JSON text.', anyOf: objectOrText },
        query: { description: 'Query parameters: an object, or query text.', anyOf: objectOrText },
        body: { description: 'A text, or any JSON value.' },
        input: { description: 'What is sent when there is no body.' },
      }),
      read_only: false,
    },
    args,
    prepare({ url, method = 'POST', headers, query, body, input }, site) {
      const checked = headersOf(headers);
      if (isFailure(checked)) return checked;
      if (method === 'GET' && body !== undefined) {
        return fail('invalid_arguments', '"body" cannot be sent with GET.', { path: 'body' });
      }
      const sent =
        body !== undefined ? bodyOf(body) : input === undefined || method === 'GET' ? null : inputBody(input);
      if (sent === null && (method === 'POST' || method === 'PUT' || method === 'PATCH')) {
        return fail('invalid_arguments', `A ${method} needs "body" or "input".`, { path: 'body' });
      }
      return prepareCall({ url, query, headers: checked, method, body: sent, format: 'raw' }, site, egress);
    },
    preview: (_args, facts) => previewCall(facts),
    execute: (given, context) => send(context, given, name),
  });
}
