import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RuntimeError } from '../../src/schema/errors.ts';
import { keepTrying, unlessLocked } from '../../src/store/keep-trying.ts';
import type { OpenedStore } from '../../src/store/store.ts';
import { type TempHome, tempHome } from '../support/temp-home.ts';
import { databaseIn, openIn } from './open.ts';

let temp: TempHome;
let store: OpenedStore;
/** Another process that holds the lock. */
let other: Sqlite.Database;
beforeEach(async () => {
  temp = tempHome();
  store = await openIn(temp);
  other = new Sqlite(databaseIn(temp));
  other.exec('BEGIN IMMEDIATE');
});
afterEach(() => {
  other.close();
  store.close();
  temp.remove();
});

const write = () => store.sql.write('normal', () => 'written');

it('tries again until the lock of another process is gone', async () => {
  const writing = keepTrying(write, { codes: ['database_busy'] });
  other.exec('COMMIT');
  expect(await writing).toBe('written');
});

it('gives up after its time, and when nobody wants it any more', async () => {
  let time = 0;
  const aged = keepTrying(write, { codes: ['database_busy'], elapsed: () => (time += 31_000) });
  await expect(aged).rejects.toMatchObject({ code: 'database_busy' });
  const unwanted = keepTrying(write, { codes: ['database_busy'], goOn: () => false });
  await expect(unwanted).rejects.toMatchObject({ code: 'database_busy' });
});

it('goes by time that passes, not by a clock that is set ahead meanwhile', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 0 });
  try {
    const locked = (): string => {
      try {
        return write();
      } finally {
        vi.setSystemTime(3_600_000);
        if (other.inTransaction) other.exec('COMMIT');
      }
    };
    expect(await keepTrying(locked, { codes: ['database_busy'] })).toBe('written');
  } finally {
    vi.useRealTimers();
  }
});

it('does without a write behind a lock, and not without one that fails', () => {
  expect(unlessLocked(write)).toBe(undefined);
  other.exec('COMMIT');
  expect(unlessLocked(write)).toBe('written');
  const full = () => {
    throw new RuntimeError('storage', 'full');
  };
  expect(() => unlessLocked(full)).toThrow('full');
});
