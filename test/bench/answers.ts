import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import Database from 'better-sqlite3';
import { addScript, createProject, tester, type World } from '../cli/world.ts';
import { cliEnvironment, program, startCli } from '../support/run-cli.ts';
import { type Figures, at, median, sorted } from './figures.ts';

/** A project whose model makes so many calls of a command, each of which asks. */
async function askingProject(calls: number): Promise<World & { readonly argv: readonly string[] }> {
  const world = await createProject();
  const callOf = (number: number) => ({
    text: `Call ${number}.`,
    tool_calls: [{ name: 'local_shell.local_shell', arguments: { command: `true ${number}` } }],
  });
  const later = Array.from({ length: calls - 1 }, (_, index) => ({
    match: { tool: { count: index + 1 } },
    reply: callOf(index + 2),
  }));
  await addScript(world, [
    { match: { tool: { count: calls } }, reply: { text: 'All are made.' } },
    ...later,
    { match: { role: 'user' }, reply: callOf(1) },
  ]);
  const policy = join(world.dir, 'approve.json');
  world.write('../approve.json', JSON.stringify({ default_action: 'approve', rules: [] }));
  return { ...world, argv: ['run', ...tester, '--shell', '--policy', policy, '--input', 'go'] };
}

function rows<Row>(world: World, sql: string): Row[] {
  const database = new Database(join(world.workspace, '.reins/local.db'), { readonly: true });
  try {
    // The SELECT of each caller makes rows of the type that it names.
    return database.prepare(sql).all() as Row[];
  } finally {
    database.close();
  }
}

/** The one open ask, as soon as there is one. */
async function openAsk(world: World): Promise<string> {
  for (;;) {
    const [ask] = rows<{ id: string }>(world, "SELECT id FROM asks WHERE state = 'pending'");
    if (ask !== undefined) return ask.id;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const askTimes = 'SELECT created_at AS at FROM asks ORDER BY created_at';

/** From the row of an ask to the first byte of its card on the terminal of the program that asks. */
export async function benchCards(figures: Figures, runs: number): Promise<void> {
  const perRun = 5;
  const taken: { readonly first: number[]; readonly later: number[] } = { first: [], later: [] };
  const world = await askingProject(perRun);
  try {
    for (let run = 0; run < runs; run += 1) {
      const before = rows(world, askTimes).length;
      const seen = await cardsOf(world);
      const asked = rows<{ at: number }>(world, askTimes).slice(before);
      for (const [index, ask] of asked.entries()) {
        taken[index === 0 ? 'first' : 'later'].push((seen[index] ?? Number.NaN) - ask.at);
      }
    }
  } finally {
    world.remove();
  }
  figures.time('ask row to the first byte of its card, first of a program, median', median(taken.first), 20);
  figures.time('ask row to the first byte of its card, later ones, median', median(taken.later), 20);
}

/** Runs in a terminal and approves every card. @returns when the first byte of each one came */
function cardsOf(world: World & { readonly argv: readonly string[] }): Promise<readonly number[]> {
  const pty = spawn(process.execPath, [program, ...world.argv], {
    cols: 100,
    rows: 40,
    cwd: world.workspace,
    env: { ...cliEnvironment(world) },
  });
  const seen: number[] = [];
  let text = '';
  let cards = 0;
  let pressing: NodeJS.Timeout | undefined;
  pty.onData((data) => {
    text += data;
    const now = Date.now();
    const found = text.split('ASK ask_').length - 1;
    if (found === cards) return;
    cards = found;
    seen.push(now);
    clearInterval(pressing);
    // A card ignores keys for a moment.
    pressing = setInterval(() => pty.write('y'), 450);
  });
  return new Promise((resolve) => {
    pty.onExit(() => {
      clearInterval(pressing);
      resolve(seen);
    });
  });
}

/** From the verdict of another process to the start of the call in the one that waits. */
export async function benchAnswers(figures: Figures, runs: number): Promise<void> {
  const world = await askingProject(runs * 2);
  try {
    const waiting = startCli(world, [...world.argv, '--on-ask', 'wait']);
    for (let call = 0; call < runs * 2; call += 1) {
      const id = await openAsk(world);
      // Answers come at any moment between two looks at the database, not at one that the program itself has set.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 250));
      await world.run(['approvals', 'respond', id, '--approve']);
    }
    await waiting.ended;
    const taken = rows<{ ms: number }>(
      world,
      `SELECT tool_calls.started_at - asks.resolved_at AS ms FROM asks
       JOIN tool_calls ON tool_calls.run_id = asks.run_id AND tool_calls.call_id = asks.call_id`,
    ).map(({ ms }) => ms);
    figures.time('verdict in another process to the start of the call, median', median(taken), 400);
    figures.time('verdict in another process to the start of the call, slowest', at(sorted(taken), 1), null);
  } finally {
    world.remove();
  }
}

/** From the start of `approvals respond` to the start of the call in the run that it takes up. */
export async function benchResume(figures: Figures, runs: number): Promise<void> {
  const world = await askingProject(runs);
  try {
    await world.run([...world.argv, '--on-ask', 'suspend']);
    const taken: number[] = [];
    const recorded: number[] = [];
    for (let call = 0; call < runs; call += 1) {
      const id = await openAsk(world);
      const from = Date.now();
      await world.run(['approvals', 'respond', id, '--approve']);
      const [times] = rows<{ resolved: number; started: number }>(
        world,
        `SELECT asks.resolved_at AS resolved, tool_calls.started_at AS started FROM asks
         JOIN tool_calls ON tool_calls.run_id = asks.run_id AND tool_calls.call_id = asks.call_id WHERE asks.id = '${id}'`,
      );
      recorded.push((times?.resolved ?? Number.NaN) - from);
      taken.push((times?.started ?? Number.NaN) - from);
    }
    figures.time('`approvals respond` of a suspended run to its verdict, median', median(recorded), null);
    figures.time('`approvals respond` of a suspended run to the start of the call, median', median(taken), 500);
  } finally {
    world.remove();
  }
}
