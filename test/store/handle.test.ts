import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type Connection, createHandle, pragmaOf } from '../../src/store/handle.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

// The overloads of the package accept every list of values.
const open = (): Connection => new Sqlite(':memory:') as unknown as Connection;

/** Stands for a connection of the package, whose objects the set-up of these tests keeps by itself. */
function collectable(): { readonly connection: Connection; readonly made: readonly WeakRef<object>[] } {
  const made: WeakRef<object>[] = [];
  const noted = <T extends object>(object: T): T => {
    made.push(new WeakRef(object));
    return object;
  };
  const statement = () => ({ get: () => 7, all: () => [], run: () => ({ changes: 0 }) });
  const connection = noted({
    prepare: () => noted({ ...statement(), pluck: () => noted(statement()) }),
    exec: () => undefined,
    close: () => undefined,
    inTransaction: false,
  });
  return { connection, made };
}

/** What was made for a handle that was closed, and that nobody holds any more. */
function forgotten(): readonly WeakRef<object>[] {
  const { connection, made } = collectable();
  const handle = createHandle(connection);
  handle.prepare('SELECT 1').all();
  handle.close();
  return made;
}

test('connections and statements are never collected, also of a handle that was closed and forgotten', async () => {
  const [connection, statement] = forgotten();
  // What was held while this turn ran may go now.
  await new Promise((resume) => setTimeout(resume, 0));
  collect();
  expect([connection?.deref(), statement?.deref()]).not.toContain(undefined);
});

test('a statement is made once for each text and form of its rows', () => {
  const handle = createHandle(open());
  handle.exec('PRAGMA user_version = 7');
  expect(pragmaOf(handle, 'user_version')).toBe(7);
  expect(handle.prepare('SELECT 1 AS n')).toBe(handle.prepare('SELECT 1 AS n'));
  expect(handle.pluck('SELECT 1 AS n')).toBe(handle.pluck('SELECT 1 AS n'));
  expect([handle.prepare('SELECT 1 AS n').all(), handle.pluck('SELECT 1 AS n').all()]).toEqual([[{ n: 1 }], [1]]);
});
