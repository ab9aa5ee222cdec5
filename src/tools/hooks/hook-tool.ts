import type { Definition } from '../../schema/tool-sources.ts';
import { offeredDefinition } from '../definition.ts';
import { parseTarget, type Target } from '../egress.ts';
import { fail, isFailure, type ToolFailure } from '../failure.ts';
import { summaryLine } from '../files/subject.ts';
import { checkedArguments, injectedValue, missingSecret, standIns, withoutNames } from '../offered-arguments.ts';
import { inputSchemaOf, isHidden, type Member, type Members, membersOf } from '../openapi/members.ts';
import type { HookDefinition } from '../openapi/operations.ts';
import { type HookRequest, requestOf } from '../openapi/request.ts';
import { refusingTool } from '../source.ts';
import { type ArgumentRecord, defineTool, type Injected, type Prepared, type Tool } from '../tool.ts';
import { hiddenFailure, hookResult } from './hook-result.ts';
import { sendToService } from './hook-send.ts';
import { type HookPorts, type HookService, isCredentialHeader } from './hook-service.ts';

/** A call as it was checked and judged; registered headers are read when it is sent. */
type HookFacts = {
  readonly target: Target;
  readonly request: HookRequest;
  /** The URL with injected values hidden. */
  readonly shown: URL;
};

/** Longest answer of a service (05 §9.5.5). */
const maxResponseBytes = 4 * 1024 * 1024;

/** The tool of one operation of a registered service. */
export function hookTool(service: HookService, pinned: Definition, ports: HookPorts): Tool {
  // JSON of what `operationsOf` has made, accepted by the operator.
  const definition = pinned as unknown as HookDefinition;
  const name = { tools: service.name, tool: definition.name };
  const members = membersOf(definition);
  const hidden = new Set(Object.keys(service.inject));
  const schema = inputSchemaOf(members, hidden);
  const offered = offeredDefinition(definition.description, schema);
  if (!offered.ok)
    return refusingTool(name, 'unavailable', `${name.tools}.${name.tool} is not offered: ${offered.reason}.`);
  const checked = checkedArguments(schema, hiddenArguments(members, hidden));
  const { method } = definition;
  return defineTool<ArgumentRecord, HookFacts>({
    spec: {
      ...name,
      description: offered.description,
      input_schema: offered.schema,
      read_only: method === 'GET' || method === 'HEAD',
    },
    ...checked,
    inject: (record) => injected(service, members, record, ports),
    prepare(args, site): Prepared<HookFacts> {
      const missing = missingVariable(service, ports);
      if (missing !== null) return missing;
      const request = requestOf(definition, members, args);
      if (isFailure(request)) return request;
      const target = targetOf(service, request.path);
      if (isFailure(target)) return target;
      const fault = ports.egress.nameFault(target);
      if (fault !== null) return fault;
      const masked = requestOf(definition, members, shownArguments(service, members, args));
      const shown = new URL(service.url + (isFailure(masked) ? definition.path : masked.path));
      return {
        ok: true,
        facts: { target, request, shown },
        cwd: site.root,
        summary: summaryLine(`${method} ${shown.host}${decodeShown(shown.pathname + shown.search)}`),
      };
    },
    preview: (_args, { target, shown }) => ({
      url: {
        scheme: target.url.protocol.slice(0, -1),
        host: target.host,
        port: String(target.port),
        path: decodeShown(shown.pathname + shown.search),
        method,
      },
    }),
    async execute(_args, context) {
      const { target, request } = context.facts;
      const headers = registeredHeaders(service, ports);
      if (isFailure(headers)) return headers;
      const { timeoutMs } = service;
      const answer = await sendToService(
        {
          method,
          target,
          headers: { accept: 'application/json, */*;q=0.5', ...request.headers, ...headers.values },
          body: request.body,
          timeoutMs,
          maxBytes: maxResponseBytes,
          limit: `${timeoutMs} ms (the timeout of hook ${service.name})`,
        },
        ports,
        context.signal,
      );
      const hidden = [...headers.secrets, ...injectedValues(service, ports)];
      return isFailure(answer) ? hiddenFailure(answer, hidden) : hookResult(answer, method, hidden, context);
    },
  });
}

