import type { Inspection } from '../registry/inspection.ts';
import { RuntimeError } from '../schema/errors.ts';

/** Why a database is not used; `doctor` reports it instead of failing with it. */
export type DatabaseProblem = NonNullable<Inspection['database']['problem']>;

export function databaseProblem(error: unknown): DatabaseProblem | null {
  if (!(error instanceof RuntimeError)) return null;
  const code = codes[error.code];
  if (code === undefined) return null;
  return { code, message: error.message, mend: code === 'unusable' ? (error.hints[0] ?? null) : null };
}

const codes: { readonly [code: string]: DatabaseProblem['code'] | undefined } = {
  database_foreign: 'foreign',
  database_newer: 'newer',
  database_damaged: 'corrupt',
  config_invalid: 'unusable',
  storage: 'unusable',
};
