import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { identityFact } from '../../src/gate/binaries.ts';
import type { ExecFact } from '../../src/schema/policy.ts';
import { readCall } from '../../src/shell/read-line.ts';
import { parseArguments } from '../../src/tools/arguments.ts';
import { createBuiltinTools } from '../../src/tools/builtin.ts';
import { type Catalog, createCatalog } from '../../src/tools/catalog.ts';
import { childEnvironment } from '../../src/tools/environment.ts';
import { createChangeJournal } from '../../src/tools/files/change-journal.ts';
import { createSpool } from '../../src/tools/spool.ts';
import type {
  ReadMark,
  ReadMarks,
  SeenFile,
  ToolEvent,
  ToolPorts,
  ToolResult,
  ToolSite,
} from '../../src/tools/tool.ts';
import findInLine from '../../workers/find-in-line.ts';
import { spawnTool } from '../../workers/spawn-tool.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';

type Verdict = 'allow' | 'approve' | 'deny';

export type CallOptions = {
  readonly limits?: Readonly<Record<string, string>>;
  readonly confined?: boolean;
  readonly direct?: boolean;
  readonly run?: string;
  readonly scope?: string;
  readonly call?: string;
  readonly signal?: AbortSignal;
  readonly parent?: Readonly<Record<string, string>>;
  readonly judge?: (tools: string, tool: string, args: Readonly<Record<string, unknown>>, seen?: SeenFile) => Verdict;
  /** Between the precheck and the execution: where an ask may wait for hours. */
  readonly meanwhile?: () => void;
};

/** Tools with real files, a real spool and real children; only the gate is left out. */
export type Bench = TempHome & {
  readonly catalog: Catalog;
  readonly events: ToolEvent[];
  readonly output: string[];
  readonly marks: Map<string, ReadMark>;
  call(name: string, args: unknown, options?: CallOptions): Promise<ToolResult>;
  /** The value of a success; throws what the error was. */
  value(name: string, args: unknown, options?: CallOptions): Promise<unknown>;
  /** The class of a failure, or `ok`. */
  error(name: string, args: unknown, options?: CallOptions): Promise<string>;
};

type BenchOptions = {
  readonly shell?: boolean;
  readonly privateHosts?: readonly string[];
  readonly ownPorts?: readonly number[];
  readonly timeoutMs?: number;
  readonly proxy?: string;
  /** In this thread unless given. */
  readonly findInLine?: ToolPorts['findInLine'];
};

export function createBench(options: BenchOptions = {}): Bench {
  const temp = tempHome();
  const stored = new Map<string, ReadMark>();
  const marks: ReadMarks = {
    get: (scope, path) => stored.get(`${scope} ${path}`) ?? null,
    put: (scope, path, mark) => void stored.set(`${scope} ${path}`, mark),
  };
  const tools = createBuiltinTools({
    shell: options.shell ?? true,
    shellTimeoutS: 120,
    marks,
    web: {
      privateHosts: options.privateHosts ?? [],
      timeoutMs: options.timeoutMs ?? 30_000,
      proxy: options.proxy ?? null,
      userAgent: 'reins/0.0.0',
      ownPorts: () => options.ownPorts ?? [],
    },
  });
  const catalog = createCatalog(tools);
  const events: ToolEvent[] = [];
  const output: string[] = [];
  const spool = createSpool({
    directory: join(temp.home, 'tool_output'),
    runsOf: (scope) => (scope === 'session' ? ['run_1', 'run_2'] : []),
    now: () => Date.now(),
  });
  const ports: ToolPorts = {
    spawn: runChild,
    findInLine: options.findInLine ?? ((search, line) => findInLine({ ...search, line })),
    marks,
    spool,
    journal: createChangeJournal({ directory: join(temp.home, 'tool_output'), key: () => new Uint8Array(32) }),
    lockPath: async () => () => {},
    now: () => Date.now(),
  };

  const call: Bench['call'] = async (name, args, more = {}) => {
    const found = catalog.resolve(name, []);
    if (found.kind === 'unknown') return { ok: false, error: 'not_found', message: 'no such tool' };
    const { tool } = found;
    const parsed = parseArguments(tool, typeof args === 'string' ? args : JSON.stringify(args), more.direct ?? false);
    if (!parsed.ok)
      return { ok: false, error: 'invalid_arguments', message: parsed.message, extra: { path: parsed.path } };
    const site: ToolSite = {
      run_id: more.run ?? 'run_1',
      call_id: more.call ?? 'call_1',
      scope: more.scope ?? 'session',
      root: realpathSync(temp.workspace),
      confined: more.confined ?? false,
      home: temp.home,
      limits: more.limits ?? {},
      direct: more.direct ?? false,
      command: name.startsWith('local_shell') ? await readCall(parsed.record) : null,
    };
    const environment = childEnvironment({
      parent: more.parent ?? { PATH: '/usr/bin:/bin', HOME: temp.home },
      allow: ['SHOWN'],
      marker: site.run_id,
      term: 'dumb',
    });
    const prepared = await tool.prepare(parsed.args, site, environment);
    if (!prepared.ok) return prepared;
    const exec = execOf(site, prepared.cwd, environment['PATH'] ?? '');
    more.meanwhile?.();
    return tool.execute(parsed.args, {
      ...site,
      facts: prepared.facts,
      exec,
      answer: null,
      signal: more.signal ?? new AbortController().signal,
      environment,
      ports,
      output: (_stream, text) => void output.push(text),
      emit: (event) => void events.push(event),
      judge: more.judge ?? (() => 'allow'),
    });
  };

  return {
    ...temp,
    catalog,
    events,
    output,
    marks: stored,
    call,
    async value(name, args, more) {
      const result = await call(name, args, more);
      if (!result.ok) throw new Error(`${result.error}: ${result.message}`);
      return result.value;
    },
    async error(name, args, more) {
      const result = await call(name, args, more);
      return result.ok ? 'ok' : result.error;
    },
  };
}

/** What the evaluator hands on: the program as PATH names it, with its identity. */
function execOf(site: ToolSite, cwd: string, path: string): ExecFact | null {
  const reading = site.command;
  if (reading === null || reading.form === 'none') return null;
  if (reading.form === 'sh') {
    return {
      form: 'sh',
      file: '/bin/sh',
      argv: ['/bin/sh', '-c', reading.line],
      env_set: {},
      env_clear: [],
      cwd,
      program: null,
    };
  }
  const [word = ''] = reading.words;
  const places = word.includes('/') ? [join(cwd, word)] : path.split(':').map((directory) => join(directory, word));
  for (const place of word.startsWith('/') ? [word] : places) {
    const stat = statSync(place, { bigint: true, throwIfNoEntry: false });
    if (stat?.isFile() !== true) continue;
    const real = realpathSync(place);
    const program = {
      word,
      real,
      ...identityFact(stat),
      ungrantable: null,
    };
    return { form: 'argv', file: real, argv: reading.words, env_set: {}, env_clear: [], cwd, program };
  }
  return { form: 'argv', file: null, argv: reading.words, env_set: {}, env_clear: [], cwd, program: null };
}

/** The spawn port, without the process of its own. */
const runChild: ToolPorts['spawn'] = (request, signal, onOutput, onStarted) =>
  spawnTool(request, {
    signal,
    report(message) {
      if (message.kind === 'started') onStarted(message.pid);
      else onOutput(message.stream, message.text);
    },
  });
