import { expect, it } from 'vitest';
import { processOwner } from '../../src/store/owner.ts';
import { createRunLeases } from '../../src/store/run-leases.ts';
import { insertRun } from '../support/run-row.ts';
import { tempHome } from '../support/temp-home.ts';
import { openIn } from './open.ts';

it('takes a lease from an owner who is gone or whose time has passed, not from one who has renewed it since', async () => {
  const temp = tempHome();
  const store = await openIn(temp);
  const leases = createRunLeases(store.sql);
  const alive = processOwner('cli');
  const gone = alive.replace(` ${process.pid} `, ' 4194305 ');
  const taken = (id: string, from: string): boolean => {
    insertRun(store.sql, id);
    leases.openState(id, from, 1000, 0);
    return leases.takeLease(id, { from, to: 'me', until: 16_000 }, 500);
  };
  try {
    expect(taken('run_gone', gone)).toBe(true);
    expect(taken('run_back', alive)).toBe(false);
    expect(leases.holdsLease('run_back', alive)).toBe(true);
    expect(leases.takeLease('run_back', { from: alive, to: 'me', until: 16_000 }, 1000)).toBe(true);
    expect(leases.takeLease('run_back', { from: alive, to: 'another', until: 16_000 }, 1000)).toBe(false);
    leases.releaseLease('run_back');
    expect(leases.takeLease('run_back', { from: null, to: 'me', until: 16_000 }, 500)).toBe(true);
  } finally {
    store.close();
    temp.remove();
  }
});
