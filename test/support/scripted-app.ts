import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createApp, type Threads } from '../../src/app.ts';
import type { AppHandle, AppOptions, ServerGround } from '../../src/app-options.ts';
import type { RuntimeClient } from '../../src/client/operations.ts';
import type { RouteClient } from '../../src/client/routes.ts';
import { createPools } from '../../src/runs/pools.ts';
import type { RunEvent } from '../../src/schema/event.ts';
import type { RunResult, RunStarted, StartRun } from '../../src/schema/run.ts';
import { noFields } from '../registry/rooms.ts';
import { appOptions } from './app-options.ts';
import { builtAt } from './built-at.ts';
import { type TempHome, tempHome } from './temp-home.ts';

/** The program in this process, with real threads from the test build, a scripted model and a place of its own. */
export type ScriptedApp = {
  readonly place: TempHome;
  readonly client: RuntimeClient;
  /** The program as an entry point holds it. */
  readonly handle: AppHandle<RuntimeClient, RouteClient>;
  /** What a server stands on, of the first program. */
  ground(): Promise<ServerGround>;
  /** Another process on the same database, as far as a test can have one in its own. */
  open(): Promise<RuntimeClient>;
  /** Starts a run; `over` changes the request. */
  start(over?: Partial<StartRun>): Promise<RunStarted>;
  run(over?: Partial<StartRun>): Promise<RunResult>;
  /** Starts a turn of the default session. */
  chat(text: string, over?: Partial<StartRun>): Promise<RunStarted>;
  /** Every event of a run until its last. */
  events(runId: string): Promise<RunEvent[]>;
  /** Resolves with the first event of a kind. */
  seen<K extends RunEvent['kind']>(runId: string, kind: K): Promise<Extract<RunEvent, { kind: K }>>;
  /** Rows of the database, read beside the program. */
  rows(sql: string, ...params: readonly unknown[]): readonly Readonly<Record<string, unknown>>[];
  /** Changes the database as another process would. */
  change(sql: string): void;
  /** Ends the program; its files stay. */
  stop(): Promise<void>;
  close(): Promise<void>;
};

export type ScriptedSetup = {
  /** Turns of the script (08 §6). */
  readonly turns: readonly unknown[];
  readonly models?: readonly unknown[];
  readonly policy?: unknown;
  readonly chain?: unknown;
  /** Text of a policy of the project; a run trusts it by its hash. */
  readonly projectPolicy?: string;
  /** PATH of the program; the directories may be made here. */
  readonly path?: (place: TempHome) => string;
  /** What an entry point would say otherwise; the files are those of this set-up. */
  readonly over?: (files: { readonly chain: string; readonly policy: string }) => Partial<AppOptions>;
  /** Further variables of the program. */
  readonly environment?: Readonly<Record<string, string>>;
  /** `--require-mcp`. */
  readonly requireMcp?: readonly string[];
  /** Threads of the run pool, where fewer than usual matter. */
  readonly runThreads?: number;
};

/** Model, tools, model, until it answers; without a round edge. */
export const loopChain = {
  id: 'loop',
  tasks: [
    {
      id: 'work',
      handler: 'chat_completion',
      execute_config: { model: '{{var:model}}', tools: ['*'] },
      transition: {
        branches: [
          { operator: 'equals', when: 'executed', goto: 'end' },
          { operator: 'default', goto: 'run_tools' },
        ],
      },
    },
    {
      id: 'run_tools',
      handler: 'execute_tool_calls',
      input_var: 'work',
      transition: { branches: [{ operator: 'default', goto: 'work' }] },
    },
  ],
};

/** Parts of a script's turns (08 §6). */
export const call = (name: string, args: unknown) => ({ name, arguments: args });
export const says = (text: string, match: object = {}) => ({ match, reply: { text } });
export const calls = (list: readonly unknown[], match: object = {}) => ({
  match,
  reply: { text: '', tool_calls: list },
});

/** A backend of scripts, but for its name and its file. */
export const scriptedBackend = { ...noFields, type: 'scripted' } as const;

export const allowAll = { default_action: 'allow', rules: [] };

/** A small heap, so that a thread without memory ends soon. */
const heapMb = 128;
/** Run threads of all test programs: to start one takes as much CPU as a process, and a server keeps them as well. */
let shared: Threads | undefined;

