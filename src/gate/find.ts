import { isAllowed, isHidden } from '../chain/allowlist.ts';
import type { CallRequest } from '../schema/protocol.ts';
import { readCall } from '../shell/read-line.ts';
import { parseArguments } from '../tools/arguments.ts';
import type { ArgumentRecord, Injected, ToolResult, ToolSite } from '../tools/tool.ts';
import type { GateRun } from './run.ts';
import type { Found, GateCall, Prepared, Refused } from './stages.ts';

/** Resolves the name and checks the allowlists. */
export function findTool(run: GateRun, request: CallRequest): Found | Refused {
  const found = run.catalog.resolve(request.name, request.offered);
  if (found.kind === 'unknown') {
    const { similar } = found;
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
  if (request.hide.includes(request.name) || isHidden(request.hide, tools, name)) {
    return { kind: 'refused', error: 'hidden', message: `The tool ${full} is not available in this task.` };
  }
  // The author of a `tools` task has named the tool himself.
  if (!request.direct && request.allow.some((list) => list !== null && !isAllowed(list, tools, name))) {
    return { kind: 'refused', error: 'not_allowed', message: `The tool ${full} is outside this task's allowlist.` };
  }
  return { kind: 'found', tool: found.tool, tools, name };
}

/** Checks the arguments and runs the tool's precheck: a call that can never run is refused before a person is asked. */
export async function prepareCall({ run, request, found }: GateCall): Promise<Prepared | Refused> {
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
    ...(request.ask_only === true ? { foreseen: run.foreseen } : {}),
  };
  const prepared = await tool.prepare(args, site, run.environment);
  if (!prepared.ok) return refusedBy(prepared);
  return {
    kind: 'prepared',
    args,
    call: { tools, tool: name, args: injected.args },
    shown: shownArguments(injected),
    dropped: Object.keys(parsed.record).filter(
      (given) => injected.hidden.includes(given) || !Object.hasOwn(injected.args, given),
    ),
    facts: prepared.facts,
    looked: prepared.looked ?? null,
    ...(prepared.leaves === undefined ? {} : { leaves: prepared.leaves }),
    meant: prepared.meant ?? null,
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
