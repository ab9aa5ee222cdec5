import { join } from 'node:path';
import Database from 'better-sqlite3';
import { newId } from '../../src/text/ids.ts';
import { createProject, scripted, type World } from '../cli/world.ts';
import { openTerminal } from '../support/terminal.ts';
import { type Figures, median } from './figures.ts';

const asks = 10_000;

/** Listings and short answers in a database with 10,000 asks, as whole processes. */
export async function benchListing(figures: Figures, runs: number): Promise<void> {
  const world = await createProject();
  /** @param before prepares each of the processes, outside the time that is taken */
  const taken = async (body: () => Promise<unknown>, before = () => {}): Promise<number> => {
    const times: number[] = [];
    for (let run = -1; run < runs; run += 1) {
      before();
      const from = performance.now();
      await body();
      if (run >= 0) times.push(performance.now() - from);
    }
    return median(times);
  };
  const piped = (...argv: readonly string[]) => taken(() => world.run(argv));
  const onTerminal = (...argv: readonly string[]) => taken(() => openTerminal(world, argv).ended);
  const list = ['approvals', 'list'];
  const all = [...list, '--state', 'all', '--limit', '1000'];
  const onATerminal = 'the same on a terminal, with short ids';
  try {
    await world.run(['run', ...scripted, '--on-ask', 'suspend', '--input', 'write a file']);
    figures.time('`approvals list`, one ask', await piped(...list), null);
    const { pending, first } = fill(world, 100);
    figures.time('`approvals list`, 10,000 asks, 100 of them open', await piped(...list), 150);
    figures.time(onATerminal, await onTerminal(...list), 150);
    figures.time('`approvals list --state all --limit 1000`', await piped(...all), null);
    figures.time(onATerminal, await onTerminal(...all), null);
    figures.time('`approvals show` by six characters', await piped('approvals', 'show', first.slice(-6)), null);
    const deny = ['approvals', 'respond', pending, '--deny', '--no-resume'];
    figures.time('`approvals respond --deny --no-resume`, repeated', await piped(...deny), null);
    const sweeping = await taken(
      () => world.run(list),
      () => change(world, `${reopen}, expires_at = 1 WHERE rowid IN (SELECT rowid FROM asks LIMIT 200)`),
    );
    figures.time('`approvals list` that closes 200 asks whose deadline has passed', sweeping, null);
    change(world, `${reopen}, expires_at = ${Date.now() + 86_400_000} + rowid * 1000`);
    figures.time('`approvals list`, 10,000 open asks', await piped(...list), 150);
    figures.time(onATerminal, await onTerminal(...list), 150);
  } finally {
    world.remove();
  }
}

const reopen = "UPDATE asks SET state = 'pending', verdict = NULL, resolved_at = NULL";

const open = (world: World): InstanceType<typeof Database> => new Database(join(world.workspace, '.reins/local.db'));

/** Copies the one real ask and its run, so that rows have the size that they have. */
function fill(world: World, pending: number): { readonly pending: string; readonly first: string } {
  const database = open(world);
  try {
    const ask = database.prepare('SELECT * FROM asks').get() as Record<string, unknown>;
    const run = database.prepare('SELECT * FROM runs').get() as Record<string, unknown>;
    const insert = (table: string, row: Record<string, unknown>): void => {
      const names = Object.keys(row);
      database
        .prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
        .run(...Object.values(row));
    };
    const start = Date.now() - 30 * 86_400_000;
    let last = '';
    database.transaction(() => {
      for (let index = 1; index < asks; index += 1) {
        const created_at = start + index * 1000;
        const run_id = newId('run', created_at);
        last = newId('ask', created_at);
        const isOpen = index >= asks - pending;
        insert('runs', {
          ...run,
          id: run_id,
          mission_id: run_id,
          status: 'completed',
          created_at,
          ended_at: created_at,
        });
        insert('asks', {
          ...ask,
          id: last,
          run_id,
          mission_id: run_id,
          call_hash: `${index % 500}`.padStart(64, '0'),
          state: isOpen ? 'pending' : 'approved',
          expires_at: Date.now() + 86_400_000 + ((index * 7919) % asks) * 1000,
          created_at,
          resolved_at: isOpen ? null : created_at,
          verdict: isOpen
            ? null
            : JSON.stringify({ outcome: 'approve', by: 'operator:cli', at: '', binding: ask['binding'] }),
        });
      }
    })();
    return { pending: last, first: String(ask['id']) };
  } finally {
    database.close();
  }
}

function change(world: World, sql: string): void {
  const database = open(world);
  database.exec(sql);
  database.close();
}
