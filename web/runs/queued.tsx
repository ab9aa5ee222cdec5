import { Link } from 'wouter';
import type { RunRecord } from '../../src/schema/run-record.ts';
import { useEverywhere } from '../frame/everywhere.ts';
import { queueWords } from './use-run.ts';

/** Why a run has not begun. One that waits for an answer keeps its turn, so the person may be who can make room. */
export function Queued({ run }: { readonly run: RunRecord }) {
  const waiting = useEverywhere().asks.value?.length ?? 0;
  return (
    <>
      {queueWords(run)}: the server has as many runs at work as it may. It begins by itself, and can be stopped.
      {waiting === 0 ? null : (
        <>
          {' '}
          Runs that wait for an answer count, too:{' '}
          <Link href="/approvals">{waiting === 1 ? '1 ask' : `${waiting} asks`}</Link> may hold it up.
        </>
      )}
    </>
  );
}
