import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { call, calls, type ScriptedApp, says, scriptedApp, scriptedBackend } from '../../support/scripted-app.ts';
import type { TempHome } from '../../support/temp-home.ts';

/** What a model tries; without a policy, that of the field. */
export type Attempt = { readonly tool: string; readonly args: object; readonly policy?: unknown };

/** What became of it: the verdict of the gate (null when it was refused before), and of the call. */
export type Outcome = {
  readonly action: string | null;
  readonly reason: string | null;
  readonly detail: string;
  readonly state: string;
  /** The whole row, as text: nothing that was refused may stand in it. */
  readonly row: string;
};

/** A place for attacks: the whole program with a scripted model, nobody to ask, and programs that only leave a mark. */
export type Field = {
  readonly app: ScriptedApp;
  readonly place: TempHome;
  /** A run for each, one after the other. */
  attempt(...list: readonly Attempt[]): Promise<readonly Outcome[]>;
  /** One run whose model makes these calls, each after the other has ended. */
  inOneRun(...list: readonly Attempt[]): Promise<readonly Outcome[]>;
  /** The same, where somebody approves the one ask after doing something else. */
  approved(before: () => void, ...list: readonly Attempt[]): Promise<readonly Outcome[]>;
  /** One call of the shell. */
  shell(command: string, more?: { readonly args?: object; readonly policy?: unknown }): Promise<Outcome>;
  /** The same line by a shell that nobody guards, in a copy of the workspace: the marks that it leaves. */
  unguarded(line: string): readonly string[];
  /** Programs that were started, by name, and files that came to be, anywhere in the place of the test. */
  marks(): readonly string[];
  /** Takes away what started programs have left, so that one field serves many lines. */
  sweep(): void;
};

export type FieldSetup = {
  readonly policy?: unknown;
  /** Names of planted programs, which stand before all others on PATH. */
  readonly programs?: readonly string[];
  /** Whether the programs of the system stand behind them. */
  readonly system?: boolean;
  /** Files of the place by path from its root; the workspace is `ws`. */
  readonly files?: Readonly<Record<string, string>>;
  readonly prepare?: (place: TempHome) => void;
  /** PATH, in place of the planted programs before those of the system. */
  readonly path?: (place: TempHome, programs: string) => string;
  /** Further variables of the program. */
  readonly environment?: Readonly<Record<string, string>>;
};

/** Directories that the program itself, or the test, writes. */
const own = ['marks', 'twin', 'programs', 'scripts', 'home/.reins'];

