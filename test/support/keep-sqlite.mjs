import Sqlite from 'better-sqlite3';

/**
 * What tests open with the package itself is kept as the program keeps its own (`src/store/handle.ts`): on newer versions of
 * Node, a connection or a statement that is collected may end the process.
 */
const kept = new Set();
const { prepare, exec } = Sqlite.prototype;

Sqlite.prototype.prepare = function (sql) {
  const statement = prepare.call(this, sql);
  kept.add(this).add(statement);
  return statement;
};
Sqlite.prototype.exec = function (sql) {
  kept.add(this);
  return exec.call(this, sql);
};
Sqlite.prototype.pragma = function (text, { simple = false } = {}) {
  const statement = this.prepare(`PRAGMA ${text}`);
  if (!statement.reader) return statement.run();
  return simple ? statement.pluck().get() : statement.all();
};

// A command that runs in a worker must not make the worker look like the program: what is started from there would be inside.
const { title } = process;
Object.defineProperty(process, 'title', { configurable: true, get: () => title, set: () => undefined });
