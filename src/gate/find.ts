import { isAllowed } from '../chain/allowlist.ts';
import type { Evaluation, PolicyCall } from '../schema/policy.ts';
import type { CallRequest } from '../schema/protocol.ts';
import { readCall } from '../shell/read-line.ts';
import { parseArguments } from '../tools/arguments.ts';
import type { ArgumentRecord, Injected, Tool, ToolResult, ToolSite } from '../tools/tool.ts';
import type { GateRun } from './run.ts';

/** A call that ends before anybody decides: unknown, hidden, malformed, or impossible (04 §14.2, steps 1 to 4). */
export type Refused = {
  readonly kind: 'refused';
  readonly error: string;
  readonly message: string;
  readonly extra?: Readonly<Record<string, unknown>>;
};

export type Found = { readonly kind: 'found'; readonly tool: Tool; readonly tools: string; readonly name: string };

export type Prepared = {
  readonly kind: 'prepared';
  readonly found: Found;
  /** The final arguments: one object, made once, that is judged, shown and executed. */
  readonly args: unknown;
  readonly call: PolicyCall;
  /** The arguments as they are written down and shown: injected ones by name only. */
  readonly shown: ArgumentRecord;
  /** Names for which the model had a value of its own, in whose place the operator's is sent. */
  readonly dropped: readonly string[];
  readonly facts: unknown;
  readonly site: ToolSite;
  readonly cwd: string;
  readonly summary: string;
};

/** A call after the evaluator has looked at it. */
export type Judged = {
  readonly prepared: Prepared;
  readonly evaluation: Evaluation;
  readonly hash: string;
  /** Where its directory and its path led when it was judged. */
  readonly places: string;
  /** What its commands would start; null for one that nobody is asked about, or without commands. */
  readonly programs: string | null;
};

/** Resolves the name and checks the allowlists. */
export function findTool(run: GateRun, request: CallRequest): Found | Refused {
  const found = run.catalog.resolve(request.name, request.offered);
  if (found.kind === 'unknown') {
    const similar = found.similar.slice(0, 10);
    const near = similar.length === 0 ? '' : ` Near names: ${similar.join(', ')}.`;
    return {
      kind: 'refused',
      error: 'not_found',
      message: `There is no tool "${request.name.slice(0, 200)}".${near}`,
      extra: { similar },
    };
  }
  const { tools, tool: name } = found.tool.spec;
  const full = `${tools}.${name}`;
  if (request.hide.some((hidden) => hidden === full || hidden === name || hidden === request.name)) {
    return { kind: 'refused', error: 'hidden', message: `The tool ${full} is not available in this task.` };
  }
  const lists = request.direct ? [run.allow] : [run.allow, ...request.allow];
  if (lists.some((list) => list !== null && !isAllowed(list, tools, name))) {
    return { kind: 'refused', error: 'not_allowed', message: `The tool ${full} is outside this task's allowlist.` };
  }
  return { kind: 'found', tool: found.tool, tools, name };
}

/** Checks the arguments and runs the tool's precheck: a call that can never run is refused before a person is asked. */
export async function prepareCall(run: GateRun, request: CallRequest, found: Found): Promise<Prepared | Refused> {
  const { tool, tools, name } = found;
  await tool.load?.();
  const parsed = parseArguments(tool, request.arguments, request.direct);
  if (!parsed.ok)
    return { kind: 'refused', error: 'invalid_arguments', message: parsed.message, extra: { path: parsed.path } };
  const injected = tool.inject?.(parsed.record) ?? { args: parsed.record, hidden: [] };
  if ('ok' in injected) return refusedBy(injected);
  const args = tool.inject === undefined ? parsed.args : injected.args;
  const site: ToolSite = {
    run_id: run.ref.run_id,
    call_id: request.call_id,
    scope: run.scope,
    root: run.root,
    confined: run.confined,
    home: run.home,
    limits: request.limits[tools] ?? (tools === 'webhook' ? (request.limits['web'] ?? {}) : {}),
    direct: request.direct,
    command: tools === 'local_shell' ? await readCall(parsed.record) : null,
  };
  const prepared = await tool.prepare(args, site, run.environment);
  if (!prepared.ok) return refusedBy(prepared);
  return {
    kind: 'prepared',
    found,
    args,
    call: { tools, tool: name, args: injected.args },
    shown: shownArguments(injected),
    dropped: injected.hidden.filter((hidden) => Object.hasOwn(parsed.record, hidden)),
    facts: prepared.facts,
    site,
    cwd: prepared.cwd,
    summary: prepared.summary,
  };
}

const refusedBy = ({ error, message, extra }: Extract<ToolResult, { ok: false }>): Refused => ({
  kind: 'refused',
  error,
  message,
  ...(extra === undefined ? {} : { extra }),
});

function shownArguments({ args, hidden }: Injected): ArgumentRecord {
  if (hidden.length === 0) return args;
  return { ...args, ...Object.fromEntries(hidden.map((name) => [name, '(injected)'])) };
}
