import { RuntimeError } from '../schema/errors.ts';

/** Why a database is not used; `doctor` reports it instead of failing with it. */
export type DatabaseProblem = { readonly code: 'foreign' | 'corrupt' | 'newer'; readonly message: string };

export function databaseProblem(error: unknown): DatabaseProblem | null {
  if (!(error instanceof RuntimeError)) return null;
  const { message } = error;
  if (error.code === 'database_foreign') return { code: 'foreign', message };
  if (error.code === 'database_newer') return { code: 'newer', message };
  if (error.code === 'database_damaged') return { code: 'corrupt', message };
  return null;
}
