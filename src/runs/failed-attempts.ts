import { type ErrorCode, errors, RuntimeError } from '../schema/errors.ts';
import type { RunFailure } from '../schema/run.ts';
import { mostAttempts } from '../schema/run-record.ts';
import type { Feed } from '../store/feed.ts';
import { isDriven, type RunHead, type Runs } from '../store/runs.ts';
import { messageOf } from '../text/thrown.ts';
import type { LostRuns } from './lost-runs.ts';

export type FailedAttemptDeps = {
  readonly runs: Pick<Runs, 'head' | 'failAttempt'>;
  readonly lostRuns: Pick<LostRuns, 'end'>;
  readonly feed: Pick<Feed, 'commit'>;
  /** What a run leaves behind where it belongs, with a note for people; in the transaction that ends it. */
  readonly left: (head: RunHead, failure: RunFailure) => void;
  readonly mask: <T>(value: T) => T;
  readonly now: () => number;
};

const maxChars = 2000;

/**
 * Refusals that say nothing of the run: who has it, where it was tried, what the operator has not decided, and what may
 * be well again without anybody mending anything (a server that is down, a key that this shell does not have). So is
 * everything that the table of errors calls retryable: a lock of another process above all.
 */
const excused: ReadonlySet<ErrorCode> = new Set([
  'not_found',
  'run_not_resumable',
  'not_resumable_here',
  'resume_chain_changed',
  'not_trusted',
  'chain_untrusted',
  'setup_unhealthy',
  'inside_tool',
  'cancelled',
  'interrupted',
]);

const counts = (error: unknown): boolean =>
  !(error instanceof RuntimeError) || !(excused.has(error.code) || errors[error.code].retryable === true);

/**
 * Notes that a run could not go on, in the run itself: it rests as before, or has failed when it was the last time. What
 * counts is what its rows say then: not a run that somebody has ended or taken meanwhile.
 * @returns the error as the person is told it; never throws
 */
export function noteFailedAttempt(deps: FailedAttemptDeps, runId: string, error: unknown): unknown {
  if (!counts(error)) return error;
  const { runs, feed, now } = deps;
  const failure: RunFailure = {
    class: error instanceof RuntimeError ? error.code : 'internal',
    message: deps.mask(messageOf(error)).slice(0, maxChars),
  };
  let attempts = 0;
  try {
    attempts = feed.commit('full', () => {
      const head = runs.head(runId);
      if (head === undefined || head.ended_at !== null || isDriven(head, now())) return 0;
      const failed = runs.failAttempt(runId, failure.message);
      if (failed >= mostAttempts) {
        deps.lostRuns.end(runId, { status: 'failed', error: failure }, () => deps.left(head, failure));
      }
      return failed;
    });
  } catch {
    // A full disk, or a damaged file: then it is not counted, and why the run does not go on is what people need.
  }
  return attempts === 0 ? error : told(runId, error, attempts);
}

function told(runId: string, error: unknown, attempts: number): unknown {
  if (!(error instanceof RuntimeError)) return error;
  const { code, cause, data, hints } = error;
  const hasFailed = attempts >= mostAttempts;
  // First of all: a line that is cut still says how often.
  const which = hasFailed
    ? `the last of ${mostAttempts} attempts to go on, the run has failed`
    : `attempt ${attempts} of ${mostAttempts} to go on`;
  const shown = hasFailed ? [`reins state show ${runId}`] : hints;
  return new RuntimeError(code, `${which}: ${error.message}`, { cause, data, hints: shown });
}
