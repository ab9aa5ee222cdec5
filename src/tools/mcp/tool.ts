import { objectSchema } from '../../text/object-schema.ts';
import { offeredDefinition } from '../definition.ts';
import type { ToolFailure } from '../failure.ts';
import { summaryLine } from '../files/subject.ts';
import { checkedArguments, injectedValue, missingSecret, standIns, withoutNames } from '../offered-arguments.ts';
import { refusingTool } from '../source.ts';
import { type ArgumentRecord, defineTool, type Injected, type Tool } from '../tool.ts';
import type { Progress } from './client.ts';
import type { Connection } from './connection.ts';
import type { Credentials } from './credentials.ts';
import type { Definition } from './definition.ts';
import { readFailure, readResult, unavailable } from './result.ts';
import { isObject } from '../../text/json-object.ts';

/** A registered server as its tools need it. */
export type McpServer = {
  readonly name: string;
  /** Where it runs, and finds relative paths; null where it is not on this machine. */
  readonly directory: string | null;
  /** As it was registered: `${env:NAME}` is replaced when a call is made. */
  readonly inject: Readonly<Record<string, string>>;
  readonly credentials: Credentials;
  /** A registered value as it is sent; known to the mask from then on. */
  expand(text: string, label: string): Expanded;
  call: Connection['call'];
};

type Expanded =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'missing'; readonly variable: string };

/**
 * One tool of a server. What the server says of itself (that it only reads, say) counts for nothing (05 §1.3): each call
 * goes by itself, as one that changes something.
 */
export function mcpTool(server: McpServer, definition: Definition): Tool {
  const name = { tools: server.name, tool: definition.name };
  const hidden = new Set(Object.keys(server.inject));
  const said = [definition.title, definition.description].filter((text) => text !== undefined && text !== '');
  const schema = withoutMembers(definition.inputSchema, hidden);
  const offered = offeredDefinition(said.at(-1) ?? '', withoutMembers(objectSchema(definition.inputSchema), hidden));
  if (!offered.ok) {
    return refusingTool(name, 'unavailable', `${name.tools}.${name.tool} is not offered: ${offered.reason}.`);
  }
  return defineTool<ArgumentRecord, null>({
    spec: { ...name, description: offered.description, input_schema: offered.schema, read_only: false },
    ...checkedArguments(schema, hidden),
    inject: (record) => injected(server, definition, record, hidden),
    prepare(args, site) {
      const shown = { ...args, ...Object.fromEntries([...hidden].map((key) => [key, '(injected)'])) };
      return { ok: true, facts: null, cwd: server.directory ?? site.root, summary: summaryLine(JSON.stringify(shown)) };
    },
    async execute(args, context) {
      const end = await server.call(definition.name, args, {
        signal: context.signal,
        agreed: definition,
        onProgress: (progress) => context.output('progress', progressLine(progress)),
      });
      switch (end.kind) {
        case 'result':
          return readResult(end.result, context);
        case 'failed':
          return end.refused
            ? readFailure({ kind: 'auth', reason: end.reason }, server, definition.name)
            : unavailable(server.name, end.reason);
        default:
          return readFailure(end, server, definition.name);
      }
    },
  });
}

/** The schema that a model sees: hidden names are neither described nor required (05 §10.5.3). */
export function withoutMembers(schema: ArgumentRecord, hidden: ReadonlySet<string>): ArgumentRecord {
  if (hidden.size === 0) return schema;
  const { properties, required } = schema;
  return {
    ...schema,
    ...(isObject(properties) ? { properties: withoutNames(properties, hidden) } : {}),
    ...(Array.isArray(required) ? { required: required.filter((name) => !hidden.has(String(name))) } : {}),
  };
}

function injected(
  server: McpServer,
  { inputSchema }: Definition,
  record: ArgumentRecord,
  hidden: ReadonlySet<string>,
): Injected | ToolFailure {
  if (hidden.size === 0) return { args: record, hidden: [] };
  const properties = isObject(inputSchema['properties']) ? inputSchema['properties'] : {};
  const args: Record<string, unknown> = {
    ...withoutNames(
      record,
      standIns(record, hidden, (name) => Object.hasOwn(properties, name)),
    ),
  };
  for (const [key, text] of Object.entries(server.inject)) {
    const found = server.expand(text, `${server.name}.${key}`);
    if (found.kind === 'missing') {
      return missingSecret(found.variable, `the server "${server.name}"`);
    }
    const property = properties[key];
    args[key] = injectedValue(found.value, isObject(property) ? property['type'] : undefined);
  }
  return { args, hidden: [...hidden] };
}

const progressLine = ({ progress, total, message }: Progress): string => {
  const amount = total === undefined ? String(progress) : `${progress}/${total}`;
  return `${message === undefined ? amount : `${amount} ${message.slice(0, 500)}`}\n`;
};