export async function createField(setup: FieldSetup = {}): Promise<Field> {
  const programs = (place: TempHome): string => join(place.dir, 'programs');
  const path = (place: TempHome): string =>
    setup.path?.(place, programs(place)) ?? `${programs(place)}${setup.system === false ? '' : ':/usr/bin:/bin'}`;
  const app = await scriptedApp({
    turns: [],
    ...(setup.policy === undefined ? {} : { policy: setup.policy }),
    ...(setup.environment === undefined ? {} : { environment: setup.environment }),
    path: (place) => {
      for (const name of ['programs', 'scripts', 'marks']) mkdirSync(join(place.dir, name));
      for (const name of setup.programs ?? []) plant(place, programs(place), name);
      for (const [name, text] of Object.entries(setup.files ?? {})) {
        mkdirSync(dirname(join(place.dir, name)), { recursive: true });
        writeFileSync(join(place.dir, name), text);
      }
      setup.prepare?.(place);
      return path(place);
    },
  });
  const { place } = app;
  let batch = 0;
  let before: ReadonlySet<string> = new Set();

  const file = (name: string, value: unknown): string => {
    const written = join(place.dir, 'scripts', `${name}.json`);
    writeFileSync(written, JSON.stringify(value), { mode: 0o600 });
    return written;
  };

  const addScript = async (turns: readonly unknown[]): Promise<string> => {
    // A run asks every backend for its models, so the one before goes.
    if (batch > 0) await app.client.removeBackend({ name: `m${batch}` });
    batch += 1;
    const name = `m${batch}`;
    const models = [{ name, context: 100_000, capabilities: ['chat', 'tools'] }];
    const url = file(`script-${batch}`, { script: 1, models, turns });
    await app.client.addBackend({ ...scriptedBackend, name, url });
    return name;
  };
  const end = says('done', { role: 'tool' });
  const under = (policy: unknown, name: string) =>
    policy === undefined ? {} : { policy: file(`policy-${batch}-${name}`, policy) };

  /** One script for all: each further backend would cost more than a run. */
  async function attempt(...list: readonly Attempt[]): Promise<readonly Outcome[]> {
    const turns = list.map(({ tool, args }, index) =>
      calls([call(tool, literal(args))], { role: 'user', last_user: { equals: `attempt ${index}` } }),
    );
    const model = await addScript([...turns, end]);
    const outcomes: Outcome[] = [];
    for (const [index, { policy }] of list.entries()) {
      const input = { type: 'string', value: `attempt ${index}` } as const;
      const { run_id } = await app.start({ model, input, ...under(policy, `${index}`) });
      await app.client.awaitRun({ run_id, full: true });
      outcomes.push(...(await outcomesOf(app, run_id)));
    }
    return outcomes;
  }

  const inOneRun = (...list: readonly Attempt[]) => together(null, list);

  /** @param before null: nobody answers */
  async function together(before: (() => void) | null, list: readonly Attempt[]): Promise<readonly Outcome[]> {
    const turns = list.map(({ tool, args }, index) =>
      calls([call(tool, literal(args))], index === 0 ? { role: 'user' } : { tool: { count: index } }),
    );
    const model = await addScript([...turns, end]);
    const on_ask = before === null ? 'deny' : 'wait';
    const { run_id } = await app.start({ model, on_ask, ...under(list[0]?.policy, 'all') });
    if (before !== null) {
      const { ask_id } = await app.seen(run_id, 'ask');
      before();
      await app.client.answerAsk({ id: ask_id, ...approval });
      // Whatever is asked from here on was not approved.
      for await (const events of app.client.watch({ run_id, after: 0, signal: new AbortController().signal })) {
        const next = events.find((event) => event.kind === 'ask' && event.ask_id !== ask_id);
        if (next?.kind === 'ask') await app.client.answerAsk({ id: next.ask_id, ...approval, outcome: 'deny' });
      }
    }
    await app.client.awaitRun({ run_id, full: true });
    return outcomesOf(app, run_id);
  }

  const field: Field = {
    app,
    place,
    attempt,
    inOneRun,
    approved: (before, ...list) => together(before, list),
    async shell(command, { args, policy } = {}) {
      const own = policy === undefined ? {} : { policy };
      const [outcome] = await attempt({ tool: 'local_shell.local_shell', args: { command, ...args }, ...own });
      if (outcome === undefined) throw new Error('the call was not made');
      return outcome;
    },
    unguarded(line) {
      const twin = join(place.dir, 'twin', 'ws');
      const bin = join(place.dir, 'twin', 'programs');
      rmSync(join(place.dir, 'twin'), { recursive: true, force: true });
      cpSync(place.workspace, twin, { recursive: true, verbatimSymlinks: true });
      mkdirSync(bin);
      for (const name of setup.programs ?? []) plant(place, bin, name, 'twin');
      const files = new Set(filesIn(twin, []));
      const env = { PATH: path(place).replace(programs(place), bin), HOME: twin };
      spawnSync('/bin/bash', ['-c', line], { cwd: twin, env, timeout: 20_000, stdio: ['ignore', 'pipe', 'pipe'] });
      return [
        ...filesIn(place.dir, []).filter((name) => name.startsWith('twin/mark-')),
        ...filesIn(twin, []).filter((name) => !files.has(name)),
      ];
    },
    marks: () => [
      ...readdirSync(join(place.dir, 'marks')).map((name) => readFileSync(join(place.dir, 'marks', name), 'utf8')),
      ...filesIn(place.dir, own).filter((name) => !before.has(name)),
    ],
    sweep() {
      for (const name of readdirSync(join(place.dir, 'marks'))) rmSync(join(place.dir, 'marks', name));
    },
  };
  before = new Set(filesIn(place.dir, own));
  return field;
}

const approval = { outcome: 'approve', feedback: null, text: null, remember: null, binding: null } as const;

async function outcomesOf(app: ScriptedApp, runId: string): Promise<readonly Outcome[]> {
  const rows = app.rows('SELECT * FROM tool_calls WHERE run_id = ? ORDER BY seq', runId);
  if (rows.length === 0) throw new Error('no call was made');
  const events = await app.events(runId);
  return rows.map((row) => {
    const decision = events.find((event) => event.kind === 'policy_decision' && event.call_id === row['call_id']);
    const known = decision?.kind === 'policy_decision' ? decision : undefined;
    return {
      action: known?.action ?? null,
      reason: known?.reason ?? null,
      detail: known?.detail ?? '',
      state: String(row['state']),
      row: JSON.stringify(row),
    };
  });
}

/** As a script has to write it: `${` is a substitution there. */
const literal = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll('${', () => '$${'));

/** A program that writes down under which name it was started, and does nothing else. */
function plant(place: TempHome, directory: string, name: string, marks = 'marks'): void {
  const mark = marks === 'twin' ? `${place.dir}/twin/mark-$$` : `${place.dir}/marks/$$`;
  writeFileSync(join(directory, name), `#!/bin/sh\nprintf '%s' "\${0##*/}" > "${mark}"\n`, { mode: 0o755 });
}

/** Every file of a directory by its path from there; the database of the program is none of them. */
function filesIn(root: string, without: readonly string[], at = ''): readonly string[] {
  return readdirSync(join(root, at), { withFileTypes: true }).flatMap((entry) => {
    const name = at === '' ? entry.name : `${at}/${entry.name}`;
    if (without.includes(name) || name.startsWith('local.db')) return [];
    return entry.isDirectory() ? [name, ...filesIn(root, without, name)] : [name];
  });
}
