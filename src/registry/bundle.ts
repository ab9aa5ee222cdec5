import type { RunEvent } from '../schema/event.ts';
import type { BackendView, ConfigEntry, DoctorReport } from '../schema/registry.ts';
import type { McpServerView } from '../schema/mcp-server.ts';
import type { HookView } from '../schema/tool-sources.ts';

/** One file of a support bundle. */
export type BundleFile = { readonly name: string; readonly text: string };

type DoctorInput = { readonly probe: boolean; readonly policy?: string | undefined };

export type BundleDeps = {
  doctor(input: DoctorInput): Promise<DoctorReport>;
  listConfig(): Promise<readonly ConfigEntry[]>;
  listBackends(): Promise<readonly BackendView[]>;
  listHooks(): Promise<readonly HookView[]>;
  listMcpServers(): Promise<readonly McpServerView[]>;
  readonly maskDeep: <T>(value: T) => T;
  readonly versions: Readonly<Record<string, string>>;
  readonly rowCounts: () => Readonly<Record<string, number>>;
  /** The latest events of all runs, oldest first. */
  readonly lastEvents: (limit: number) => readonly RunEvent[];
};

const logLines = 200;

/** What a service says of itself is no part of the set-up; it may be long. */
const withoutTools = <T extends HookView | McpServerView>(row: T) => ({
  ...row,
  tools: row.tools.length,
  drift: row.drift.length,
  ...('skipped' in row ? { skipped: row.skipped.length } : {}),
});

/**
 * What somebody who helps has to know of a set-up (06 §15): no messages, no arguments, no contents of files and no keys,
 * each of which is left out rather than masked.
 */
export async function supportBundle(deps: BundleDeps, input: DoctorInput): Promise<BundleFile[]> {
  const report = await deps.doctor(input);
  const { database } = report;
  const parts: readonly (readonly [name: string, value: unknown])[] = [
    ['doctor.json', report],
    ['versions.json', { ...deps.versions, schema: database.schema }],
    ['config.json', await deps.listConfig()],
    [
      'registered.json',
      {
        backends: await deps.listBackends(),
        hooks: (await deps.listHooks()).map(withoutTools),
        mcp_servers: (await deps.listMcpServers()).map(withoutTools),
      },
    ],
    ['database.json', { ...database, rows: deps.rowCounts() }],
  ];
  const clean = (value: unknown) => withoutQueries(deps.maskDeep(value));
  const log = deps.lastEvents(logLines).map((event) => `${JSON.stringify(clean(logLine(event)))}\n`);
  return [
    ...parts.map(([name, value]) => ({ name, text: `${JSON.stringify(clean(value), null, 2)}\n` })),
    { name: 'log.jsonl', text: log.join('') },
  ];
}

/** Members whose texts are words of the runtime or names that the operator gave, never what was said or read. */
const logged: ReadonlySet<string> = new Set([
  'action',
  'ask_id',
  'ask_kind',
  'backend',
  'bound',
  'by',
  'call_id',
  'chain_id',
  'chain_sha256',
  'class',
  'code',
  'finish_reason',
  'input_type',
  'kind',
  'level',
  'model',
  'output_type',
  'provider',
  'run_id',
  'run_kind',
  'session_id',
  'status',
  'surface',
  'task_handler',
  'task_id',
  'timestamp',
  'tools',
  'verdict',
]);

/** An event without what models, tools, files and people said in it; numbers, truths and words of the runtime stay. */
function logLine(event: RunEvent): Readonly<Record<string, unknown>> {
  const line: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(event)) {
    if (typeof value === 'number' || typeof value === 'boolean') line[name] = value;
    else if (typeof value === 'string' && logged.has(name)) line[name] = value;
  }
  // A tool that nobody registered is named by the model alone.
  if ('tool' in event && event.tools !== '') line['tool'] = event.tool;
  if ('error' in event && event.error !== undefined) line['error'] = errorClass(event.error);
  return line;
}

const errorClass = (error: string | { readonly class: string }): string | null => {
  if (typeof error !== 'string') return error.class;
  return /^[a-z_]{1,40}$/.test(error) ? error : null;
};

/** What stands behind the `?` of an address may be a key, whatever its name is. */
function withoutQueries(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/(\bhttps?:\/\/[^\s?#"'<>]{1,2048}\?)[^\s#"'<>]+/gi, '$1•••');
  if (Array.isArray(value)) return value.map(withoutQueries);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutQueries(member)]));
}