/** Children and hashes of its own, on run threads that outlive it. */
function sharing(root: URL): Threads {
  shared ??= createPools({ root, runHeapMb: heapMb });
  const { warm, runChain } = shared;
  return { ...createPools({ root }), warm, runChain };
}

export async function scriptedApp(setup: ScriptedSetup): Promise<ScriptedApp> {
  const place = tempHome();
  const file = (name: string, value: unknown): string => {
    const path = join(place.dir, name);
    writeFileSync(path, JSON.stringify(value), { mode: 0o600 });
    return path;
  };
  if (setup.projectPolicy !== undefined) {
    mkdirSync(join(place.workspace, '.reins'), { mode: 0o700 });
    writeFileSync(join(place.workspace, '.reins/hitl-policy.json'), setup.projectPolicy, { mode: 0o600 });
  }
  const script = file('script.json', {
    script: 1,
    models: setup.models ?? [{ name: 'm', context: 100_000, capabilities: ['chat', 'tools'] }],
    turns: setup.turns,
  });
  const chain = file('chain.json', setup.chain ?? loopChain);
  const policy = file('policy.json', setup.policy ?? allowAll);
  const common = appOptions(place, builtAt);
  const options: AppOptions = {
    ...common,
    environment: { ...common.environment, ...(setup.path && { PATH: setup.path(place) }), ...setup.environment },
    requireMcp: setup.requireMcp ?? [],
    ...setup.over?.({ chain, policy }),
  };
  const { root } = options;
  const { runThreads } = setup;
  const threads = () =>
    runThreads === undefined ? sharing(root) : createPools({ root, runHeapMb: heapMb, runThreads });
  const handle = await createApp(options, threads());
  const apps = [handle];
  const { client } = handle;
  await client.addBackend({ ...scriptedBackend, name: 's', url: script });
  const request: StartRun = {
    input: { type: 'string', value: 'go' },
    chain_path: chain,
    model: 'm',
    provider: 'scripted',
    policy,
    on_ask: 'deny',
    timeout_ms: 0,
    context: 0,
    think: null,
    shell: true,
    allowed_dir: null,
    max_turns: 0,
    max_tool_calls: 0,
    max_tokens: 0,
    variables: {},
    images: [],
    trust: [],
  };
  const start = (over: Partial<StartRun> = {}): Promise<RunStarted> => client.startRun({ ...request, ...over });
  return {
    place,
    client,
    handle,
    start,
    chat: (text, over = {}) =>
      client.sendMessage({
        ...request,
        ...over,
        input: { type: 'string', value: text },
        session: null,
        trim: 0,
        abandon: false,
        last: 0,
      }),
    ground: async () => {
      const [app] = apps;
      if (app === undefined) throw new Error('the program was stopped');
      return app.ground('write');
    },
    async open() {
      const app = await createApp(options, threads());
      apps.push(app);
      return app.client;
    },
    async run(over) {
      const { run_id } = await start(over);
      return client.awaitRun({ run_id, full: true });
    },
    async events(runId) {
      const all: RunEvent[] = [];
      for await (const batch of client.watch({ run_id: runId, after: 0, signal: new AbortController().signal }))
        all.push(...batch);
      return all;
    },
    async seen(runId, kind) {
      for await (const batch of client.watch({ run_id: runId, after: 0, signal: new AbortController().signal })) {
        const found = batch.find((event) => event.kind === kind);
        // The search has just compared the kind.
        if (found !== undefined) return found as never;
      }
      throw new Error(`run ${runId} ended without ${kind}`);
    },
    rows(sql, ...params) {
      const database = new Database(join(place.dir, 'local.db'), { readonly: true });
      try {
        // Rows of a statement without pluck are objects.
        return database.prepare(sql).all(...params) as Record<string, unknown>[];
      } finally {
        database.close();
      }
    },
    change(sql) {
      const database = new Database(join(place.dir, 'local.db'));
      database.exec(sql);
      database.close();
    },
    async stop() {
      for (const app of apps.splice(0)) await app.close();
    },
    async close() {
      for (const app of apps) await app.close();
      place.remove();
    },
  };
}
