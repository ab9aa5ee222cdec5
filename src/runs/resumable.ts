import { existsSync, readFileSync } from 'node:fs';
import { RuntimeError } from '../schema/errors.ts';
import { isDriven, type StoredRun } from '../store/runs.ts';
import { quote } from '../text/quote.ts';
import { sha256Of } from '../workspace/files.ts';

export type ResumableDeps = {
  readonly workspace: string;
  readonly now: () => number;
};

/**
 * Whether a run may go on in this process (03 §11.3): it rests, its workspace is this one, and its chain is the one that
 * it stored, or the operator accepts that the file has changed. The stored text runs in any case.
 * @throws RuntimeError run_not_resumable, not_resumable_here, resume_chain_changed
 */
export function checkResumable(
  deps: ResumableDeps,
  run: StoredRun,
  options: { readonly acceptChangedChain: boolean },
): void {
  if (run.ended_at !== null) {
    throw new RuntimeError('run_not_resumable', `${run.id} has ended: ${run.status}; only a run that rests goes on`, {
      data: { state: 'ended', param: 'ended' },
      hints: [`reins state show ${run.id}`],
    });
  }
  if (isDriven(run, deps.now())) {
    throw alreadyRunning(run.id, run.lease_owner);
  }
  if (run.kind === 'attention') {
    throw new RuntimeError(
      'run_not_resumable',
      `${run.id} was to answer an ask, and nobody hears its answer any more`,
      {
        hints: [`reins state cancel ${run.id}`],
      },
    );
  }
  if (run.workspace !== deps.workspace) {
    const isThere = existsSync(run.workspace);
    const gone = isThere ? '' : ', which is not there any more; it goes on nowhere else';
    throw new RuntimeError('not_resumable_here', `${run.id} belongs to the workspace ${run.workspace}${gone}`, {
      hints: [isThere ? `cd ${quote(run.workspace)}` : `reins state cancel ${run.id}`],
    });
  }
  if (run.chain_path === null || options.acceptChangedChain) return;
  const now = digestOf(run.chain_path);
  if (now === run.chain_sha256) return;
  const there = now === null ? 'it is gone' : `it has sha256 ${now}`;
  throw new RuntimeError(
    'resume_chain_changed',
    `the chain ${run.chain_path} of ${run.id} has changed since it began with sha256 ${run.chain_sha256}: ${there}; ` +
      '--accept-changed-chain goes on with the text that it began with',
    { data: { path: run.chain_path, began_with: run.chain_sha256, now } },
  );
}

/** Another process has the run. @param owner as its lease names it; null when it has been given back again */
export function alreadyRunning(runId: string, owner: string | null): RuntimeError {
  const [, , pid] = (owner ?? '').split(' ');
  const where = pid === undefined ? 'another process' : `process ${pid}`;
  return new RuntimeError('run_not_resumable', `${runId} is already running in ${where}`, {
    data: { state: 'active', owner, param: 'active' },
  });
}

function digestOf(path: string): string | null {
  try {
    return sha256Of(readFileSync(path));
  } catch {
    return null;
  }
}
