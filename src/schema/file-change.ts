import { array, boolean, enums, nullable, number, object, optional, pattern, string } from 'superstruct';
import type { Known } from './shape.ts';

const digest = pattern(string(), /^[0-9a-f]{64}$/);

/** A change of a file by a call. */
export const FileChange = object({
  call_id: string(),
  /** Its real path. */
  path: string(),
  /** SHA-256 of what it held before; null: it did not exist. */
  before: nullable(digest),
  /** SHA-256 of what it holds then. */
  after: digest,
  /** How many directories above it were made for it. */
  made: optional(number()),
});
export type FileChange = Known<typeof FileChange>;

/** What can be done about a file that a run has changed. */
const changeStates = [
  /** It is as the run left it. */
  'changed',
  /** It is as it was before the run. */
  'undone',
  /** Something else has changed it since, or between two changes of the run. */
  'changed_since',
  /** What it held before is not there any more, or was too large to be kept. */
  'not_kept',
  /** What is noted of it does not come from this program. */
  'not_proved',
  /** It is as the run left it, and somebody has closed it to writing. */
  'write_protected',
] as const;

export const ChangedFile = object({
  /** Relative to the directory of the run where it lies in it. */
  path: string(),
  state: enums(changeStates),
  /** Undoing takes it away: the run has made it. */
  created: boolean(),
  /** How many calls have changed it. */
  calls: number(),
  /** What the system said where it could not be undone. */
  error: nullable(string()),
});
export type ChangedFile = Known<typeof ChangedFile>;

/** The files that the calls of a run have changed. */
export const RunChanges = object({
  run_id: string(),
  files: array(ChangedFile),
  /** Calls of it have changed files, and what they held is not kept any more. */
  forgotten: boolean(),
  /** Commands that ran: nobody knows what these have changed. */
  commands: number(),
});
export type RunChanges = Known<typeof RunChanges>;
