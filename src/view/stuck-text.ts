import { mostAttempts, type RunSummary } from '../schema/run-record.ts';

/** Why a run that rests could not go on the last time; null for every other one. */
export const stuckText = ({ attempts, last_error }: Pick<RunSummary, 'attempts' | 'last_error'>): string | null =>
  last_error === null ? null : `could not go on (attempt ${attempts} of ${mostAttempts}): ${last_error}`;