/** The names under which a hidden argument could come: that of the service, and that of the tool. */
const hiddenArguments = (members: Members, hidden: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...hidden, ...members.list.filter((one) => isHidden(one, hidden)).map(({ argument }) => argument)]);

/** Where an injected value goes: the member of that name, or one that the operation does not know (05 §9.5.1). */
const memberFor = (members: Members, key: string): Member | undefined =>
  members.list.find((member) => isHidden(member, new Set([key])));

function injected(
  service: HookService,
  members: Members,
  record: ArgumentRecord,
  ports: HookPorts,
): Injected | ToolFailure {
  const keys = Object.entries(service.inject);
  if (keys.length === 0) return { args: record, hidden: [] };
  const declared = new Set(members.list.map(({ argument }) => argument));
  const own = hiddenArguments(members, new Set(Object.keys(service.inject)));
  const args: Record<string, unknown> = {
    ...withoutNames(
      record,
      standIns(record, own, (name) => declared.has(name)),
    ),
  };
  const hidden: string[] = [];
  for (const [key, text] of keys) {
    const found = ports.expand(text, `${service.name}.${key}`);
    if (found.kind === 'missing') return missingSecret(found.variable, `hook ${service.name}`);
    const member = memberFor(members, key);
    const name = member?.argument ?? key;
    args[name] = injectedValue(found.value, member?.schema['type']);
    hidden.push(name);
  }
  return { args, hidden };
}

const injectedValues = (service: HookService, ports: HookPorts): readonly string[] =>
  Object.entries(service.inject).flatMap(([key, text]) => {
    const found = ports.expand(text, `${service.name}.${key}`);
    return found.kind === 'value' ? [found.value] : [];
  });

function shownArguments(service: HookService, members: Members, args: ArgumentRecord): ArgumentRecord {
  const names = Object.keys(service.inject).map((key) => memberFor(members, key)?.argument ?? key);
  return { ...args, ...Object.fromEntries(names.map((name) => [name, '(injected)'])) };
}

/** For a person's eye only: what would end a line or hide stays encoded. */
function decodeShown(path: string): string {
  return path.replaceAll('%28injected%29', '(injected)');
}

function missingVariable(service: HookService, ports: HookPorts): ToolFailure | null {
  const headers = registeredHeaders(service, ports);
  return isFailure(headers) ? headers : null;
}

type SentHeaders = { readonly values: Readonly<Record<string, string>>; readonly secrets: readonly string[] };

/** The headers of a service, their names in lower case, with the secrets in them; a failure where a secret is missing or fits no header. */
export function registeredHeaders(service: HookService, ports: Pick<HookPorts, 'expand'>): SentHeaders | ToolFailure {
  const values: Record<string, string> = {};
  const secrets: string[] = [];
  for (const [name, text] of Object.entries(service.headers)) {
    const found = ports.expand(text, `${service.name}.${name}`);
    if (found.kind === 'missing') return missingSecret(found.variable, `hook ${service.name}`);
    if (/[\r\n\0]|[^\t\x20-\x7e\x80-\xff]/.test(found.value)) {
      return fail(
        'missing_secret',
        `The value of header ${name} of hook ${service.name} is not one line of plain text.`,
      );
    }
    values[name.toLowerCase()] = found.value;
    if (isCredentialHeader(name) || text.includes('${env:')) secrets.push(found.value);
  }
  return { values, secrets };
}

/** The origin is the registered one, and so is the beginning of the path, whatever the rest is made of (05 §9.5.2). */
function targetOf(service: HookService, path: string): Target | ToolFailure {
  const target = parseTarget(service.url + path);
  const { origin, pathname } = new URL(service.url);
  const base = `${pathname.replace(/\/+$/, '')}/`;
  if (typeof target !== 'string' && target.url.origin === origin && `${target.url.pathname}/`.startsWith(base))
    return target;
  const why = typeof target === 'string' ? target : 'must stay below the registered one';
  return fail('invalid_arguments', `The URL of this call ${why}.`);
}
