import { keep } from './encode.ts';
import type { ModelRequest } from './model.ts';
import type { ToolSpec } from '../schema/message.ts';
import { wireName } from '../text/wire-name.ts';
import { argumentsSchema } from './tool-schema.ts';

/** Tool names of one request, as a model service accepts them, and back (05 §1.2, 08 §10). */
export type WireNames = {
  /** The wire name of an engine name; names of the history that are not offered go through the same function. */
  toWire(engineName: string): string;
  /** The engine name of a wire name, also where marks of a model's format stand behind it; any other is unchanged. */
  toEngine(name: string): string;
};

const maxLength = 64;

const known = new WeakMap<readonly ToolSpec[], WireNames>();

/** The map of one list of tools, made once for each list. It does not depend on the order of `tools`. */
export async function wireNames(tools: readonly ToolSpec[]): Promise<WireNames> {
  const before = known.get(tools);
  if (before !== undefined) return before;
  const made = await makeNames(tools);
  known.set(tools, made);
  return made;
}

async function makeNames(tools: readonly ToolSpec[]): Promise<WireNames> {
  // Loaded here so that `toWire` can stay synchronous; it costs nothing where TLS or an id has loaded it before.
  const { createHash } = await import('node:crypto');
  const hash = (name: string): string => createHash('sha256').update(name).digest('hex');
  const toWire = new Map<string, string>();
  for (const { tools: provider, tool } of tools) {
    const name = `${provider}.${tool}`;
    toWire.set(name, baseName(name, hash));
  }
  // 4 digits tell two names apart; more are taken only if they do not.
  for (const digits of [4, 8, 16, 32]) {
    const shared = sharedValues(toWire);
    if (shared.size === 0) break;
    for (const [name, wire] of toWire) {
      if (shared.has(wire))
        toWire.set(name, `${baseName(name, hash).slice(0, 63 - digits)}_${hash(name).slice(0, digits)}`);
    }
  }
  const toEngine = new Map([...toWire].map(([name, wire]) => [wire, name]));
  return {
    toWire: (name) => {
      const known = toWire.get(name);
      if (known !== undefined) return known;
      const wire = baseName(name, hash);
      toWire.set(name, wire);
      return wire;
    },
    toEngine: (name) => toEngine.get(name) ?? toEngine.get(withoutMarks(name)) ?? name,
  };
}

/** Servers of gpt-oss models leave marks of its format behind a name (`read<|channel|>commentary`). */
const withoutMarks = (name: string): string => name.replace(/<\|.*$/s, '').trim();

/** The prefix comes before the cut, so that no name is longer than 64. */
function baseName(name: string, hash: (name: string) => string): string {
  const led = wireName(name);
  return led.length <= maxLength ? led : `${led.slice(0, 55)}_${hash(name).slice(0, 8)}`;
}

function sharedValues(names: ReadonlyMap<string, string>): ReadonlySet<string> {
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const wire of names.values()) {
    if (seen.has(wire)) shared.add(wire);
    seen.add(wire);
  }
  return shared;
}

type FunctionTool = {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description: string; readonly parameters: object };
};

const functions = new WeakMap<WireNames, Map<boolean, readonly FunctionTool[]>>();
const flat = new WeakMap<readonly FunctionTool[], readonly object[]>();

/** Where a service limits a description, it is to this. */
const shortDescription = 1024;

/**
 * The tools of a request in the `function` form, which OpenAI's and Ollama's wires share. `names` are those of its tools.
 * @param short cuts descriptions to what the strictest service takes
 */
export function functionTools(request: ModelRequest, names: WireNames, short = false): readonly FunctionTool[] {
  const before = functions.get(names) ?? new Map<boolean, readonly FunctionTool[]>();
  const written = before.get(short);
  if (written !== undefined) return written;
  const made = request.tools.map(
    (tool): FunctionTool => ({
      type: 'function',
      function: {
        name: names.toWire(`${tool.tools}.${tool.tool}`),
        description: short ? cutTo(tool.description, shortDescription) : tool.description,
        parameters: argumentsSchema(tool.input_schema),
      },
    }),
  );
  functions.set(names, before.set(short, keep(made)));
  return made;
}

/**
 * The same without the object in between, as the Responses API has it. Not strict, which is what it takes a tool for that
 * says nothing: that allows no optional argument.
 */
export function flatTools(request: ModelRequest, names: WireNames, short: boolean): readonly object[] {
  const tools = functionTools(request, names, short);
  const written = flat.get(tools);
  if (written !== undefined) return written;
  const made = keep(tools.map((tool) => ({ type: tool.type, ...tool.function, strict: false })));
  flat.set(tools, made);
  return made;
}

const cutTo = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
