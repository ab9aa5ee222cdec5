import { existsSync, statSync } from 'node:fs';
import type { Inspection } from '../registry/inspection.ts';
import { RuntimeError } from '../schema/errors.ts';
import { quote } from '../text/quote.ts';

/** Why a database is not used; `doctor` reports it instead of failing with it. */
export type DatabaseProblem = NonNullable<Inspection['database']['problem']>;

/** What keeps a database from being used; null for an error that is about something else. */
export function databaseProblem(error: unknown): DatabaseProblem | null {
  if (!(error instanceof RuntimeError)) return null;
  const code = codes[error.code];
  if (code === undefined) return null;
  if (code === 'corrupt') return { code, message: `${error.message} ${replaced}`, mend: replacement(error.data) };
  return { code, message: error.message, mend: code === 'unusable' ? (error.hints[0] ?? null) : null };
}

const replaced = 'Set aside, it is kept, and the newest backup or else a new one takes its place.';

/**
 * One command that sets a damaged database aside and puts its newest backup there; without one the next command begins
 * a new database. What belongs to the damaged one goes with it: a log beside another database would be played into that.
 */
function replacement(data: unknown): string | null {
  if (typeof data !== 'object' || data === null || !('path' in data) || typeof data.path !== 'string') return null;
  const { path } = data;
  let aside = `${path}.damaged`;
  for (let number = 2; existsSync(aside) || existsSync(`${aside}-wal`); number += 1)
    aside = `${path}.damaged-${number}`;
  const moves = ['', '-wal']
    .filter((ending) => (statSync(path + ending, { throwIfNoEntry: false })?.size ?? 0) > 0)
    .map((ending) => `mv ${quote(path + ending)} ${quote(aside + ending)}`);
  if (moves.length === 0) return null;
  const backup = 'backup' in data && typeof data.backup === 'string' ? data.backup : null;
  const copies = backup === null ? [] : [`cp -p ${quote(backup)} ${quote(path)}`];
  return [...moves, ...copies].join(' && ');
}

const codes: { readonly [code: string]: DatabaseProblem['code'] | undefined } = {
  database_foreign: 'foreign',
  database_newer: 'newer',
  database_damaged: 'corrupt',
  config_invalid: 'unusable',
  storage: 'unusable',
};
