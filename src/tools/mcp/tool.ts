import { define, type Struct } from 'superstruct';
import { offeredDefinition } from '../definition.ts';
import { fail, type ToolFailure } from '../failure.ts';
import { summaryLine } from '../files/subject.ts';
import { type JsonCheck, jsonCheck } from '../json-check.ts';
import { refusingTool } from '../source.ts';
import { type ArgumentRecord, defineTool, type Injected, type Tool } from '../tool.ts';
import type { Progress } from './client.ts';
import type { Connection } from './connection.ts';
import type { Definition } from './definition.ts';
import { readFailure, readResult, unavailable } from './result.ts';

/** A registered server as its tools need it. */
export type McpServer = {
  readonly name: string;
  /** As it was registered: `${env:NAME}` is replaced when a call is made. */
  readonly inject: Readonly<Record<string, string>>;
  readonly callTimeoutMs: number;
  readonly signsIn: boolean;
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
  const offered = offeredDefinition(said.at(-1) ?? '', withoutMembers(definition.inputSchema, hidden));
  if (!offered.ok) {
    return refusingTool(name, 'unavailable', `${name.tools}.${name.tool} is not offered: ${offered.reason}.`);
  }
  return defineTool<ArgumentRecord, null>({
    spec: { ...name, description: offered.description, input_schema: offered.schema, read_only: false },
    ...checkedArguments(offered.schema, hidden),
    inject: (record) => injected(server, definition, record, hidden),
    prepare(args, site) {
      const shown = { ...args, ...Object.fromEntries([...hidden].map((key) => [key, '(injected)'])) };
      return { ok: true, facts: null, cwd: site.root, summary: summaryLine(JSON.stringify(shown)) };
    },
    async execute(args, context) {
      const end = await server.call(definition.name, args, {
        signal: context.signal,
        onProgress: (progress) => context.output('progress', progressLine(progress)),
      });
      switch (end.kind) {
        case 'result':
          return readResult(end.result, context);
        case 'failed':
          return end.refused
            ? readFailure({ kind: 'auth', reason: end.reason }, server.name, server)
            : unavailable(server.name, end.reason);
        default:
          return readFailure(end, server.name, server);
      }
    },
  });
}

/** Arguments are held against the schema; what checks them is loaded by the first call. */
function checkedArguments(
  schema: Readonly<Record<string, unknown>>,
  hidden: ReadonlySet<string>,
): Pick<Tool<ArgumentRecord>, 'args' | 'load'> {
  let check: JsonCheck | null = null;
  const args: Struct<ArgumentRecord, null> = define<ArgumentRecord>('object', (value) => {
    if (check === null) return 'must be checked against a schema that was not loaded';
    // A model's value for a hidden name is dropped, so it is not held against anything. The reader has made an object.
    const fault = check(withoutKeys(value as ArgumentRecord, hidden));
    return fault === null ? true : [{ path: [...fault.path], type: fault.type, message: fault.message }];
  });
  return {
    args,
    async load() {
      check ??= await jsonCheck(schema);
    },
  };
}

const withoutKeys = (record: ArgumentRecord, names: ReadonlySet<string>): ArgumentRecord =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.has(name)));

/** The schema that a model sees: hidden names are neither described nor required (05 §10.5.3). */
export function withoutMembers(schema: ArgumentRecord, hidden: ReadonlySet<string>): ArgumentRecord {
  if (hidden.size === 0) return schema;
  const { properties, required } = schema;
  return {
    ...schema,
    ...(isMembers(properties) ? { properties: withoutKeys(properties, hidden) } : {}),
    ...(Array.isArray(required) ? { required: required.filter((name) => !hidden.has(String(name))) } : {}),
  };
}

const isMembers = (value: unknown): value is ArgumentRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function injected(
  server: McpServer,
  { inputSchema }: Definition,
  record: ArgumentRecord,
  hidden: ReadonlySet<string>,
): Injected | ToolFailure {
  if (hidden.size === 0) return { args: record, hidden: [] };
  const args: Record<string, unknown> = { ...withoutKeys(record, hidden) };
  const properties = isMembers(inputSchema['properties']) ? inputSchema['properties'] : {};
  for (const [key, text] of Object.entries(server.inject)) {
    const found = server.expand(text, `${server.name}.${key}`);
    if (found.kind === 'missing') {
      return fail(
        'missing_secret',
        `The variable ${found.variable}, which the server "${server.name}" needs, is not set. The operator sets it and starts anew.`,
      );
    }
    const property = properties[key];
    args[key] = converted(found.value, isMembers(property) ? property['type'] : undefined);
  }
  return { args, hidden: [...hidden] };
}

/** A registered value is text; the server may have declared something else. */
function converted(text: string, type: unknown): unknown {
  const types = Array.isArray(type) ? type : [type];
  if (types.includes('string') || type === undefined) return text;
  try {
    const value: unknown = JSON.parse(text);
    const kind = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
    const fits = types.includes(kind) || (kind === 'number' && types.includes('integer') && Number.isInteger(value));
    return fits ? value : text;
  } catch {
    return text;
  }
}

const progressLine = ({ progress, total, message }: Progress): string => {
  const amount = total === undefined ? String(progress) : `${progress}/${total}`;
  return `${message === undefined ? amount : `${amount} ${message.slice(0, 500)}`}\n`;
};
